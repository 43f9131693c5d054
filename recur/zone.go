package recur

import (
	"math"
	"strings"
	"time"
)

// How wall time maps to instants
//
// A zone is a sequence of stretches of time, each with one offset from UTC.
// Within a stretch the wall clock runs like any other clock:
//
//	wall = instant + offset
//
// Between two stretches the wall clock jumps: forward over a gap of wall times
// that it never shows, or back into a fold of wall times that it shows again.
// So a wall time has no instant, one instant, or several instants, and a
// library function that returns "the" instant of a wall time hides a decision.
// In this package the decision is explicit.
//
// Wall times are counted like Unix time, in seconds since 1970 as if they were
// UTC. They can then be compared, subtracted and split into a date and a time
// of day without a zone.
//
// # Fixed times
//
// A user who writes "at half past two" expects one ring a day, as soon as the
// wall clock has reached that time. That is the whole rule:
//
//	a wall time w rings at the first instant at which the clock shows w or later
//
// In an ordinary stretch this is the instant that shows w. In a fold it is the
// first of the two instants. In a gap it is the first instant after the gap;
// all wall times of the gap get this same instant, so together they ring once.
// Shifts of thirty minutes or two hours, shifts at midnight and shifts in
// winter need no special case.
//
// It follows that the wall times that have rung by an instant are the wall
// times up to the high-water mark of the clock, which is the latest wall time
// that the clock has shown so far. The next wall time to ring is the first wall
// time of the rule above that mark.
//
// There is one exception. The times of a date that the clock never shows (Samoa
// moved across the date line and had no 30 December 2011) do not ring on the
// next date.
//
// # An even pace
//
// A user who writes "every ten minutes" expects rings at an even pace, so such
// a rule rings at every instant whose wall time matches: both times in a fold,
// never in a gap. The search looks for a matching wall time in the current
// stretch, and continues with the next stretch if there is none.
//
// # Other choices
//
// [Spec.Gap] and [Spec.Fold] select other combinations:
//
//	skip   a wall time that the clock does not show when its turn comes does not ring
//	last   the mirror image of the rule for fixed times: a wall time rings at the
//	       last instant at which the clock shows it or an earlier one; the mark
//	       is the earliest wall time that is still to be shown (low water)
//	both   with skip, the even pace; with shift, the even pace and the ends of the gaps
//
// # Finding the stretches
//
// For an instant, the time package returns the offset in force and the end of
// the stretch. Only this end is used, never the beginning: after the last entry
// of a zone's table, the time package uses the yearly rule alone and may return
// a beginning long before the last change in the table (Ciudad Juárez, December
// 2022). A function that needs earlier stretches therefore starts early enough
// and walks forward.
//
// Early enough is [reach]. Real offsets are at most 16 hours from UTC, so a
// wall time that a clock shows now was not shown by any clock more than 32
// hours ago.

const (
	// maxOffset is the greatest offset from UTC, in seconds.
	maxOffset = 16 * 3600
	// reach is greater than the difference of any two offsets.
	reach = 48 * 3600
)

// secondsPerDay is the length of every date on the wall clock.
const secondsPerDay = 24 * 3600

// never is the end of a stretch that does not end.
const never = math.MaxInt64

// zone computes with the wall clock of a location. Instants and wall times are
// in seconds, see above.
type zone struct{ loc *time.Location }

// stretch returns the offset in force at an instant and the instant at which
// the stretch ends, which is always later. The next stretch may have the same
// offset.
func (z zone) stretch(instant int64) (offset, end int64) {
	t := time.Unix(instant, 0).In(z.loc)
	_, seconds := t.Zone()
	_, until := t.ZoneBounds()
	if until.IsZero() {
		return int64(seconds), never
	}
	end = until.Unix()
	if end <= instant {
		// Where the yearly rule is in force, ZoneBounds ends every year after
		// 365 days, so on the last day of a leap year it returns an end in the
		// past (go.dev/issue/81583). The rest of that day, in UTC, is the rest
		// of the stretch.
		end = instant - floorMod(instant, secondsPerDay) + secondsPerDay
	}
	return int64(seconds), end
}

// highWater returns the latest wall time that the clock has shown up to and
// including the instant, and the stretch in force at the instant.
func (z zone) highWater(instant int64) (mark, offset, end int64) {
	mark = math.MinInt64
	for at := instant - reach; ; {
		offset, end = z.stretch(at)
		if end > instant {
			return max(mark, instant+offset), offset, end
		}
		mark = max(mark, end-1+offset)
		at = end
	}
}

// first returns the first instant at which the clock shows the given wall time
// or a later wall time.
func (z zone) first(wall int64) int64 {
	for at := wall - reach; ; {
		offset, end := z.stretch(at)
		if wall-offset < end {
			return max(wall-offset, at)
		}
		at = end
	}
}

// instantOf returns the instant at which a rule rings for the wall-clock time wall:
// the first instant with this time or, if a clock change skipped the time, the
// first instant after the gap. ok is false if the clock skipped the whole date.
func (z zone) instantOf(wall int64) (instant int64, ok bool) {
	instant = z.first(wall)
	if instant+z.offset(instant) == wall {
		return instant, true
	}
	midnight := wall - floorMod(wall, secondsPerDay)
	return instant, z.first(midnight) != z.first(midnight+secondsPerDay)
}

// floorMod returns the remainder of a division, which is never negative.
func floorMod(a, b int64) int64 {
	return (a%b + b) % b
}

// loadZone finds a zone by its IANA name.
func loadZone(name string) (*time.Location, error) {
	const remedy = "write an IANA name such as Europe/Prague or UTC"
	switch {
	case name == "":
		return nil, newError("tz", name, "the zone is empty", remedy)
	case len(name) > 100:
		return nil, newError("tz", name, "the name is longer than 100 bytes", remedy)
	case strings.ContainsFunc(name, notInZoneName):
		return nil, newError("tz", name, "the name has characters that no zone has", remedy)
	case name == "Local" || name == "localtime":
		return nil, newError("tz", name, "the local zone is another one on each machine", remedy)
	case strings.HasPrefix(name, "right/"):
		return nil, newError("tz", name, "zones that count leap seconds are not supported", remedy)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, newError("tz", name, "there is no such zone",
			remedy+" (capitals matter); if it is right, this machine has no zone data: install tzdata")
	}
	return loc, nil
}

func notInZoneName(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("/_+-", r)
}

// checkNamed refuses a location that is not the zone of its own name, such as
// time.Local or a fixed zone called CET, because the text of a rule could not
// identify it.
func checkNamed(loc *time.Location) error {
	named, err := loadZone(loc.String())
	if err != nil {
		return err
	}
	if named == loc {
		return nil
	}
	const halfYear = 15_778_476
	for instant := int64(0); instant < 1<<31; instant += halfYear {
		t := time.Unix(instant, 0)
		_, got := t.In(loc).Zone()
		_, want := t.In(named).Zone()
		if got != want {
			return newError("tz", loc.String(), "the location differs from the zone of that name",
				"use time.LoadLocation with an IANA name such as Europe/Prague")
		}
	}
	return nil
}

// orUTC returns the zone, or UTC for a rule that names no zone.
func orUTC(loc *time.Location) *time.Location {
	if loc == nil {
		return time.UTC
	}
	return loc
}
