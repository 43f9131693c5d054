package declared

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

// Key is a key of a schedule whose value is one text. Schedule files and the
// #hourbell: comments of crontabs take the same keys, defined in the table
// below.
type Key struct {
	Name string
	// About describes what the key means, with its default: a sentence without its full stop.
	About string
	// Remedy describes how a value is written.
	Remedy string
	// Form is the form of a value.
	Form Form

	set func(s *hourbell.Schedule, text string) (problem, remedy string)
	// write returns the value of a schedule as a text that set reads, or "" for
	// the default.
	write func(s hourbell.Schedule) string
	clear func(s *hourbell.Schedule)
	// option returns the schedule's value as an option of a job; nil: jobs have no such key.
	option func(s hourbell.Schedule) hourbell.Option
}

// Clear sets the schedule's field to the key's default.
func (k Key) Clear(s *hourbell.Schedule) { k.clear(s) }

// Option returns the key's value of a schedule as an option of a job. The key is one of JobKeys.
func (k Key) Option(s hourbell.Schedule) hourbell.Option { return k.option(s) }

// Text returns the key's value of a schedule as Set reads it; "" is the
// default, which files leave out.
func (k Key) Text(s hourbell.Schedule) string { return k.write(s) }

// Bare reports whether the value is a number or a truth value, which YAML writes without quotes.
func (k Key) Bare() bool { return k.Form.Type == IsNumber || k.Form.Type == IsTruth }

// Form is the form of the value of a Key.
type Form struct {
	Type        Type
	Least, Most int64    // of a number
	Words       []string // of a choice, and besides a duration
}

// Type is the type of the value of a Key.
type Type int

// The types of values.
const (
	IsText Type = iota
	IsNumber
	IsTruth
	IsDuration
	IsChoice
)

// Set reads a value into the schedule. hourbell.Schedule.Validate checks
// whether it fits the schedule's other fields. The error is a
// *check.FieldError, and then the schedule is unchanged.
func (k Key) Set(s *hourbell.Schedule, text string) error {
	problem, remedy := k.set(s, text)
	if problem == "" {
		return nil
	}
	return &check.FieldError{Field: k.Name, Problem: problem, Remedy: remedy}
}

var scheduleKeys = []Key{
	name("queue", "The queue of the jobs; default: default", func(s *hourbell.Schedule) *string { return &s.Queue }).
		ofJob(func(s hourbell.Schedule) hourbell.Option { return hourbell.Queue(s.Queue) }),
	number("priority", "The priority of the jobs, 1 is first; default 5", 1, 9, func(s *hourbell.Schedule) *int { return &s.Priority }).
		ofJob(func(s hourbell.Schedule) hourbell.Option { return hourbell.Priority(s.Priority) }),
	number("max_attempts", "How often a job is tried; default 25", 1, hourbell.MaxAttemptsLimit, func(s *hourbell.Schedule) *int { return &s.MaxAttempts }).
		ofJob(func(s hourbell.Schedule) hourbell.Option { return hourbell.MaxAttempts(s.MaxAttempts) }),
	choice("on_loss", "What becomes of a job whose node died while it ran: retry runs it again, fail never starts it twice; default retry",
		[]string{"retry", "fail"}, func(s *hourbell.Schedule) *store.OnLoss { return &s.OnLoss }, hourbell.RetryOnLoss, hourbell.FailOnLoss).
		ofJob(func(s hourbell.Schedule) hourbell.Option { return hourbell.OnLoss(s.OnLoss) }),
	timeout("timeout", "How long an attempt may take, or none; default 1h for commands, HTTP calls and SQL statements",
		func(s *hourbell.Schedule) *time.Duration { return &s.Timeout }).
		ofJob(func(s hourbell.Schedule) hourbell.Option { return hourbell.Timeout(s.Timeout) }),
	name("backoff", "The delays between attempts, such as linear:10s:1h; default the fourth power of the attempt in "+
		"seconds, at most 24h", func(s *hourbell.Schedule) *string { return &s.Backoff }).
		ofJob(func(s hourbell.Schedule) hourbell.Option { return hourbell.Backoff(s.Backoff) }),
	name("group", "The group of the schedule and its jobs", func(s *hourbell.Schedule) *string { return &s.Group }).
		ofJob(func(s hourbell.Schedule) hourbell.Option { return hourbell.Group(s.Group) }),
	name("key", "The key of the jobs: what they are for, such as a customer", func(s *hourbell.Schedule) *string { return &s.Key }).
		ofJob(func(s hourbell.Schedule) hourbell.Option { return hourbell.Key(s.Key) }),
	truth("paused", "Whether the schedule is put paused; default false", func(s *hourbell.Schedule) *bool { return &s.Paused }),
	// A schedule with after allows overlaps unless skip is written, so that skip is not the zero value.
	choice("overlap", "What a slot does while a job of the schedule runs, or is due and has not started; default skip, "+
		"with after allow", []string{"skip", "queue", "allow", "replace"},
		func(s *hourbell.Schedule) *hourbell.Overlap { return &s.Overlap }, hourbell.Overlap("skip"), hourbell.OverlapQueue,
		hourbell.OverlapAllow, hourbell.OverlapReplace),
	choice("misfire", "What becomes of a slot that is found later than the grace: skip misses it, once makes up for the newest, all for all; default skip",
		[]string{"skip", "once", "all"}, func(s *hourbell.Schedule) *hourbell.Misfire { return &s.Misfire },
		hourbell.MisfireSkip, hourbell.MisfireOnce, hourbell.MisfireAll),
	number("misfire_cap", "How many slots misfire: all makes up for; default 100", 1, 1000, func(s *hourbell.Schedule) *int { return &s.MisfireCap }),
	duration("grace", "How late a slot may be found and still be on time; default 1m, at most 24h", func(s *hourbell.Schedule) *time.Duration { return &s.Grace }),
	duration("window", "The age up to which misfire makes up for slots; default any", func(s *hourbell.Schedule) *time.Duration { return &s.Window }),
	number("count", "How many slots fire before the schedule ends; default no end", 1, math.MaxInt64, func(s *hourbell.Schedule) *int64 { return &s.Count }),
	duration("jitter", "Each job starts at a random instant up to this long after its slot; default none, at most 24h",
		func(s *hourbell.Schedule) *time.Duration { return &s.Jitter }),
	place,
	number("pause_after_failures", "After this many failed jobs in a row the schedule is paused; default never", 1, 1000,
		func(s *hourbell.Schedule) *int { return &s.PauseAfterFailures }),
	name("start", "The first instant, from which intervals count; default when the schedule was first put",
		func(s *hourbell.Schedule) *string { return &s.Rule.Start }),
	name("stop", "The last instant; default none", func(s *hourbell.Schedule) *string { return &s.Rule.Stop }),
	name("gap", "What a fixed time does that a clock change leaves out: shift or skip; default as the dialect, or shift",
		func(s *hourbell.Schedule) *string { return &s.Rule.Gap }),
	name("fold", "What a fixed time does that a clock change repeats: first, last or both; default as the dialect, or "+
		"first", func(s *hourbell.Schedule) *string { return &s.Rule.Fold }),
	name("dialect", "The scheduler whose rule cron is: quartz, spring, kubernetes, eventbridge or systemd; default cron's "+
		"own", func(s *hourbell.Schedule) *string { return &s.Rule.Dialect }),
	exclude,
}

// ExcludeKey is the name of the key whose value can also be a list of texts in
// a schedule file, and whose flag can be repeated.
const ExcludeKey = "exclude"

// exclude is the key ExcludeKey, with its value as one text.
var exclude = Key{
	Name: ExcludeKey, About: "The slots that do not fire: dates, days of the week, rules, and names of calendars of this file or of the store",
	Remedy: "write dates, days of the week, rules or names of calendars",
	set: func(s *hourbell.Schedule, text string) (problem, remedy string) {
		calendars, err := hourbell.ParseExclude(text)
		for _, f := range Fields(err) {
			return fmt.Sprintf("%q %s", Label(text, 60), f.Problem), f.Remedy
		}
		s.Exclude = calendars
		return "", ""
	},
	write: func(s hourbell.Schedule) string {
		texts, _ := hourbell.ExcludeTexts(s.Exclude)
		return strings.Join(texts, " | ")
	},
	clear: func(s *hourbell.Schedule) { s.Exclude = nil },
}

// PlaceKey is the name of the key whose value can also be a mapping in a schedule file.
const PlaceKey = "on"

// place is the key PlaceKey, with its value as one text.
var place = keyOf(PlaceKey, "Where the jobs run: one (any node; the default), every (each host), a host, a node with a label, or each host with a label",
	"write one, every, host=NAME, label=KEY=VALUE or every:label=KEY=VALUE", Form{}, func(s *hourbell.Schedule) *hourbell.Place { return &s.On },
	func(text string) (hourbell.Place, string) {
		on, err := hourbell.ParsePlace(text)
		for _, f := range Fields(err) {
			return on, fmt.Sprintf("%q %s", Label(text, 60), f.Problem)
		}
		return on, ""
	}, hourbell.Place.String)

// Keys are the keys of a schedule that schedule files and crontabs share. The
// rule, the command, the name and the hooks are not among them.
func Keys() []Key { return scheduleKeys }

// KeyNames returns the names of Keys.
func KeyNames() []string { return NamesOf(scheduleKeys) }

// NamesOf returns the names of keys.
func NamesOf(keys []Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}

// SlotKeys returns the names of the keys that apply to slots only. Entries that
// have no slots, such as @reboot lines, cannot have these keys.
func SlotKeys() []string {
	names := KeyNames()
	return names[slices.Index(names, "overlap"):]
}

// PolicyKeys returns the Keys that are policies of a schedule: how its slots fire.
func PolicyKeys() []Key {
	names := KeyNames()
	return scheduleKeys[slices.Index(names, "overlap") : slices.Index(names, "pause_after_failures")+1]
}

// JobKeys returns the Keys that a job has, too, which no schedule makes.
func JobKeys() []Key {
	return slices.DeleteFunc(slices.Clone(scheduleKeys), func(k Key) bool { return k.option == nil })
}

// FindKey returns the key of that name.
func FindKey(name string) (Key, bool) {
	i := slices.IndexFunc(scheduleKeys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return scheduleKeys[i], true
}

// How values are written.

// keyOf makes a key for a field.
func keyOf[T comparable](name, about, remedy string, form Form, field func(*hourbell.Schedule) *T,
	read func(text string) (T, string), write func(T) string,
) Key {
	return Key{
		Name: name, About: about, Remedy: remedy, Form: form,
		set: func(s *hourbell.Schedule, text string) (string, string) {
			value, problem := read(text)
			if problem == "" {
				*field(s) = value
			}
			return problem, remedy
		},
		write: func(s hourbell.Schedule) string {
			var zero T
			if value := *field(&s); value != zero {
				return write(value)
			}
			return ""
		},
		clear: func(s *hourbell.Schedule) {
			var zero T
			*field(s) = zero
		},
	}
}

// ofJob makes the key a key of jobs, too.
func (k Key) ofJob(option func(s hourbell.Schedule) hourbell.Option) Key {
	k.option = option
	return k
}

func name(key, about string, field func(*hourbell.Schedule) *string) Key {
	const remedy = "write a value, or leave the key out"
	return keyOf(key, about, remedy, Form{}, field, func(text string) (string, string) {
		if text == "" {
			return "", "is empty"
		}
		return text, ""
	}, func(text string) string { return text })
}

func number[T int | int64](key, about string, least, most int64, field func(*hourbell.Schedule) *T) Key {
	return keyOf(key, about, NumberRemedy(least, most), Form{Type: IsNumber, Least: least, Most: most}, field, func(text string) (T, string) {
		n, ok := Number(text, least, most)
		if !ok {
			return 0, fmt.Sprintf("%q is not a number in the allowed range", Label(text, 60))
		}
		return T(n), ""
	}, func(n T) string { return strconv.FormatInt(int64(n), 10) })
}

func duration(key, about string, field func(*hourbell.Schedule) *time.Duration) Key {
	const remedy = "write a number with its unit, like 90s, 15m or 1h30m"
	return keyOf(key, about, remedy, Form{Type: IsDuration}, field, func(text string) (time.Duration, string) {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return 0, fmt.Sprintf("%q is not a positive duration", Label(text, 60))
		}
		return d, ""
	}, durationText)
}

// NoTimeout is how a timeout of hourbell.MaxDuration is written: no limit.
const NoTimeout = "none"

// Timeout reads a timeout: a positive duration, or NoTimeout.
func Timeout(text string) (time.Duration, bool) {
	if text == NoTimeout {
		return hourbell.MaxDuration, true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0
}

// TimeoutText writes a timeout as Timeout reads it.
func TimeoutText(d time.Duration) string {
	if d >= hourbell.MaxDuration {
		return NoTimeout
	}
	return durationText(d)
}

func timeout(key, about string, field func(*hourbell.Schedule) *time.Duration) Key {
	const remedy = "write a number with its unit, like 90s, 15m or 1h30m, or none for no limit"
	return keyOf(key, about, remedy, Form{Type: IsDuration, Words: []string{NoTimeout}}, field, func(text string) (time.Duration, string) {
		d, ok := Timeout(text)
		if !ok {
			return 0, fmt.Sprintf("%q is not a positive duration", Label(text, 60))
		}
		return d, ""
	}, TimeoutText)
}

// durationText leaves out units that are zero: 2h and not 2h0m0s.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func truth(key, about string, field func(*hourbell.Schedule) *bool) Key {
	const remedy = "write true or false, without quotes"
	return keyOf(key, about, remedy, Form{Type: IsTruth}, field, func(text string) (bool, string) {
		switch text {
		case "true", "True", "TRUE":
			return true, ""
		case "false", "False", "FALSE":
			return false, ""
		}
		return false, "is neither true nor false"
	}, strconv.FormatBool)
}

func choice[T comparable](key, about string, words []string, field func(*hourbell.Schedule) *T, values ...T) Key {
	last := len(words) - 1
	remedy := "use " + strings.Join(words[:last], ", ") + " or " + words[last]
	return keyOf(key, about, remedy, Form{Type: IsChoice, Words: words}, field, func(text string) (value T, problem string) {
		i := slices.Index(words, text)
		if i < 0 {
			return value, fmt.Sprintf("%q is unknown%s", Label(text, 60), Suggest(text, words))
		}
		return values[i], ""
	}, func(value T) string { return words[slices.Index(values, value)] })
}

// Number reads a whole number between least and most, in digits and without
// leading zeros.
func Number(text string, least, most int64) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most || strconv.FormatInt(n, 10) != text {
		return 0, false
	}
	return n, true
}

// NumberRemedy describes how such a number is written.
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
