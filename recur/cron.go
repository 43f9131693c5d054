package recur

import "time"

// cron rings at wall-clock times that match its fields.
type cron struct {
	*fields
	clock
	text    string // the fields as given, separated by single spaces, or the macro
	options options
	seconds bool // whether the text has a field of seconds
}

// String implements [Rule].
func (c *cron) String() string {
	text := c.text + c.options.String()
	if name := c.loc.String(); name != "UTC" {
		return "CRON_TZ=" + name + " " + text
	}
	return text
}

// Next implements [Rule].
func (c *cron) Next(after time.Time) time.Time {
	second, ok := afterSecond(after)
	if !ok || c.never {
		return time.Time{}
	}
	if second, ok = c.next(c.fields, second); !ok {
		return time.Time{}
	}
	return c.time(second)
}

// Prev implements [Rule].
func (c *cron) Prev(before time.Time) time.Time {
	second, ok := beforeSecond(before)
	if !ok || c.never {
		return time.Time{}
	}
	if second, ok = c.prev(c.fields, second); !ok {
		return time.Time{}
	}
	return c.time(second)
}

// count implements counter.
func (c *cron) count(after, until time.Time, most int64) int64 {
	from, ok := afterSecond(after)
	if !ok || c.never {
		return 0
	}
	to, _ := afterSecond(until)
	return c.clock.count(c.fields, from, min(to, maxSecond), most)
}
