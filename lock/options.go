package lock

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
)

// Options describe how a lock is taken. The zero value keeps the lock alive for
// at most an hour and does not wait.
type Options struct {
	// AtMost is a hard bound on how long the lock is held, from the grant.
	// Shortly before this time, by a tenth or 3 s, the context ends with
	// ErrAtMost; at this time the lock is free, even if the work hangs. Default
	// 1 h, from MinAtMost to MaxAtMost. [Lock.Extend] gives work more time.
	AtMost time.Duration

	// AtLeast is how long the lock stays held from the grant, even if the work
	// ends sooner, so that a short task does not run twice on servers whose
	// clocks differ. Default 0, at most AtMost.
	AtLeast time.Duration

	// Wait is how long Lock and Do wait for another holder. Do without it tries
	// once. At most MaxAtMost. A caller that waits tries again after 20 ms,
	// then after longer pauses, up to about one second. A release in this
	// Locker, or in any process where the provider is a [Notifier], ends the
	// pause.
	Wait time.Duration

	// Every grants the lock once per interval. A slot is granted only if it was
	// not granted yet and a quarter of the interval has passed since the last
	// grant; the slot is the latest instant of the grid that is at most a
	// quarter of the interval ahead. The first grant anchors the grid, which
	// stays until the duration changes. The grant uses up the slot, even if the
	// work fails or its node dies. From MinEvery to MaxAtMost. All nodes must
	// use the same duration, because alternating durations begin a new grid
	// each time. 0: no such condition.
	Every time.Duration

	// Cron is Every with the instants of a rule as the grid. The intervals may
	// have different lengths: for a slot, the interval that ends with it is
	// used. So the first slot after a long pause, such as a night or a weekend,
	// is granted to the first caller in the last quarter of the pause. Only one
	// of Every and Cron may be given.
	Cron Rule

	// NoKeepAlive holds the lock for the whole of AtMost at once instead of
	// renewing a short lease. The store then has no renewals to write, but a
	// dead holder blocks other callers for that time.
	NoKeepAlive bool
}

// Limits and defaults of the options.
const (
	MinAtMost     = 100 * time.Millisecond
	MaxAtMost     = 10 * 365 * 24 * time.Hour
	MinEvery      = 100 * time.Millisecond
	DefaultAtMost = time.Hour
)

// withDefaults sets the defaults, in whole milliseconds, which is the precision
// of stores.
func (o Options) withDefaults() Options {
	if o.AtMost == 0 {
		o.AtMost = max(DefaultAtMost, min(o.AtLeast, MaxAtMost))
	}
	o.AtMost = o.AtMost.Truncate(time.Millisecond)
	o.AtLeast = ceilDuration(o.AtLeast)
	return o
}

// ceilDuration rounds up to whole milliseconds.
func ceilDuration(d time.Duration) time.Duration {
	if whole := d.Truncate(time.Millisecond); whole < d {
		return whole + time.Millisecond
	}
	return d
}

// Validate returns all mistakes, each as a *[check.FieldError], joined by
// errors.Join, or nil.
func (o Options) Validate() error {
	o = o.withDefaults()
	return check.Join(
		checkAtMost(o.AtMost),
		checkRange("at-least", o.AtLeast, 0, MaxAtMost),
		checkAtLeast(o.AtLeast, o.AtMost),
		checkRange("wait", o.Wait, 0, MaxAtMost),
		o.checkEvery(),
	)
}

func checkAtMost(d time.Duration) error {
	return checkRange("at-most", d, MinAtMost, MaxAtMost)
}

func checkAtLeast(atLeast, atMost time.Duration) error {
	if atLeast <= atMost {
		return nil
	}
	return &check.FieldError{
		Field: "at-least", Value: atLeast.String(), Problem: fmt.Sprintf("is more than at-most, %v", atMost),
		Remedy: fmt.Sprintf("raise at-most to %v or more, or lower at-least", atLeast),
	}
}

func (o Options) checkEvery() error {
	switch {
	case o.Every == 0:
		return nil
	case o.Cron != nil:
		return &check.FieldError{Field: "every", Value: o.Every.String(), Problem: "a cron rule is given too", Remedy: "give one of both"}
	case o.Every%time.Millisecond != 0:
		return &check.FieldError{Field: "every", Value: o.Every.String(), Problem: "is not in whole milliseconds", Remedy: "leave out the rest"}
	default:
		return checkRange("every", o.Every, MinEvery, MaxAtMost)
	}
}

// checkRange returns an error with the least value if a duration is too small,
// and with the greatest value if it is too great.
func checkRange(field string, d, least, most time.Duration) error {
	switch {
	case d < least:
		return &check.FieldError{Field: field, Value: d.String(), Problem: "is too short", Remedy: fmt.Sprintf("use at least %v", least)}
	case d > most:
		return &check.FieldError{Field: field, Value: d.String(), Problem: "is too long", Remedy: fmt.Sprintf("use at most %v", most)}
	default:
		return nil
	}
}

// grid returns the grid of Every or Cron, or nil.
func (o Options) grid() *grid {
	switch {
	case o.Cron != nil:
		return &grid{rule: o.Cron}
	case o.Every != 0:
		return &grid{interval: o.Every}
	default:
		return nil
	}
}
