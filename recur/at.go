package recur

import "time"

// at is a rule with a single instant, in microseconds of Unix time.
type at int64

// newAt returns the rule that rings once, at t rounded up to a microsecond. A
// rule for a t outside the years 1 to 9999, such as the zero time, never rings.
func newAt(t time.Time) Rule {
	micro, ok := instantMicro(t)
	if !ok {
		return at(minMicro)
	}
	return at(micro)
}

// Next implements [Rule].
func (a at) Next(after time.Time) time.Time {
	if now, ok := afterMicro(after); !ok || now >= int64(a) {
		return time.Time{}
	}
	return time.UnixMicro(int64(a)).UTC()
}

// Prev implements [Rule].
func (a at) Prev(before time.Time) time.Time {
	if now, ok := beforeMicro(before); !ok || now <= int64(a) {
		return time.Time{}
	}
	return instantOf(int64(a))
}

// String implements [Rule].
func (a at) String() string {
	return "at " + formatMicro(int64(a))
}

// parseAt reads an instant such as "2026-03-01T09:00:00Z".
func parseAt(text string, loc *time.Location) (Rule, error) {
	t, err := parseInstant("at", text, loc)
	if err != nil {
		return nil, err
	}
	return newAt(t), nil
}

// parseInstant reads an instant. A text without an offset is a time on the wall
// clock of loc and follows the rule for fixed times: a time in a gap becomes
// the first instant after the gap, and a time that is shown twice becomes the
// first of its two instants. A date alone is the midnight of that date.
func parseInstant(field, text string, loc *time.Location) (time.Time, error) {
	const remedy = "write it like 2026-03-01T09:00:00Z, or 2026-03-01 09:00 for the clock of the zone"
	if len(text) > 64 {
		return time.Time{}, newError(field, text, "the text is longer than 64 bytes", remedy)
	}
	t, ok := parseLayouts(text, time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00")
	if !ok {
		wall, ok := parseLayouts(text, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly)
		if !ok {
			return time.Time{}, newError(field, text, "this is not an instant", remedy)
		}
		second, ok := zone{loc}.instantOf(wall.Unix())
		if !ok {
			return time.Time{}, newError(field, text, "the clocks of "+loc.String()+" skipped that whole day", "choose another day")
		}
		t = time.Unix(second, int64(wall.Nanosecond()))
	}
	if _, ok := instantMicro(t); !ok {
		return time.Time{}, newError(field, text, "the instant lies outside the years 1 to 9999", "choose an instant in these years")
	}
	return t, nil
}

// parseLayouts reads a time in the first of the layouts that fits.
func parseLayouts(text string, layouts ...string) (time.Time, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
