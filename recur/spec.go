package recur

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// MaxAny is how many rules [Spec.Any] may have.
const MaxAny = 20

// Spec is a rule as users write it: exactly one of Cron, Every, At and Any, and
// optional choices. It is plain data for JSON and YAML; empty fields are left
// out.
type Spec struct {
	// Cron is a cron rule as [ParseCron] reads it, e.g. "0 9 * * 1-5".
	Cron string `json:"cron,omitempty"`

	// Every is an interval: either elapsed time as [time.ParseDuration] reads
	// it, such as "1h30m", or a whole number and a unit, such as "1 month". The
	// units are seconds, minutes and hours (elapsed time too) and days, weeks,
	// months and years (the same time of day on the clock of Zone), singular or
	// plural. The interval lies between [MinEvery] and [MaxEvery] and counts
	// from Start.
	Every string `json:"every,omitempty"`

	// At is one instant as in RFC 3339; a space may replace the T, and the
	// seconds may be left out. A text without an offset, such as 2026-03-01
	// 09:00, is read on the wall clock of Zone; a date alone is the midnight of
	// that date.
	At string `json:"at,omitempty"`

	// Zone is an IANA name such as Europe/Prague. Empty means UTC, or the zone
	// that the cron rule itself names with CRON_TZ=. The zone does not change
	// an interval of elapsed time.
	Zone string `json:"tz,omitempty"`

	// Any holds the rules of a union. The union rings when any of its rules
	// rings, and once if several rules ring at the same instant. It has at most
	// [MaxAny] rules, which have no Any themselves. Zone, Start and Stop may be
	// given together with Any; they hold for the rules that have none of their
	// own.
	Any []Spec `json:"any,omitempty"`

	// Dialect is the scheduler whose rule Cron is: empty for the rules of
	// [ParseCron], or [Spring], [Quartz], [EventBridge], [Kubernetes] or [Systemd], which
	// have what each means by the fields, and its behaviour at clock changes.
	// Gap and Fold stand before the dialect's behaviour.
	Dialect string `json:"dialect,omitempty"`

	// Start and Stop are instants, written as At is. The rule does not ring
	// before Start and after Stop; it may ring at Start and at Stop. An
	// interval counts from Start.
	Start string `json:"start,omitempty"`
	Stop  string `json:"stop,omitempty"`

	// Gap selects when a time in a gap of the clock rings: [GapShift] or
	// [GapSkip]. Fold selects when a time that the clock shows twice rings:
	// [FoldFirst], [FoldLast] or [FoldBoth]. Empty means the behaviour of the
	// dialect, which is Vixie cron's for a rule without a dialect (see the
	// package documentation). Both are for cron rules and
	// intervals of days and longer, because only these depend on the wall
	// clock.
	Gap  string `json:"gap,omitempty"`
	Fold string `json:"fold,omitempty"`
}

// Rule returns the rule that s describes. An interval counts from Start, or
// from the anchor if Start is empty (also "@every D" in Cron); the other rules
// ignore the anchor. The error is an [*Error].
//
// Each call loads the data of the zone. If there are many rules, use
// [Zones.Rule], which shares the data.
func (s Spec) Rule(anchor time.Time) (Rule, error) {
	return (*Zones)(nil).Rule(s, anchor)
}

// Validate returns the [*Error] that Rule would return, or nil.
func (s Spec) Validate() error {
	_, err := s.Rule(time.Time{})
	return err
}

// Equal reports whether s and other are written in the same way.
func (s Spec) Equal(other Spec) bool {
	sameAny := slices.EqualFunc(s.Any, other.Any, Spec.Equal)
	return sameAny && s.single() == other.single()
}

// single holds all fields of a Spec except Any, and can be compared.
type single struct{ cron, every, at, zone, dialect, start, stop, gap, fold string }

func (s Spec) single() single {
	return single{s.Cron, s.Every, s.At, s.Zone, s.Dialect, s.Start, s.Stop, s.Gap, s.Fold}
}

// times returns the rule of s in one line, without its options, its bounds and Any.
func (s Spec) times() string {
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
	}
	return ""
}

// String returns s in one line for users, such as "CRON_TZ=Europe/Prague 0 9 *
// * 1-5" or "every 90s", valid or not.
func (s Spec) String() string {
	var b strings.Builder
	b.WriteString(s.times())
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

// checkOne refuses a Spec without a rule or with several rules.
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

// options are the choices that change the usual behaviour of a rule.
type options struct{ dialect, gap, fold string }

// String returns the options as they stand behind a rule's text.
func (o options) String() (text string) {
	for _, option := range [...]struct{ name, value string }{{" dialect ", o.dialect}, {" gap ", o.gap}, {" fold ", o.fold}} {
		if option.value != "" {
			text += option.name + option.value
		}
	}
	return text
}

// clock returns the clock that turns wall times into instants; fixed reports
// whether the rule names fixed times. The options must have been checked.
func (o options) clock(loc *time.Location, fixed bool) clock {
	usualGap, usualFold := GapSkip, FoldBoth
	if fixed {
		usualGap, usualFold = GapShift, FoldFirst
	}
	d := dialects[o.dialect]
	return clock{
		zone: zone{loc}, skip: cmp.Or(o.gap, d.gap, usualGap) == GapSkip,
		fold: cmp.Or(o.fold, d.fold, usualFold), cycle: cronCycle,
	}
}

// check refuses unknown values.
func (o options) check() error {
	switch {
	case dialects[o.dialect] == nil:
		return newError("dialect", o.dialect, "there is no such dialect",
			"write quartz, spring, kubernetes, eventbridge or systemd, or leave it out")
	case o.gap != "" && o.gap != GapShift && o.gap != GapSkip:
		return newError("gap", o.gap, "there is no such choice", "write shift or skip, or leave it out")
	case o.fold != "" && o.fold != FoldFirst && o.fold != FoldLast && o.fold != FoldBoth:
		return newError("fold", o.fold, "there is no such choice", "write first, last or both, or leave it out")
	}
	return nil
}

// checkFor refuses options that do not apply to the kind of rule.
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
		rule, err := z.Rule(one.within(s), anchor)
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

// within returns one of the rules of outer, with the bounds and the zone of outer where it has none of its own.
func (s Spec) within(outer Spec) Spec {
	s.Start, s.Stop = cmp.Or(s.Start, outer.Start), cmp.Or(s.Stop, outer.Stop)
	if s.Zone == "" && !namesZone(s.Cron) {
		s.Zone = outer.Zone
	}
	return s
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
		if b.Dialect == Systemd {
			if b.text, b.loc, err = cutEventZone(zones, b.text, b.loc); err != nil {
				return err
			}
		}
	}
	b.loc = orUTC(b.loc)
	return b.readBounds()
}

// readBounds reads Start and Stop.
func (b *builder) readBounds() (err error) {
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
