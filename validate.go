package hourbell

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell/internal/names"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Limits of values that users give.
const (
	// MaxName is the greatest length of a name in bytes.
	MaxName = 200
	// MaxArgs is the greatest size of a job's arguments in bytes.
	MaxArgs = 1 << 20
	// MaxAttemptsLimit is the greatest number of attempts of a job.
	MaxAttemptsLimit = 1000
	// MaxDuration is the greatest timeout or delay.
	MaxDuration = 100 * 365 * 24 * time.Hour
)

// The range of times that a store can keep: from the year 1 to the end of 9999.
var (
	minTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
)

// shorten cuts a value to a length that fits in a message.
func shorten(value string) string {
	const most = 60
	if len(value) <= most {
		return value
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(value[cut]) {
		cut--
	}
	return value[:cut] + "…"
}

// CheckName reports whether text is valid as the name of a queue, kind,
// schedule, calendar, owner or group: 1–200 bytes of UTF-8, no control
// characters, no space at the ends, and no segment "." or ".." between slashes
// or backslashes, because names are used in addresses. field is the name of the
// field in the message. The error is a *[FieldError]. Names of locks follow the
// same rules.
func CheckName(field, text string) error { return nameError(field, text, names.Fault) }

// CheckStoredName is CheckName for a name that is looked up. It also accepts
// segments "." and "..", so that rows that were stored under such a name can be
// listed and deleted.
func CheckStoredName(field, text string) error { return nameError(field, text, names.StoredFault) }

func nameError(field, text string, fault func(text string) (problem, remedy string)) error {
	if problem, remedy := fault(text); problem != "" {
		return &FieldError{Field: field, Value: shorten(text), Problem: problem, Remedy: remedy}
	}
	return nil
}

// CheckArgs reports whether text is valid as a job's arguments: JSON of at most
// 1 MiB.
func CheckArgs(text []byte) error { return checkArgsOf("args", text) }

func checkArgsOf(field string, text []byte) error {
	if err := checkArgsText(field, text); err != nil {
		return err
	}
	if json.Valid(text) {
		return nil
	}
	var value json.RawMessage
	return badArgs(field, text, fmt.Sprintf("are not valid JSON: %v", json.Unmarshal(text, &value)), "write one JSON value, for example {\"name\":\"Ada\"}")
}

// checkArgsText is the part of checkArgsOf that JSON made by json.Marshal needs
// too: such JSON is valid, but a type's own MarshalJSON may include any bytes.
func checkArgsText(field string, text []byte) error {
	switch {
	case len(text) > MaxArgs:
		return badArgs(field, text, fmt.Sprintf("are %d bytes long", len(text)), fmt.Sprintf("keep them within %d bytes and pass a reference to larger data", MaxArgs))
	case !utf8.Valid(text):
		return badArgs(field, text, "are not valid UTF-8", "JSON is written in UTF-8")
	}
	return nil
}

func badArgs(field string, text []byte, problem, remedy string) error {
	return &FieldError{Field: field, Value: shorten(string(text)), Problem: problem, Remedy: remedy}
}

func checkPriority(priority int) error {
	if priority < store.FirstPriority || priority > store.LastPriority {
		return &FieldError{
			Field: "priority", Value: fmt.Sprint(priority), Problem: "is out of range",
			Remedy: fmt.Sprintf("use %d (first) to %d (last)", store.FirstPriority, store.LastPriority),
		}
	}
	return nil
}

func checkMaxAttempts(attempts int) error {
	if attempts < 1 || attempts > MaxAttemptsLimit {
		return &FieldError{
			Field: "max_attempts", Value: fmt.Sprint(attempts), Problem: "is out of range",
			Remedy: fmt.Sprintf("use 1 to %d", MaxAttemptsLimit),
		}
	}
	return nil
}

func checkDuration(field string, d time.Duration) error {
	if d < 0 || d > MaxDuration {
		return &FieldError{Field: field, Value: d.String(), Problem: "is out of range", Remedy: "use a duration from 0 to 100 years"}
	}
	return nil
}

func checkTime(field string, t time.Time) error {
	if !t.IsZero() && (t.Before(minTime) || t.After(maxTime)) {
		return &FieldError{Field: field, Value: shorten(t.String()), Problem: "is out of range", Remedy: "use a year from 1 to 9999"}
	}
	return nil
}

func checkOnLoss(choice OnLoss) error {
	if choice != RetryOnLoss && choice != FailOnLoss {
		return &FieldError{Field: "on_loss", Value: fmt.Sprint(int(choice)), Problem: "is unknown", Remedy: "use retry or fail"}
	}
	return nil
}

// Validate returns everything that is wrong with the schedule, each as a
// *FieldError or *recur.Error, joined by errors.Join, or nil.
func (s Schedule) Validate() error {
	_, err := s.encode()
	return err
}

// encode validates the schedule and returns the definition that the store keeps.
func (s Schedule) encode() (plan.Definition, error) {
	s = s.withDefaults()
	job, jobErr := s.encodeJob()
	hooks, hooksErr := s.Hooks.encode()
	errs := []error{
		CheckName("name", s.Name),
		s.Rule.Validate(),
		jobErr,
		CheckName("queue", s.Queue),
		checkPriority(s.Priority),
		checkMaxAttempts(s.MaxAttempts),
		checkOnLoss(s.OnLoss),
		checkDuration("timeout", s.Timeout),
		hooksErr,
	}
	if s.Owner != "" {
		errs = append(errs, CheckName("owner", s.Owner))
	}
	if s.Group != "" {
		errs = append(errs, CheckName("group", s.Group))
	}
	if err := errors.Join(append(errs, s.checkPolicies()...)...); err != nil {
		return plan.Definition{}, err
	}
	return s.definition(job, hooks), nil
}

func (s Schedule) encodeJob() (RawArgs, error) {
	if s.Job == nil {
		return RawArgs{}, &FieldError{Field: "job", Problem: "is nil", Remedy: "pass a value with a Kind method"}
	}
	return encodeArgs("", s.Job)
}

// The greatest values of policies.
const (
	maxMisfireCap = 1000
	maxFailures   = 1000
)

// checkPolicies returns what is wrong with the policies of the schedule.
func (s Schedule) checkPolicies() []error {
	errs := []error{
		checkOverlap("overlap", s.Overlap),
		between("grace", s.Grace, 0, MaxGrace),
		checkDuration("window", s.Window),
		between("jitter", s.Jitter, 0, MaxJitter),
		checkCount("misfire_cap", int64(s.MisfireCap), maxMisfireCap),
		checkCount("count", s.Count, math.MaxInt64),
		checkCount("pause_after_failures", int64(s.PauseAfterFailures), maxFailures),
	}
	errs = append(errs, checkCalendars(s.Exclude)...)
	switch s.Misfire {
	case MisfireSkip, MisfireOnce, MisfireAll:
	default:
		errs = append(errs, &FieldError{Field: "misfire", Value: shorten(string(s.Misfire)), Problem: "is unknown", Remedy: "use skip, once or all"})
	}
	if s.MisfireCap != 0 && s.Misfire != MisfireAll {
		errs = append(errs, &FieldError{Field: "misfire_cap", Value: fmt.Sprint(s.MisfireCap), Problem: "bounds misfire all, which is not given", Remedy: "leave it out, or choose misfire all"})
	}
	if s.Window != 0 && s.Misfire == MisfireSkip {
		errs = append(errs, &FieldError{Field: "window", Value: s.Window.String(), Problem: "bounds what misfire makes up for, which is nothing", Remedy: "leave it out, or choose misfire once or all"})
	}
	return errs
}

const maxCalendars = 10

func checkCalendars(calendars []Calendar) (errs []error) {
	if len(calendars) > maxCalendars {
		errs = append(errs, &FieldError{Field: "exclude", Problem: fmt.Sprintf("has %d calendars", len(calendars)), Remedy: fmt.Sprintf("use at most %d", maxCalendars)})
	}
	seen := map[string]bool{}
	for _, c := range calendars {
		errs = append(errs, CheckName("exclude", c.Name))
		if seen[c.Name] {
			errs = append(errs, &FieldError{Field: "exclude", Value: shorten(c.Name), Problem: "is given twice", Remedy: "give each calendar a name of its own"})
		}
		seen[c.Name] = true
		if err := c.Validate(); err != nil {
			errs = append(errs, &FieldError{Field: "exclude", Value: shorten(c.Name), Problem: "cannot be used: " + err.Error()})
		}
	}
	return errs
}

func checkOverlap(field string, overlap Overlap) error {
	switch overlap {
	case OverlapSkip, OverlapAllow, OverlapQueue, OverlapReplace:
		return nil
	}
	return &FieldError{Field: field, Value: shorten(string(overlap)), Problem: "is unknown", Remedy: "use skip, queue, allow or replace"}
}

// checkCount allows 0, which means the default.
func checkCount(field string, n, most int64) error {
	if n < 0 || n > most {
		return &FieldError{Field: field, Value: fmt.Sprint(n), Problem: "is out of range", Remedy: fmt.Sprintf("use 1 to %d, or 0 for the default", most)}
	}
	return nil
}
