package recur

import (
	"testing"
	"time"
)

func TestConstructorsWriteWhatUsersWrite(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 500, time.FixedZone("", 3600+1))
	anchor := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		spec Spec
		want Spec
		rule string
	}{
		"every":        {Every(90 * time.Second), Spec{Every: "90s"}, "every 90s from 2026-01-31T12:00:00Z"},
		"least":        {Every(MinEvery), Spec{Every: "100ms"}, "every 100ms from 2026-01-31T12:00:00Z"},
		"greatest":     {Every(MaxEvery), Spec{Every: "876600h"}, "every 876600h from 2026-01-31T12:00:00Z"},
		"microseconds": {Every(time.Second + time.Microsecond), Spec{Every: "1000001us"}, "every 1000001us from 2026-01-31T12:00:00Z"},
		"from":         {Every(time.Hour).From(anchor.AddDate(0, 0, 1)), Spec{Every: "1h", Start: "2026-02-01T12:00:00Z"}, "every 1h from 2026-02-01T12:00:00Z"},
		"day":          {Days(1), Spec{Every: "1 day"}, "every 1 day from 2026-01-31T12:00:00Z"},
		"weeks":        {Weeks(2), Spec{Every: "2 weeks"}, "every 2 weeks from 2026-01-31T12:00:00Z"},
		"months":       {Months(3).In("Europe/Prague"), Spec{Every: "3 months", Zone: "Europe/Prague"}, "every 3 months from 2026-01-31T12:00:00Z tz Europe/Prague"},
		"years":        {Years(1), Spec{Every: "1 year"}, "every 1 year from 2026-01-31T12:00:00Z"},
		"cron":         {Cron("0 9 * * 1-5").In("Europe/Prague"), Spec{Cron: "0 9 * * 1-5", Zone: "Europe/Prague"}, "CRON_TZ=Europe/Prague 0 9 * * 1-5"},
		"until":        {Cron("@daily").Until(anchor), Spec{Cron: "@daily", Stop: "2026-01-31T12:00:00Z"}, "@daily until 2026-01-31T12:00:00Z"},
		"at":           {At(at), Spec{At: "2026-03-01T07:59:59.0000005Z"}, "at 2026-03-01T07:59:59.000001Z"},
		"any":          {Any(Cron("@daily"), Every(time.Hour)), Spec{Any: []Spec{{Cron: "@daily"}, {Every: "1h"}}}, "@daily | every 1h from 2026-01-31T12:00:00Z"},
		"no bounds":    {Cron("@daily").From(anchor).Until(anchor).From(time.Time{}).Until(time.Time{}), Spec{Cron: "@daily"}, "@daily"},
	} {
		if !test.spec.Equal(test.want) {
			t.Errorf("%s: got %#v, want %#v", name, test.spec, test.want)
		}
		rule, err := test.spec.Rule(anchor)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if rule.String() != test.rule {
			t.Errorf("%s: got the rule %q, want %q", name, rule, test.rule)
		}
	}
}

func TestConstructorsOfInvalidRulesFailInValidate(t *testing.T) {
	for name, spec := range map[string]Spec{
		"zero": Every(0), "negative": Every(-time.Hour), "short": Every(MinEvery - time.Microsecond), "long": Every(MaxEvery + time.Microsecond),
		"fine": Every(time.Second + 1), "no days": Days(0), "negative months": Months(-1), "many years": Years(101), "cron": Cron("9"),
		"no instant": At(time.Time{}), "late": At(time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)), "no rules": Any(),
		"zone": Cron("@daily").In("Mars"),
	} {
		if err := spec.Validate(); err == nil {
			t.Errorf("%s: %v is valid", name, spec)
		}
	}
}

func TestChainedSpecsShareNothing(t *testing.T) {
	daily := Cron("@daily")
	prague := daily.In("Europe/Prague")
	if daily.Zone != "" || prague.Zone != "Europe/Prague" {
		t.Errorf("got %v and %v", daily, prague)
	}
}
