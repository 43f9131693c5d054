package hourbell

import (
	"fmt"
	"math"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/backoff"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Limits of values that users give.
const (
	// MaxAttemptsLimit is the greatest number of attempts of a job.
	MaxAttemptsLimit = 1000
	// MaxDuration is the greatest timeout or delay.
	MaxDuration = 100 * 365 * 24 * time.Hour
	// MaxGrace and MaxJitter are the greatest values of these fields of a
	// Schedule.
	MaxGrace  = 24 * time.Hour
	MaxJitter = 24 * time.Hour
	// MaxBackfill is the greatest number of slots of a backfill.
	MaxBackfill = 10_000
)

// The range of times that a store can keep: from the year 1 to the end of 9999.
var (
	minTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
)

func checkPriority(priority int) error {
	if priority < store.FirstPriority || priority > store.LastPriority {
		return &check.FieldError{
			Field: "priority", Value: fmt.Sprint(priority), Problem: "is out of range",
			Remedy: fmt.Sprintf("use %d (first) to %d (last)", store.FirstPriority, store.LastPriority),
		}
	}
	return nil
}

func checkMaxAttempts(attempts int) error {
	if attempts < 1 || attempts > MaxAttemptsLimit {
		return &check.FieldError{
			Field: "max_attempts", Value: fmt.Sprint(attempts), Problem: "is out of range",
			Remedy: fmt.Sprintf("use 1 to %d", MaxAttemptsLimit),
		}
	}
	return nil
}

func checkDuration(field string, d time.Duration) error {
	if d < 0 || d > MaxDuration {
		return &check.FieldError{Field: field, Value: d.String(), Problem: "is out of range", Remedy: "use a duration from 0 to 100 years"}
	}
	return nil
}

// checkBackoff allows an empty back-off, which means the worker's own.
func checkBackoff(policy string) error {
	if policy == "" {
		return nil
	}
	_, err := backoff.Parse(policy)
	return err
}

func checkTime(field string, t time.Time) error {
	if !t.IsZero() && (t.Before(minTime) || t.After(maxTime)) {
		return &check.FieldError{Field: field, Value: check.Shorten(t.String()), Problem: "is out of range", Remedy: "use a year from 1 to 9999"}
	}
	return nil
}

func checkOnLoss(choice store.OnLoss) error {
	if choice != RetryOnLoss && choice != FailOnLoss {
		return &check.FieldError{Field: "on_loss", Value: fmt.Sprint(int(choice)), Problem: "is unknown", Remedy: "use retry or fail"}
	}
	return nil
}

// checkSpec returns everything that is wrong with a job except its headers.
func checkSpec(s *store.JobSpec) error {
	errs := []error{
		check.Name("kind", s.Kind), check.Args("args", s.Args), check.Name("queue", s.Queue),
		checkPriority(int(s.Priority)), checkMaxAttempts(int(s.MaxAttempts)), checkOnLoss(s.OnLoss), checkDuration("timeout", s.Timeout),
		checkIfGivenName("group", s.Group), checkIfGivenName("key", s.Key),
	}
	if s.Unique != "" {
		errs = append(errs, check.StoredName("unique", s.Unique))
	}
	return check.Join(errs...)
}

// Validate returns everything that is wrong with the schedule, each as a
// *check.FieldError or *recur.Error, joined by errors.Join, or nil.
func (s Schedule) Validate() error {
	_, err := s.encode()
	return err
}

// encode validates the schedule and returns the definition that the store
// keeps.
func (s Schedule) encode() (plan.Definition, error) {
	s, kindErr := s.withKind()
	s = s.withDefaults()
	job, jobErr := s.encodeJob()
	hooks, hooksErr := s.Hooks.encode()
	errs := []error{
		check.Name("name", s.Name),
		check.Join(s.checkWhen()...),
		jobErr,
		kindErr,
		check.Name("queue", s.Queue),
		s.checkOn(),
		checkPriority(s.Priority),
		checkMaxAttempts(s.MaxAttempts),
		checkOnLoss(s.OnLoss),
		checkDuration("timeout", s.Timeout),
		checkBackoff(s.Backoff),
		hooksErr,
	}
	if s.Owner != "" {
		errs = append(errs, checkOwner(s.Owner))
	}
	if s.Key != "" {
		errs = append(errs, check.Name("key", s.Key))
	}
	if s.Group != "" {
		errs = append(errs, check.Name("group", s.Group))
	}
	if err := check.Join(append(errs, s.checkPolicies()...)...); err != nil {
		return plan.Definition{}, err
	}
	return s.definition(job, hooks), nil
}

func (s Schedule) encodeJob() (RawArgs, error) {
	if s.Job == nil {
		return RawArgs{}, &check.FieldError{Field: "job", Problem: "is nil", Remedy: "pass a value with a Kind method"}
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
		checkOverlap("overlap", orSkip(s.Overlap)),
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
		errs = append(errs, &check.FieldError{Field: "misfire", Value: check.Shorten(string(s.Misfire)), Problem: "is unknown", Remedy: "use skip, once or all"})
	}
	if s.MisfireCap != 0 && s.Misfire != MisfireAll {
		errs = append(errs, &check.FieldError{
			Field: "misfire_cap", Value: fmt.Sprint(s.MisfireCap),
			Problem: "bounds misfire all, which is not given", Remedy: "leave it out, or choose misfire all",
		})
	}
	if s.Window != 0 && s.Misfire == MisfireSkip {
		errs = append(errs, &check.FieldError{
			Field: "window", Value: s.Window.String(),
			Problem: "bounds what misfire makes up for, which is nothing", Remedy: "leave it out, or choose misfire once or all",
		})
	}
	return errs
}

const maxCalendars = 10

func checkCalendars(calendars []Calendar) (errs []error) {
	if len(calendars) > maxCalendars {
		errs = append(errs, &check.FieldError{
			Field: "exclude", Problem: fmt.Sprintf("has %d calendars", len(calendars)),
			Remedy: fmt.Sprintf("use at most %d", maxCalendars),
		})
	}
	seen := map[string]bool{}
	for _, c := range calendars {
		errs = append(errs, check.Name("exclude", c.Name))
		if seen[c.Name] {
			errs = append(errs, &check.FieldError{
				Field: "exclude", Value: check.Shorten(c.Name), Problem: "is given twice",
				Remedy: "give each calendar a name of its own",
			})
		}
		seen[c.Name] = true
		if err := c.CalendarSpec.Validate(); err != nil {
			errs = append(errs, &check.FieldError{Field: "exclude", Value: check.Shorten(c.Name), Problem: "cannot be used: " + err.Error()})
		}
	}
	return errs
}

func checkOverlap(field string, overlap Overlap) error {
	switch overlap {
	case OverlapSkip, OverlapAllow, OverlapQueue, OverlapReplace:
		return nil
	}
	return &check.FieldError{Field: field, Value: check.Shorten(string(overlap)), Problem: "is unknown", Remedy: "use skip, queue, allow or replace"}
}

// checkCount allows 0, which means the default.
func checkCount(field string, n, most int64) error {
	if n < 0 || n > most {
		return &check.FieldError{Field: field, Value: fmt.Sprint(n), Problem: "is out of range", Remedy: fmt.Sprintf("use 1 to %d, or 0 for the default", most)}
	}
	return nil
}
