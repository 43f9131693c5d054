package lock

import (
	"errors"
	"fmt"
	"time"
)

// Options say how a lock is taken. The zero value keeps it alive for at most an
// hour and does not wait.
type Options struct {
	// AtMost is a hard bound on how long the lock is held, from the grant.
	// Shortly before it, by a tenth or 3 s, the context ends with ErrAtMost; at
	// it the lock is free, whether the work has ended or hangs. Default 1 h,
	// from MinAtMost to MaxAtMost. See [Lock.Extend] for work that needs more.
	AtMost time.Duration

	// AtLeast is how long the lock stays held from the grant, even if the work
	// ends sooner: a short task on servers whose clocks differ then does not
	// run twice. Default 0, at most AtMost.
	AtLeast time.Duration

	// Wait is how long Lock and Do wait for another holder. Do without it tries
	// once. At most MaxAtMost. A caller that waits tries again after 20 ms, then
	// after longer pauses, up to about one second. A release in this Locker, or in
	// any process where the provider is a [Notifier], ends the pause.
	Wait time.Duration

	// Every grants the lock once per interval: only if the latest instant of
	// the grid that is at most a quarter of the interval ahead was not granted
	// yet, and a quarter of the interval has passed since the last grant. The
	// first grant anchors the grid, which stays until the duration changes. The
	// slot is spent by the grant, whether the work succeeds or its node dies.
	// From MinEvery to MaxAtMost; the same on every node, for two durations in
	// turn begin a new grid each time. 0: no such condition.
	Every time.Duration

	// Cron is Every with the instants of a rule as the grid. Intervals need not
	// be alike: what counts for a slot is the one that ends with it. So the
	// first slot after a long pause, a night or a weekend, is granted to whoever
	// asks in the pause's last quarter. At most one of both.
	Cron Rule

	// NoKeepAlive holds the lock for the whole of AtMost at once instead of
	// prolonging a short lease. It spares the store the renewals, and blocks
	// others for that time when the holder dies.
	NoKeepAlive bool
}

// Limits and defaults of options.
const (
	MinAtMost     = 100 * time.Millisecond
	MaxAtMost     = 10 * 365 * 24 * time.Hour
	MinEvery      = 100 * time.Millisecond
	DefaultAtMost = time.Hour
)

// withDefaults fills in what was not given, in whole milliseconds as stores
// keep them.
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

// Validate reports everything that is wrong, each as a *[FieldError], joined by
// errors.Join, or nil.
func (o Options) Validate() error {
	o = o.withDefaults()
	return errors.Join(
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
	return &FieldError{
		Field: "at-least", Value: atLeast.String(), Problem: fmt.Sprintf("is more than at-most, %v", atMost),
		Remedy: fmt.Sprintf("raise at-most to %v or more, or lower at-least", atLeast),
	}
}

func (o Options) checkEvery() error {
	switch {
	case o.Every == 0:
		return nil
	case o.Cron != nil:
		return &FieldError{Field: "every", Value: o.Every.String(), Problem: "a cron rule is given too", Remedy: "give one of both"}
	case o.Every%time.Millisecond != 0:
		return &FieldError{Field: "every", Value: o.Every.String(), Problem: "is not in whole milliseconds", Remedy: "leave out the rest"}
	default:
		return checkRange("every", o.Every, MinEvery, MaxAtMost)
	}
}

// checkRange names the least value if a duration is too small, and the greatest
// if it is too great.
func checkRange(field string, d, least, most time.Duration) error {
	switch {
	case d < least:
		return &FieldError{Field: field, Value: d.String(), Problem: "is too short", Remedy: fmt.Sprintf("use at least %v", least)}
	case d > most:
		return &FieldError{Field: field, Value: d.String(), Problem: "is too long", Remedy: fmt.Sprintf("use at most %v", most)}
	default:
		return nil
	}
}

// grid is what Every or Cron asks for, or nil.
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
