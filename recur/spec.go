package recur

import "time"

// Spec is how people write a rule: exactly one of Cron, Every and At, and a
// zone if they like. It is plain data for JSON and YAML; fields that are not
// given are left out.
type Spec struct {
	// Cron is a cron rule as [ParseCron] reads it, e.g. "0 9 * * 1-5".
	Cron string `json:"cron,omitempty"`

	// Every is an interval as [time.ParseDuration] reads it, e.g. "1h30m",
	// from [MinEvery] to [MaxEvery]. It has no days: a day is a calendar
	// unit, not always 24 hours long.
	Every string `json:"every,omitempty"`

	// At is one RFC 3339 instant. Without an offset, as in
	// 2026-03-01T09:00:00, it is read on the wall clock of Zone.
	At string `json:"at,omitempty"`

	// Zone is an IANA name such as Europe/Prague; empty means UTC, or the
	// zone that the cron rule itself names with CRON_TZ=. An interval is
	// elapsed time, the same in every zone.
	Zone string `json:"tz,omitempty"`
}

// Rule returns the rule that s describes. An interval counts from the anchor
// (its first instant, see [Every]), "@every D" in Cron too; the other rules
// ignore it. The error is an [*Error].
func (s Spec) Rule(anchor time.Time) (Rule, error) {
	if err := s.checkOne(); err != nil {
		return nil, err
	}
	loc, err := s.location()
	if err != nil {
		return nil, err
	}
	switch {
	case s.Every != "":
		return parseEvery(s.Every, anchor)
	case s.At != "":
		return parseAt(s.At, orUTC(loc))
	default:
		return parseCron(s.Cron, loc, anchor)
	}
}

// Validate returns the [*Error] that Rule would return, or nil.
func (s Spec) Validate() error {
	_, err := s.Rule(time.Time{})
	return err
}

// String returns s in one line for people, such as
// "CRON_TZ=Europe/Prague 0 9 * * 1-5" or "every 90s", valid or not.
func (s Spec) String() string {
	switch {
	case s.Cron != "" && s.Zone != "":
		return "CRON_TZ=" + s.Zone + " " + s.Cron
	case s.Cron != "":
		return s.Cron
	case s.Every != "":
		return "every " + s.Every
	case s.At != "" && s.Zone != "":
		return "at " + s.At + " " + s.Zone
	case s.At != "":
		return "at " + s.At
	default:
		return ""
	}
}

// checkOne refuses a Spec with no rule or several.
func (s Spec) checkOne() error {
	const remedy = "give exactly one of cron, every and at"
	given := ""
	for _, f := range [...]struct{ name, value string }{{"cron", s.Cron}, {"every", s.Every}, {"at", s.At}} {
		switch {
		case f.value == "":
		case given != "":
			return newError(f.name, f.value, given+" is given too", remedy)
		default:
			given = f.name
		}
	}
	if given == "" {
		return newError("cron", "", "no rule is given", remedy)
	}
	return nil
}

// location returns the zone of s, or nil when none is given.
func (s Spec) location() (*time.Location, error) {
	if s.Zone == "" {
		return nil, nil
	}
	return loadZone(s.Zone)
}
