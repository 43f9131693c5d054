package recur

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Quartz is the choice of [Spec.Dialect] for rules as the Quartz scheduler
// writes them.
const Quartz = "quartz"

// MaxAny is how many rules [Spec.Any] may have.
const MaxAny = 20

// Spec is how people write a rule: exactly one of Cron, Every, At and Any, and
// what else they like. It is plain data for JSON and YAML; fields that are not
// given are left out.
type Spec struct {
	// Cron is a cron rule as [ParseCron] reads it, e.g. "0 9 * * 1-5".
	Cron string `json:"cron,omitempty"`

	// Every is an interval. Either it is elapsed time as [time.ParseDuration]
	// reads it, e.g. "1h30m", or a whole number and a unit, e.g. "1 month":
	// seconds, minutes, hours (elapsed time, too), days, weeks, months and
	// years (the same time of day on the clock of Zone), singular or plural.
	// It lies between [MinEvery] and [MaxEvery] and counts from Start.
	Every string `json:"every,omitempty"`

	// At is one instant, by RFC 3339, or with a space for the T and without
	// the seconds. Without an offset, as in 2026-03-01 09:00, it is read on the
	// wall clock of Zone; a date alone is its midnight.
	At string `json:"at,omitempty"`

	// Zone is an IANA name such as Europe/Prague; empty means UTC, or the
	// zone that the cron rule itself names with CRON_TZ=. An interval of
	// elapsed time is the same in every zone.
	Zone string `json:"tz,omitempty"`

	// Any holds the rules of a union, which rings whenever one of them does,
	// once where several do at the same instant. They are at most [MaxAny]
	// and have no Any themselves. Beside it, Zone, Start and Stop may be
	// given, for those that name none of their own.
	Any []Spec `json:"any,omitempty"`

	// Dialect is how Cron is written: empty, or [Quartz]. In Quartz's way
	// there are six fields, with seconds first, or seven, with the year
	// (1970-2099) last; the days of the week are 1-7 from Sunday to Saturday;
	// exactly one of the two day fields is ?; ranges may run over the end of
	// a field (FRI-MON).
	Dialect string `json:"dialect,omitempty"`

	// Start and Stop are instants, written as At is, before and after which
	// the rule does not ring; at them it may. An interval counts from Start.
	Start string `json:"start,omitempty"`
	Stop  string `json:"stop,omitempty"`

	// Gap says what becomes of a time that the clock jumps over: [GapShift]
	// or [GapSkip]; Fold, of one that it shows twice: [FoldFirst], [FoldLast]
	// or [FoldBoth]. Empty means the rule of Vixie cron (see the package
	// documentation). Both are for cron rules and for intervals of days and
	// longer, which alone depend on what a clock shows.
	Gap  string `json:"gap,omitempty"`
	Fold string `json:"fold,omitempty"`
}

// Rule returns the rule that s describes. An interval counts from Start, and
// from the anchor where no Start is given ("@every D" in Cron too); the other
// rules ignore the anchor. The error is an [*Error].
//
// It reads the data of its zone anew. Where rules are many, [Zones.Rule] lets
// them share it.
func (s Spec) Rule(anchor time.Time) (Rule, error) {
	return (*Zones)(nil).Rule(s, anchor)
}

// Validate returns the [*Error] that Rule would return, or nil.
func (s Spec) Validate() error {
	_, err := s.Rule(time.Time{})
	return err
}

// Equal reports whether both are written the same way.
func (s Spec) Equal(other Spec) bool {
	sameAny := slices.EqualFunc(s.Any, other.Any, Spec.Equal)
	return sameAny && s.single() == other.single()
}

// single holds all of a Spec but Any, and can be compared.
type single struct{ cron, every, at, zone, dialect, start, stop, gap, fold string }

func (s Spec) single() single {
	return single{s.Cron, s.Every, s.At, s.Zone, s.Dialect, s.Start, s.Stop, s.Gap, s.Fold}
}

// String returns s in one line for people, such as
// "CRON_TZ=Europe/Prague 0 9 * * 1-5" or "every 90s", valid or not.
func (s Spec) String() string {
	var b strings.Builder
	switch {
	case s.Cron != "" && s.Zone != "":
		b.WriteString("CRON_TZ=" + s.Zone + " " + s.Cron)
	case s.Cron != "":
		b.WriteString(s.Cron)
	case s.Every != "":
		b.WriteString("every " + s.Every)
	case s.At != "" && s.Zone != "":
		b.WriteString("at " + s.At + " " + s.Zone)
	case s.At != "":
		b.WriteString("at " + s.At)
	}
	for i, one := range s.Any {
		if i > 0 {
			b.WriteString(unionMark)
		}
		b.WriteString(one.String())
	}
	b.WriteString(options{s.Dialect, s.Gap, s.Fold}.String())
	for _, bound := range [...]struct{ name, value string }{{" from ", s.Start}, {" until ", s.Stop}} {
		if bound.value != "" {
			b.WriteString(bound.name + bound.value)
		}
	}
	return b.String()
}

// checkOne refuses a Spec with no rule or several.
func (s Spec) checkOne() error {
	const remedy = "give exactly one of cron, every and at"
	members := ""
	if len(s.Any) > 0 {
		members = "any"
	}
	given := ""
	for _, f := range [...]struct{ name, value string }{{"cron", s.Cron}, {"every", s.Every}, {"at", s.At}, {"any", members}} {
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

// options are what a rule does in ways other than the usual.
type options struct{ dialect, gap, fold string }

// String returns the options as they follow a rule's text.
func (o options) String() (text string) {
	for _, option := range [...]struct{ name, value string }{{" dialect ", o.dialect}, {" gap ", o.gap}, {" fold ", o.fold}} {
		if option.value != "" {
			text += option.name + option.value
		}
	}
	return text
}

// clock returns what turns wall times into instants; fixed says whether the
// rule names fixed times. The options were checked.
func (o options) clock(loc *time.Location, fixed bool) clock {
	c := clock{zone: zone{loc}, skip: o.gap == GapSkip, fold: o.fold, cycle: cronCycle}
	if o.gap == "" {
		c.skip = !fixed
	}
	switch {
	case o.fold != "":
	case fixed:
		c.fold = FoldFirst
	default:
		c.fold = FoldBoth
	}
	return c
}

// check refuses what does not exist.
func (o options) check() error {
	switch {
	case o.dialect != "" && o.dialect != Quartz:
		return newError("dialect", o.dialect, "there is no such dialect", "write quartz, or leave it out")
	case o.gap != "" && o.gap != GapShift && o.gap != GapSkip:
		return newError("gap", o.gap, "there is no such choice", "write shift or skip, or leave it out")
	case o.fold != "" && o.fold != FoldFirst && o.fold != FoldLast && o.fold != FoldBoth:
		return newError("fold", o.fold, "there is no such choice", "write first, last or both, or leave it out")
	}
	return nil
}

// checkFor refuses options that mean nothing for the kind of rule.
func (o options) checkFor(kind string) error {
	const remedy = "leave it out"
	switch {
	case o.dialect != "" && kind != "cron":
		return newError("dialect", o.dialect, "a dialect is for cron rules", remedy)
	case o.gap != "" && kind != "cron" && kind != "calendar":
		return newError("gap", o.gap, "clock changes do not touch this rule", remedy)
	case o.fold != "" && kind != "cron" && kind != "calendar":
		return newError("fold", o.fold, "clock changes do not touch this rule", remedy)
	}
	return nil
}

// Rule is [Spec.Rule] with zones that are shared.
func (z *Zones) Rule(s Spec, anchor time.Time) (Rule, error) {
	if err := s.checkOne(); err != nil {
		return nil, err
	}
	if len(s.Any) > 0 {
		return z.union(s, anchor)
	}
	b := builder{Spec: s, anchor: anchor, options: options{s.Dialect, s.Gap, s.Fold}}
	if err := b.prepare(z); err != nil {
		return nil, err
	}
	rule, err := b.rule()
	if err != nil {
		return nil, err
	}
	return b.bound(rule), nil
}

// union returns the rule of a Spec with Any.
func (z *Zones) union(s Spec, anchor time.Time) (Rule, error) {
	switch {
	case len(s.Any) > MaxAny:
		return nil, newError("any", "", fmt.Sprintf("there are %d rules", len(s.Any)), fmt.Sprintf("give at most %d", MaxAny))
	case s.Dialect != "" || s.Gap != "" || s.Fold != "":
		return nil, newError("any", "", "dialect, gap and fold stand beside it", "write them beside the rules that they are for")
	}
	var rules union
	for _, one := range s.Any {
		if len(one.Any) > 0 {
			return nil, newError("any", "", "it holds another any", "write all the rules into one list")
		}
		for _, shared := range [...]struct {
			own   *string
			outer string
		}{{&one.Start, s.Start}, {&one.Stop, s.Stop}} {
			if *shared.own == "" {
				*shared.own = shared.outer
			}
		}
		if one.Zone == "" && !namesZone(one.Cron) {
			one.Zone = s.Zone
		}
		rule, err := z.Rule(one, anchor)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	if len(rules) == 1 {
		return rules[0], nil
	}
	return rules, nil
}

// builder makes the rule of a Spec without Any.
type builder struct {
	Spec
	options
	anchor      time.Time
	loc         *time.Location
	text        string // Cron without its zone
	start, stop int64  // in microseconds of Unix time; the whole range if not given
}

// prepare finds the zone and the bounds.
func (b *builder) prepare(zones *Zones) (err error) {
	if err = b.check(); err != nil {
		return err
	}
	if b.Zone != "" {
		if b.loc, err = zones.Load(b.Zone); err != nil {
			return err
		}
	}
	b.text = b.Cron
	if b.Cron != "" {
		if b.text, b.loc, err = cutZone(zones, b.Cron, b.loc); err != nil {
			return err
		}
	}
	b.loc = orUTC(b.loc)
	b.start, b.stop = minMicro, maxMicro
	if b.Start != "" {
		if b.anchor, err = parseInstant("start", b.Start, b.loc); err != nil {
			return err
		}
		b.start, _ = instantMicro(b.anchor)
	}
	if b.Stop != "" {
		stop, err := parseInstant("stop", b.Stop, b.loc)
		if err != nil {
			return err
		}
		b.stop = stop.UnixMicro() // rounded down: not after it
	}
	if b.stop < b.start {
		return newError("stop", b.Stop, "it lies before the start", "choose a later stop or an earlier start")
	}
	return nil
}

// rule returns the rule without its bounds.
func (b *builder) rule() (Rule, error) {
	switch {
	case b.Every != "":
		return parseEvery(b.Every, b.loc, b.anchor, b.options)
	case b.At != "":
		if err := b.checkFor("at"); err != nil {
			return nil, err
		}
		return parseAt(b.At, b.loc)
	default:
		return parseCron(b.Cron, b.text, b.loc, b.anchor, b.options)
	}
}

// bound puts the bounds around a rule.
func (b *builder) bound(rule Rule) Rule {
	switch rule.(type) {
	case every, *interval:
		b.start = minMicro // the rule itself begins there
	}
	if b.start == minMicro && b.stop == maxMicro {
		return rule
	}
	return bounded{rule, b.start, b.stop}
}
