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
// Between two stretches it jumps: forward over a gap of wall times that it
// never shows, or back into a fold of wall times that it shows again. So a
// wall time has no instant, one, or several, and asking a library for "the"
// instant of a wall time hides a decision. Here the decision is explicit.
//
// Wall times are counted like Unix time, in seconds since 1970 as if they
// were UTC. They can then be compared, subtracted and split into a date and a
// time of day, and no zone is involved in doing so.
//
// # Fixed times
//
// Somebody who writes "at half past two" expects one ring a day, as soon as
// the clock on the wall has come so far. That is the whole rule:
//
//	a wall time w rings at the first instant at which the clock shows w or later
//
// In an ordinary stretch this is the instant that shows w. In a fold it is the
// first of the two. In a gap it is the first instant after the gap, and all
// the wall times of that gap get the same instant, so they ring once
// together. No special case is needed for shifts of thirty minutes or two
// hours, at midnight, or in winter.
//
// It follows that the times which have rung by an instant are those up to the
// high-water mark of the clock: the latest wall time it has shown so far. The
// next one to ring is the first time of the rule above that mark.
//
// The only exception: a date that the clock never shows at all (Samoa moved
// across the date line and had no 30 December 2011) is not made up for on
// the next.
//
// # An even pace
//
// Somebody who writes "every ten minutes" expects rings at an even pace, so
// such a rule rings at every instant whose wall time matches: in a fold both
// times, in a gap never. Search the stretch at hand for a matching wall time;
// if there is none before it ends, go on with the next.
//
// # Other choices
//
// [Spec.Gap] and [Spec.Fold] choose freely between the two. What changes:
//
//	skip   a wall time that the clock does not show when its turn comes is passed over
//	last   the mirror image of the rule for fixed times: a wall time rings at the
//	       last instant at which the clock shows it or an earlier one; its mark
//	       is the earliest wall time that is still to be shown (low water)
//	both   with skip, the even pace; with shift, that and the ends of the gaps
//
// # Finding the stretches
//
// The time package tells for an instant which offset is in force and when it
// ends. Only that end is used, never the beginning: after the last entry of a
// zone's table the package answers from the yearly rule alone and may report
// a beginning long before the table's last change (Ciudad Juárez, December
// 2022). So a function that needs what came before starts early enough and
// walks forward.
//
// Early enough is [reach]. Real offsets lie within 16 hours of UTC, so no
// clock shows a wall time that a clock more than 32 hours earlier has shown.

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

// zone answers questions about the wall clock of a location. Instants and
// wall times are in seconds, see above.
type zone struct{ loc *time.Location }

// stretch returns the offset in force at an instant and the instant at which
// it ends, which is always later. The next stretch may have the same offset.
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
		// 365 days, so on the last day of a leap year it answers with the
		// past (go.dev/issue/81583). That day, by UTC, is what is left.
		end = instant - floorMod(instant, secondsPerDay) + secondsPerDay
	}
	return int64(seconds), end
}

// highWater returns the latest wall time that the clock has shown up to and
// including the instant, and the stretch in force then.
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

// first returns the first instant at which the clock shows the wall time or
// a later one.
func (z zone) first(wall int64) int64 {
	for at := wall - reach; ; {
		offset, end := z.stretch(at)
		if wall-offset < end {
			return max(wall-offset, at)
		}
		at = end
	}
}

// instantOf returns the instant at which a fixed time rings. ok is false when
// the clock skipped its whole date.
func (z zone) instantOf(wall int64) (instant int64, ok bool) {
	instant = z.first(wall)
	if instant+z.offset(instant) == wall {
		return instant, true
	}
	midnight := wall - floorMod(wall, secondsPerDay)
	return instant, z.first(midnight) != z.first(midnight+secondsPerDay)
}

// floorMod is the remainder that is never negative.
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

// checkNamed refuses a location that its name does not lead back to, such as
// time.Local or a fixed zone called CET: the text of a rule could not tell
// which zone it meant.
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

// orUTC is the default zone of a rule that names none.
func orUTC(loc *time.Location) *time.Location {
	if loc == nil {
		return time.UTC
	}
	return loc
}
