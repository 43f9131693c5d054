package dashboard

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

func (p *pages) schedules(ctx context.Context, r *http.Request) (*page, error) {
	query := r.URL.Query()
	f := hourbell.ScheduleFilter{After: query.Get("after"), Group: query.Get("group"), Limit: pageSize + 1}
	owner := query.Get("owner")
	if owner != "" {
		f.Owner = &owner
	}
	schedules, err := p.client.Schedules.List(ctx, f)
	if err != nil {
		return nil, err
	}
	more := len(schedules) > pageSize
	t, err := p.scheduleTable(ctx, schedules[:min(len(schedules), pageSize)], secretsFor(r))
	if err != nil {
		return nil, err
	}
	t.Caption, t.Empty = "Schedules", "No schedule is stored. `hourbell schedules put` and `hourbell apply` make schedules."
	if more {
		t.Older = link("schedules", "owner", owner, "group", f.Group, "after", schedules[pageSize-1].Name)
	}
	if f.After != "" {
		t.Newest = link("schedules", "owner", owner, "group", f.Group)
	}
	return &page{Title: "Schedules", Template: "schedules", Live: true, Data: struct {
		Table        table
		Owner, Group string
	}{t, owner, f.Group}}, nil
}

func (p *pages) scheduleTable(ctx context.Context, schedules []hourbell.ScheduleInfo, secrets bool) (table, error) {
	views := make([]view.Schedule, len(schedules))
	for i, s := range schedules {
		views[i] = view.NewSchedule(s, secrets)
	}
	if err := p.readHealth(ctx, views); err != nil {
		return table{}, err
	}
	l := view.ScheduleHealthListing()
	strip := slices.Index(l.Columns, "LAST 20")
	t := tableOf(l, views, func(s view.Schedule, column string) string {
		switch {
		case column == "NAME":
			return link("schedule", "name", s.Name)
		case column == "OWNER" && s.Owner != "":
			return link("schedules", "owner", s.Owner)
		}
		return ""
	})
	for i, s := range views {
		for j := range t.Rows[i].Cells {
			t.Rows[i].Cells[j].Zone = s.Rule.Zone
		}
		t.Rows[i].Cells[strip].Strip = stripOf(*s.Health)
	}
	return t, nil
}

// readHealth reads how the jobs of schedules have done lately.
func (p *pages) readHealth(ctx context.Context, schedules []view.Schedule) error {
	if err := view.ReadHealth(ctx, p.client, schedules); err != nil {
		return err
	}
	return view.ReadRuns(ctx, p.client, schedules)
}

// strip is the newest outcomes of a schedule as signs.
type strip struct {
	Summary string
	Signs   []stripSign
}

type stripSign struct{ Text, Tone, Title string }

// stripOf returns the strip of a schedule; nil: no slot is recorded.
func stripOf(h hourbell.ScheduleHealth) *strip {
	if len(h.Slots) == 0 {
		return nil
	}
	s := &strip{Summary: "newest slots: " + view.OutcomeCounts(h)}
	for _, sign := range view.Signs(h) {
		s.Signs = append(s.Signs, stripSign{sign.Text, view.Tone(sign.Word), plain.Stamp(sign.Slot) + " " + sign.Word})
	}
	return s
}

// scheduleData is what the page of a schedule shows.
type scheduleData struct {
	Name     string
	State    string
	Class    string
	Zone     string
	Facts    []fact
	Spans    []spanChoice
	Earlier  string
	Later    string
	Timeline *timeline
	Slots    table
	Small    *smallCharts
	Coming   []time.Time
	Cut      bool   // the range has more slots than the page shows
	Secrets  string // as of a job
}

// spanChoice is a length of the range that a timeline shows.
type spanChoice struct {
	Text, Href string
	Here       bool
}

// spans are the lengths of ranges, the shortest first.
var spans = []struct {
	text   string
	length time.Duration
}{
	{"10m", 10 * time.Minute},
	{"1h", time.Hour},
	{"6h", 6 * time.Hour},
	{"1d", 24 * time.Hour},
	{"7d", 7 * 24 * time.Hour},
	{"30d", 30 * 24 * time.Hour},
}

const (
	timelineSlots = 150 // of a timeline, the newest
	timelineNext  = 60  // slots to come
	futureShare   = 4   // a range that ends in the future has 1/futureShare of its length to come
)

// scheduleNamed returns the schedule with a name that a request has.
func (p *pages) scheduleNamed(ctx context.Context, name string) (hourbell.ScheduleInfo, error) {
	if err := check.StoredName("name", name); err != nil {
		return hourbell.ScheduleInfo{}, err
	}
	return p.client.Schedules.Get(ctx, name)
}

func (p *pages) schedule(ctx context.Context, r *http.Request) (*page, error) {
	query := r.URL.Query()
	info, err := p.scheduleNamed(ctx, query.Get("name"))
	if err != nil {
		return nil, err
	}
	name := info.Name
	now, err := p.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	newest, err := p.client.Slots.List(ctx, hourbell.SlotFilter{Schedule: name, Limit: 30})
	if err != nil {
		return nil, err
	}
	length, text := spanOf(query.Get("span"), newest, now)
	until := now.Add(length / futureShare)
	if given := query.Get("until"); given != "" {
		if until, err = view.ParseInstant("until", given, ""); err != nil {
			return nil, err
		}
	}
	from := until.Add(-length)
	slots, err := p.client.Slots.List(ctx, hourbell.SlotFilter{Schedule: name, From: from, To: until, Limit: timelineSlots})
	if err != nil {
		return nil, err
	}
	d := scheduleData{
		Name: name, State: info.State(), Class: view.Tone(info.State()), Zone: info.Rule.Zone, Cut: len(slots) == timelineSlots,
		Earlier: link("schedule", "name", name, "span", text, "until", from.Add(length/2).UTC().Format(time.RFC3339)),
	}
	if until.Before(now) {
		d.Later = link("schedule", "name", name, "span", text, "until", until.Add(length/2).UTC().Format(time.RFC3339))
	}
	for _, s := range spans {
		d.Spans = append(d.Spans, spanChoice{s.text, link("schedule", "name", name, "span", s.text, "until", query.Get("until")), s.text == text})
	}
	secrets := secretsFor(r)
	if d.Secrets = link("schedule", "name", name, "secrets", "show"); secrets {
		d.Secrets = "shown"
	}
	around, err := view.ReadAround(ctx, p.client, info)
	if err != nil {
		return nil, err
	}
	shown := []view.Schedule{view.NewSchedule(info, secrets)}
	if err := p.readHealth(ctx, shown); err != nil {
		return nil, err
	}
	d.Facts = factsOf(append(view.ScheduleFacts(shown[0]), around.Facts()...), info.Rule.Zone, map[string]string{
		"made_from": link("schedule", "name", info.MadeFrom),
		"owner":     link("schedules", "owner", info.Owner), "group": link("schedules", "group", info.Group),
	})
	d.Slots = slotTable(slots)
	d.Slots.Caption, d.Slots.Empty = "Slots of this time", "No slot is recorded in this time."
	for i := range d.Slots.Rows {
		for j := range d.Slots.Rows[i].Cells {
			d.Slots.Rows[i].Cells[j].Zone = info.Rule.Zone
		}
	}
	if until.After(now) {
		d.Coming = coming(info, now, until)
	}
	runs, err := p.runs(ctx, slots)
	if err != nil {
		return nil, err
	}
	if d.Small, err = p.lastDay(ctx, hourbell.StatsBySchedule, name); err != nil {
		return nil, err
	}
	d.Timeline = drawSlots(from, until, now, slots, runs, d.Coming)
	return &page{Title: "Schedule " + name, Template: "schedule", Live: true, Data: d}, nil
}

// spanOf returns the length of the range that was asked for or, by default, the shortest
// that has all the newest slots.
func spanOf(asked string, newest []store.SlotInfo, now time.Time) (time.Duration, string) {
	for _, s := range spans {
		if s.text == asked {
			return s.length, s.text
		}
	}
	for _, s := range spans {
		if n := len(newest); n == 0 && s.length >= 24*time.Hour || n > 0 && now.Sub(newest[n-1].Slot) <= s.length-s.length/futureShare {
			return s.length, s.text
		}
	}
	last := spans[len(spans)-1]
	return last.length, last.text
}

// coming returns the next slots of a schedule before an instant, as its nodes would let
// them fire.
func coming(info hourbell.ScheduleInfo, now, until time.Time) []time.Time {
	from := now
	if info.Mark.After(now) {
		from = info.Mark.Add(time.Microsecond)
	}
	if info.State() != "active" || !from.Before(until) {
		return nil
	}
	explained, err := info.Explain(hourbell.ExplainRequest{From: from, To: until, Limit: timelineNext, Anchor: info.Anchor})
	if err != nil { // the schedule was stored, so only its calendars can be at fault; its problem is among the facts
		return nil
	}
	var next []time.Time
	for _, slot := range explained.Slots {
		if slot.Outcome == store.SlotFired.String() {
			next = append(next, slot.Slot)
		}
	}
	return next
}

// runs returns the jobs that slots made, as far as they are kept.
func (p *pages) runs(ctx context.Context, slots []store.SlotInfo) ([]store.JobInfo, error) {
	var ids []int64
	for _, slot := range slots {
		if slot.Job != 0 {
			ids = append(ids, slot.Job)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return p.client.Jobs.List(ctx, hourbell.JobFilter{IDs: ids, Limit: len(ids)})
}

// whatIfData is what the page of a simulation shows.
type whatIfData struct {
	Name, Zone string
	Form       map[string]string
	Table      table
	Timeline   *timeline
	More       bool
	Shown      bool  // a simulation was asked for
	MayUse     bool  // the rule of the simulation can replace the rule of the schedule
	Revision   int64 // of the schedule, if MayUse
}

// whatIf simulates a range of time for a schedule, with another rule, a time without nodes,
// or jobs that take long. It changes nothing.
func (p *pages) whatIf(ctx context.Context, r *http.Request) (*page, error) {
	query := r.URL.Query()
	info, err := p.scheduleNamed(ctx, query.Get("name"))
	if err != nil {
		return nil, err
	}
	name := info.Name
	now, err := p.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	d := whatIfData{Name: name, Zone: info.Rule.Zone, Form: map[string]string{
		"cron": info.Rule.Cron, "every": info.Rule.Every, "tz": info.Rule.Zone,
		"from": now.UTC().Truncate(time.Minute).Format(time.RFC3339), "to": now.UTC().Truncate(time.Minute).Add(24 * time.Hour).Format(time.RFC3339),
	}}
	if d.Shown = query.Has("from"); !d.Shown {
		return &page{Title: "What if: " + name, Template: "whatif", Data: d}, nil
	}
	for _, field := range []string{"cron", "every", "tz", "from", "to", "down-from", "down-to", "run-time"} {
		d.Form[field] = query.Get(field)
	}
	req, err := whatIfRequest(d.Form, now)
	if err != nil {
		return nil, err
	}
	if editable(info.Rule) {
		info.Rule.Cron, info.Rule.Every, info.Rule.Zone = d.Form["cron"], d.Form["every"], d.Form["tz"]
		d.MayUse = info.Owner == "" && info.Problem == "" && p.mayDefineAll(ctx, info.Schedule) == nil
		d.Revision = info.Revision
	}
	explained, err := info.Explain(req)
	if err != nil {
		return nil, err
	}
	d.Table = tableOf(view.ExplainListing(), view.ExplainRecords(explained, info.Rule.Zone), nil)
	d.Table.Caption, d.Table.Empty = "What each slot would become", "There is no slot in this time."
	d.More, d.Timeline = explained.More, drawExplained(req, explained)
	return &page{Title: "What if: " + name, Template: "whatif", Data: d}, nil
}

// editable reports whether the forms of pages can change a rule: they have a field for a cron rule, and a field for an interval.
func editable(rule recur.Spec) bool {
	return rule.At == "" && len(rule.Any) == 0 && rule.Cron+rule.Every != ""
}

// mostExplained is how many slots a simulation shows.
const mostExplained = 200

// whatIfRequest reads the form of a simulation.
func whatIfRequest(form map[string]string, now time.Time) (req hourbell.ExplainRequest, err error) {
	req.Limit = mostExplained
	read := func(field string) (at time.Time) {
		if err == nil {
			at, err = view.TypedInstant(field, form[field], form["tz"], now)
		}
		return at
	}
	req.From, req.To = read("from"), read("to")
	if form["down-from"] != "" || form["down-to"] != "" {
		req.Down = []hourbell.Span{{From: read("down-from"), To: read("down-to")}}
	}
	if text := form["run-time"]; text != "" && err == nil {
		if req.RunTime, err = time.ParseDuration(text); err != nil {
			err = fieldError("run-time", text, "is not a duration", "write it like 90s or 1h30m")
		}
	}
	return req, err
}

// confirmBackfill shows what a backfill would do.
func (p *pages) confirmBackfill(ctx context.Context, r *http.Request) (*page, error) {
	query := r.URL.Query()
	info, err := p.scheduleNamed(ctx, query.Get("name"))
	if err != nil {
		return nil, err
	}
	name := info.Name
	now, err := p.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	req, err := backfillRequest(query.Get, info.Rule.Zone, now)
	if err != nil {
		return nil, err
	}
	req.DryRun = true
	would, err := p.client.Schedules.Backfill(ctx, name, req)
	if err != nil {
		return nil, err
	}
	t := tableOf(view.BackfillListing(), view.BackfillRecords(hourbell.BackfillResult{Slots: would.Slots[:min(len(would.Slots), pageSize)]}), nil)
	t.Caption, t.Empty = "Slots to run again, oldest first", "The schedule has no slot in this time."
	return &page{Title: "Backfill " + name, Template: "backfill", Data: struct {
		Name, From, To, Overlap, Force, Dependents string
		Count, Shown                               int
		Table                                      table
	}{
		name, req.From.UTC().Format(time.RFC3339Nano), req.To.UTC().Format(time.RFC3339Nano), string(req.Overlap), query.Get("force"), query.Get("dependents"),
		len(would.Slots), min(len(would.Slots), pageSize), t,
	}}, nil
}

// backfillRequest reads the form of a backfill. Instants without an offset are on the
// clock of the zone.
func backfillRequest(get func(string) string, zone string, now time.Time) (req hourbell.BackfillRequest, err error) {
	if req.From, err = view.TypedInstant("from", get("from"), zone, now); err != nil {
		return req, err
	}
	if req.To, err = view.TypedInstant("to", get("to"), zone, now); err != nil {
		return req, err
	}
	req.Overlap = hourbell.Overlap(get("overlap"))
	if req.Dependents, err = strconv.ParseBool(orFalse(get("dependents"))); err != nil {
		return req, err
	}
	req.Force, err = strconv.ParseBool(orFalse(get("force")))
	return req, err
}

func orFalse(text string) string {
	if text == "" {
		return "false"
	}
	return text
}
