package declared

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/kinds"
)

// Key is a key of a schedule whose value is one text. Schedule files and the
// #hourbell: comments of crontabs take the same ones, by the table below.
type Key struct {
	Name string
	// Remedy says how a value is written.
	Remedy string
	// Bare says that the value is a number or a truth value, which YAML writes
	// without quotes.
	Bare bool

	set func(s *hourbell.Schedule, text string) (problem, remedy string)
}

// Set reads a value into the schedule. Whether it fits the schedule's other
// fields is for hourbell.Schedule.Validate. The error is a
// *hourbell.FieldError, and then the schedule is as it was.
func (k Key) Set(s *hourbell.Schedule, text string) error {
	problem, remedy := k.set(s, text)
	if problem == "" {
		return nil
	}
	return &hourbell.FieldError{Field: k.Name, Problem: problem, Remedy: remedy}
}

var scheduleKeys = []Key{
	name("queue", func(s *hourbell.Schedule) *string { return &s.Queue }),
	number("priority", 1, 9, func(s *hourbell.Schedule) *int { return &s.Priority }),
	number("max_attempts", 1, hourbell.MaxAttemptsLimit, func(s *hourbell.Schedule) *int { return &s.MaxAttempts }),
	choice("on_loss", []string{"retry", "fail"}, func(s *hourbell.Schedule, i int) {
		s.OnLoss = []hourbell.OnLoss{hourbell.RetryOnLoss, hourbell.FailOnLoss}[i]
	}),
	duration("timeout", func(s *hourbell.Schedule) *time.Duration { return &s.Timeout }),
	name("group", func(s *hourbell.Schedule) *string { return &s.Group }),
	truth("paused", func(s *hourbell.Schedule) *bool { return &s.Paused }),
	choice("overlap", []string{"skip", "allow"}, func(s *hourbell.Schedule, i int) {
		s.Overlap = []hourbell.Overlap{hourbell.OverlapSkip, hourbell.OverlapAllow}[i]
	}),
}

// Keys are the keys of a schedule that schedule files and crontabs share. The
// rule, the command, the name and the hooks are not among them.
func Keys() []Key { return scheduleKeys }

// KeyNames are the names of Keys.
func KeyNames() []string {
	names := make([]string, len(scheduleKeys))
	for i, k := range scheduleKeys {
		names[i] = k.Name
	}
	return names
}

// FindKey returns the key of that name.
func FindKey(name string) (Key, bool) {
	i := slices.IndexFunc(scheduleKeys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return scheduleKeys[i], true
}

// The forms of values.

func name(key string, field func(*hourbell.Schedule) *string) Key {
	return Key{key, "write a text", false, func(s *hourbell.Schedule, text string) (string, string) {
		if text == "" {
			return "is empty", "write a value, or leave the key out"
		}
		*field(s) = text
		return "", ""
	}}
}

func number(key string, least, most int64, field func(*hourbell.Schedule) *int) Key {
	remedy := NumberRemedy(least, most)
	return Key{key, remedy, true, func(s *hourbell.Schedule, text string) (string, string) {
		n, ok := Number(text, least, most)
		if !ok {
			return fmt.Sprintf("%q is not a number of this range", Label(text, 60)), remedy
		}
		*field(s) = int(n)
		return "", ""
	}}
}

func duration(key string, field func(*hourbell.Schedule) *time.Duration) Key {
	const remedy = "write a number with its unit, like 90s, 15m or 1h30m"
	return Key{key, remedy, false, func(s *hourbell.Schedule, text string) (string, string) {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return fmt.Sprintf("%q is not a positive duration", Label(text, 60)), remedy
		}
		*field(s) = d
		return "", ""
	}}
}

func truth(key string, field func(*hourbell.Schedule) *bool) Key {
	const remedy = "write true or false, without quotes"
	return Key{key, remedy, true, func(s *hourbell.Schedule, text string) (string, string) {
		switch text {
		case "true", "True", "TRUE":
			*field(s) = true
		case "false", "False", "FALSE":
			*field(s) = false
		default:
			return "is neither true nor false", remedy
		}
		return "", ""
	}}
}

func choice(key string, choices []string, set func(*hourbell.Schedule, int)) Key {
	remedy := "use " + strings.Join(choices, " or ")
	return Key{key, remedy, false, func(s *hourbell.Schedule, text string) (string, string) {
		i := slices.Index(choices, text)
		if i < 0 {
			return fmt.Sprintf("%q is unknown%s", Label(text, 60), Suggest(text, choices)), remedy
		}
		set(s, i)
		return "", ""
	}}
}

// Number reads a whole number from least to most, in digits and without zeros
// before them.
func Number(text string, least, most int64) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most || strconv.FormatInt(n, 10) != text {
		return 0, false
	}
	return n, true
}

// NumberRemedy says how such a number is written.
func NumberRemedy(least, most int64) string {
	return fmt.Sprintf("write a whole number from %d to %d, without quotes", least, most)
}

// ParseDetached reads the key detached of a command: end or keep. ok is false
// for anything else.
func ParseDetached(text string) (d kinds.Detached, ok bool) {
	switch text {
	case "end":
		return kinds.EndDetached, true
	case "keep":
		return kinds.KeepDetached, true
	}
	return "", false
}

// ParseBase reads the key base of a command: node or cron. ok is false for
// anything else.
func ParseBase(text string) (b kinds.Base, ok bool) {
	switch text {
	case "node":
		return kinds.BaseNode, true
	case "cron":
		return kinds.BaseCron, true
	}
	return "", false
}
