package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/redact"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
)

// editData is what the page shows that makes, changes or deletes something: a schedule, a limit, a calendar or a handler.
type editData struct {
	Thing    string // as in the paths of its pages
	Name     string // of what is stored; empty: it is made
	Revision int64  // that the form was made from
	Fixed    string // why the page cannot change it; empty: it can
	Left     string // what a deletion leaves
	Note     string // what the form has to say; may be empty
	Sections []editSection
	Problem  string // why nothing was stored; may be empty
	Conflict []difference
	Previews bool // the form has a preview, which may be empty
	Preview  *preview
}

// again returns the answer to a form that was not carried out for a reason: the form with the reason.
func (d editData) again(problem problem) error {
	d.Problem = problem.Problem
	if problem.Remedy != "" {
		d.Problem += ": " + problem.Remedy
	}
	return &againError{problem.Status, editPage(d)}
}

// editSection is a part of the form.
type editSection struct {
	Legend string
	Fields []editField
}

// editField is a field of the form, named as the key of schedule files.
type editField struct {
	Name, Value, About string
	Words              []string // of a choice
	Truth, Number      bool
	Lines              bool // it has several lines
	Fixed              bool // it cannot be changed
}

// difference is a field that another caller has changed, or that this caller has: side by side.
type difference struct{ Name, Stored, Yours string }

// preview is what a definition means.
type preview struct {
	Zone     string
	Next     []time.Time
	Note     string   // instead of instants; may be empty
	Stay     int      // slots of the next week that the change leaves as they are
	Changes  []change // what the change does to the others
	Left     int      // changes that are not shown
	Compared bool     // there is a stored schedule
	Until    time.Time
}

// change is a slot before and after a change of its schedule; empty: there is no such slot.
type change struct {
	At            time.Time
	Before, After string
}

const (
	week        = 7 * 24 * time.Hour
	nextShown   = 10
	mostChanges = 50
)

// againError is the answer to a form that is shown again instead of carried out.
type againError struct {
	status int
	page   *page
}

func (e *againError) Error() string { return "the form is shown again" }

// editSchedule shows the form of a schedule.
func (p *pages) editSchedule(ctx context.Context, r *http.Request) (*page, error) {
	if err := access.Require(ctx, access.Operator, "change schedules"); err != nil {
		return nil, err
	}
	if !r.URL.Query().Has("name") {
		d := editDataOf(hourbell.ScheduleInfo{})
		d.Sections = sectionsOf(url.Values{}, recur.Spec{}, false)
		return editPage(d), nil
	}
	info, err := p.scheduleNamed(ctx, r.URL.Query().Get("name"))
	if err != nil {
		return nil, err
	}
	d := editDataOf(info)
	d.Sections = sectionsOf(formOf(info.Schedule), info.Rule, true)
	if d.Fixed == "" {
		d.Preview, err = p.preview(ctx, &info, info.Schedule)
	}
	return editPage(d), err
}

func editPage(d editData) *page {
	title := "New " + d.Thing
	if d.Name != "" {
		title = "Edit " + d.Name
	}
	return &page{Title: title, Template: "edit", Data: d}
}

// editDataOf returns what the page says of a stored schedule besides its form.
func editDataOf(info hourbell.ScheduleInfo) editData {
	d := editData{Thing: "schedule", Name: info.Name, Revision: info.Revision, Previews: true, Left: "No slot fires any more. Jobs that it has made stay."}
	switch {
	case info.Owner != "":
		d.Fixed = fmt.Sprintf("It belongs to %s, which would undo a change made here. Change it there.", info.Owner)
	case info.MadeFrom != "":
		d.Fixed = fmt.Sprintf("It is made from the schedule %s, for one host. Change that schedule.", info.MadeFrom)
	case info.Problem != "":
		d.Fixed = "This release cannot read its definition: " + info.Problem
	}
	return d
}

// ruleFields are the fields of a rule, with what they mean.
var ruleFields = []editField{
	{Name: "cron", About: "A cron rule, such as 30 2 * * *"},
	{Name: "every", About: "Or an interval, such as 90s or 1 month"},
	{Name: "at", About: "Or one instant, such as 2027-03-01T09:00:00"},
	{Name: "tz", About: "The zone of the rule; default UTC"},
}

// keysOf returns the keys of schedules that the form has: all, but for a union of rules not these that are part of each rule.
func keysOf(rule recur.Spec) []declared.Key {
	return slices.DeleteFunc(slices.Clone(declared.Keys()), func(k declared.Key) bool {
		return len(rule.Any) > 0 && slices.Contains([]string{"start", "stop", "gap", "fold", "dialect"}, k.Name)
	})
}

// formOf returns a definition as the form has it. Values that may be secrets are hidden.
func formOf(s hourbell.Schedule) url.Values {
	job := declared.Raw(s.Job)
	form := url.Values{"name": {s.Name}, "kind": {job.Name}, "args": {indented(kinds.Redact(job.Name, job.JSON))}}
	if len(s.Rule.Any) > 0 {
		form.Set("rule", s.Rule.String())
	} else {
		form["cron"], form["every"], form["at"], form["tz"] = []string{s.Rule.Cron}, []string{s.Rule.Every}, []string{s.Rule.At}, []string{s.Rule.Zone}
	}
	for _, key := range keysOf(s.Rule) {
		form.Set(key.Name, key.Text(s))
	}
	var edges []string
	for _, edge := range s.After {
		edges = append(edges, edge.String())
	}
	form.Set("after", strings.Join(edges, "\n"))
	for _, name := range declared.HookKeys() {
		var hooks []string
		for _, hook := range s.Hooks.Field(name) {
			hooks = append(hooks, hookLine(declared.Raw(hook)))
		}
		form.Set(name, strings.Join(hooks, "\n"))
	}
	return form
}

// hookLine returns the job of a hook as the form has it: its kind and its arguments. Values that may be secrets are hidden.
func hookLine(hook hourbell.RawArgs) string {
	return hook.Name + " " + string(compacted(kinds.Redact(hook.Name, hook.JSON)))
}

// hooksOf reads the lines of a field of hooks. A line as the form showed it is the hook as stored, with the values that the form hides.
func hooksOf(field, text string, stored []hourbell.Args) (hooks []hourbell.Args, err error) {
	for _, line := range lines(text) {
		i := slices.IndexFunc(stored, func(hook hourbell.Args) bool { return hookLine(declared.Raw(hook)) == line })
		if i >= 0 {
			hooks = append(hooks, stored[i])
			continue
		}
		hook := hourbell.RawArgs{Name: line, JSON: []byte("null")}
		for i, r := range line {
			if args := []byte(strings.TrimSpace(line[i:])); r == ' ' && json.Valid(args) {
				hook = hourbell.RawArgs{Name: strings.TrimSpace(line[:i]), JSON: args}
				break
			}
		}
		err = errors.Join(err, kinds.CheckArgs(hook.Name, hook.JSON))
		if strings.Contains(line, redact.Hidden) {
			err = errors.Join(err, maskError(field))
		}
		hooks = append(hooks, hook)
	}
	return hooks, err
}

// edgesOf reads the schedules that a schedule follows, a line each. A line as the form showed it is the edge as stored.
func edgesOf(text string, stored []hourbell.ScheduleEdge) (edges []hourbell.ScheduleEdge, err error) {
	for _, line := range lines(text) {
		i := slices.IndexFunc(stored, func(edge hourbell.ScheduleEdge) bool { return edge.String() == line })
		if i >= 0 {
			edges = append(edges, stored[i])
			continue
		}
		edge, wrong := hourbell.ParseScheduleEdge(line)
		edges, err = append(edges, edge), errors.Join(err, wrong)
	}
	return edges, err
}

// maskError is the error of a field with a value that the page hides in the place of the value itself.
func maskError(field string) error {
	return fieldError(field, "", "have “"+redact.Hidden+"” in the place of a value that the page hides",
		"write all values, or leave them as the page shows them")
}

// sectionsOf returns the form of a schedule with these values.
func sectionsOf(form url.Values, rule recur.Spec, stored bool) []editSection {
	about := []editField{
		{Name: "name", About: "The name, by which it is known"},
		{Name: "kind", About: "The kind of its jobs"},
		{Name: "args", About: "The arguments of its jobs, as JSON", Lines: true},
	}
	rules := slices.Clone(ruleFields)
	if len(rule.Any) > 0 {
		rules = []editField{{Name: "rule", About: "Several rules together, as “hourbell schedules show” has them", Lines: true}}
	}
	rules = append(rules, editField{
		Name: "after", Lines: true, About: "Or, instead of a rule, the schedules after whose jobs it starts, a line each, such as export:failure:5m",
	})
	hooks := editSection{Legend: "Hooks"}
	for _, name := range declared.HookKeys() {
		about := declared.HookAbout(name) + ": a job, with its kind and its arguments, such as mail {\"to\":\"ops\"}, on a line each"
		hooks.Fields = append(hooks.Fields, editField{Name: name, About: about, Lines: true})
	}
	sections := []editSection{{"Schedule", about}, {"Rule", rules}, {Legend: "Jobs"}, {Legend: "Policies"}, hooks}
	jobs, policies := declared.NamesOf(declared.JobKeys()), declared.NamesOf(declared.PolicyKeys())
	for _, field := range fieldsOf(keysOf(rule)) {
		to := 1
		switch {
		case slices.Contains(jobs, field.Name):
			to = 2
		case slices.Contains(policies, field.Name), field.Truth:
			to = 3
		}
		sections[to].Fields = append(sections[to].Fields, field)
	}
	fill(sections, form, stored)
	return sections
}

// fieldsOf returns the fields of keys.
func fieldsOf(keys []declared.Key) (fields []editField) {
	for _, key := range keys {
		sort := key.Form.Type
		fields = append(fields, editField{
			Name: key.Name, About: key.About, Words: key.Form.Words, Truth: sort == declared.IsTruth, Number: sort == declared.IsNumber,
		})
	}
	return fields
}

// definitionOf reads a form. What the form does not have is as in the stored schedule, and so is what the form has left as it was.
func definitionOf(form url.Values, stored hourbell.Schedule) (hourbell.Schedule, error) {
	s, before := stored, formOf(stored)
	s.Name = form.Get("name")
	var errs []error
	switch text := form.Get("rule"); {
	case text == "":
		s.Rule.Any = nil
		s.Rule.Cron, s.Rule.Every, s.Rule.At, s.Rule.Zone = form.Get("cron"), form.Get("every"), form.Get("at"), form.Get("tz")
	case text != before.Get("rule"):
		rule, err := recur.ParseSpec(text)
		s.Rule, errs = rule, append(errs, err)
	}
	for _, key := range keysOf(stored.Rule) {
		switch text := form.Get(key.Name); {
		case text == before.Get(key.Name):
		case text == "":
			key.Clear(&s)
		default:
			errs = append(errs, key.Set(&s, text))
		}
	}
	after, err := edgesOf(form.Get("after"), stored.After)
	s.After, errs = after, append(errs, err)
	for _, name := range declared.HookKeys() {
		hooks, err := hooksOf(name, form.Get(name), stored.Hooks.Field(name))
		s.Hooks.Set(name, hooks...)
		errs = append(errs, err)
	}
	job, err := jobOf(form.Get("kind"), form.Get("args"), declared.Raw(stored.Job))
	if s.Job = job; err == nil {
		err = kinds.CheckArgs(job.Name, job.JSON)
	}
	if err := errors.Join(append(errs, check.Name("name", s.Name), err)...); err != nil {
		return s, err
	}
	return s, s.Validate()
}

// jobOf returns the job that a form describes. Arguments that the form has left as it showed them are as stored, with the values that
// the form hides.
func jobOf(kind, args string, stored hourbell.RawArgs) (hourbell.RawArgs, error) {
	job := hourbell.RawArgs{Name: kind, JSON: compacted([]byte(cmp.Or(args, "null")))}
	shown := kinds.Redact(stored.Name, stored.JSON)
	switch {
	case job.Name == stored.Name && bytes.Equal(job.JSON, compacted(shown)):
		return stored, nil
	case !bytes.Equal(shown, stored.JSON) && bytes.Contains(job.JSON, []byte(redact.Hidden)):
		return job, maskError("args")
	}
	return job, nil
}

func indented(text []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return string(text)
	}
	return out.String()
}

// compacted returns JSON without space between its parts; a text that is not JSON is returned as it is.
func compacted(text []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return text
	}
	return out.Bytes()
}

// putSchedule stores what a form describes, or shows the form again: with a preview, with mistakes, or with what others have changed.
func (p *pages) putSchedule(ctx context.Context, form url.Values) (done, next string, err error) {
	var before *hourbell.ScheduleInfo
	var stored hourbell.Schedule
	revision, d := hourbell.OnlyNew, editDataOf(hourbell.ScheduleInfo{})
	if form.Has("revision") {
		info, err := p.scheduleNamed(ctx, form.Get("name"))
		if err != nil {
			return "", "", err
		}
		if revision, err = number("revision", form.Get("revision")); err != nil {
			return "", "", err
		}
		before, stored, d = &info, info.Schedule, editDataOf(info)
		if d.Fixed != "" {
			return "", "", &access.RefusedError{Status: http.StatusConflict, Problem: "the schedule was not changed", Remedy: d.Fixed}
		}
	}
	d.Sections = sectionsOf(form, stored.Rule, before != nil)
	if before != nil && before.Revision != revision {
		d.Conflict = differences(formOf(stored), form, d.Sections)
		return "", "", &againError{http.StatusConflict, editPage(d)}
	}
	edited, err := definitionOf(form, stored)
	if err == nil {
		d.Preview, err = p.preview(ctx, before, edited)
	}
	if err == nil && form.Get("do") == "preview" {
		return "", "", &againError{http.StatusOK, editPage(d)}
	}
	if err == nil {
		err = errors.Join(p.mayDefineAll(ctx, edited), p.mayDefineAll(ctx, stored))
	}
	if edited.Revision = revision; err == nil {
		_, err = p.client.Schedules.Put(ctx, edited)
	}
	if err != nil {
		return "", "", d.again(p.problemOf(err))
	}
	return "The schedule " + edited.Name + " is stored.", link("schedule", "name", edited.Name), nil
}

// differences returns the fields in which what is stored and a form differ.
func differences(stored, form url.Values, sections []editSection) (all []difference) {
	for _, s := range sections {
		for _, f := range s.Fields {
			if one := (difference{f.Name, stored.Get(f.Name), form.Get(f.Name)}); one.Stored != one.Yours {
				all = append(all, one)
			}
		}
	}
	return all
}

// preview returns what a definition means: its next instants, and what it does to the next week of a stored schedule.
func (p *pages) preview(ctx context.Context, before *hourbell.ScheduleInfo, edited hourbell.Schedule) (*preview, error) {
	d := &preview{Zone: edited.Rule.Zone}
	if edited.Follows() {
		d.Note = "It has no timetable: it starts when jobs of other schedules end."
		return d, nil
	}
	now, err := p.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	var calendars []*recur.Calendar
	edited.Exclude = slices.Clone(edited.Exclude)
	for i, c := range edited.Exclude {
		if c.Stored {
			found, err := p.client.Calendars.Get(ctx, c.Name)
			if err != nil {
				return nil, err
			}
			edited.Exclude[i] = found.Calendar
		}
		calendar, err := edited.Exclude[i].Calendar()
		if err != nil {
			return nil, err
		}
		calendars = append(calendars, calendar)
	}
	after := hourbell.ScheduleInfo{Schedule: edited, Anchor: now}
	if before != nil {
		after = *before
		after.Schedule = edited
	}
	rule, err := edited.Rule.Rule(after.Anchor)
	if err != nil {
		return nil, err
	}
	for at, err := range view.Slots(rule, now, nextShown, edited.Rule.Zone, calendars...) {
		if err != nil {
			d.Note = plain.OneLine(err.Error())
			break
		}
		d.Next = append(d.Next, at)
	}
	if before == nil || before.Follows() {
		return d, nil
	}
	d.Compared, d.Until = true, now.Add(week)
	was, until, err := weekOf(*before, now, d.Until)
	if err != nil {
		return nil, err
	}
	d.Until = until
	will, until, err := weekOf(after, now, d.Until)
	if err != nil {
		return nil, err
	}
	d.Until = until
	d.compare(was, will)
	return d, nil
}

// weekOf returns what becomes of the slots of a schedule until an instant, or until an earlier one if there are very many.
func weekOf(s hourbell.ScheduleInfo, from, to time.Time) (map[time.Time]string, time.Time, error) {
	explained, err := s.Explain(hourbell.ExplainRequest{From: from, To: to, Anchor: s.Anchor})
	if err != nil {
		return nil, to, err
	}
	slots := map[time.Time]string{}
	for _, slot := range explained.Slots {
		word := slot.Outcome
		if slot.Count > 1 {
			word = fmt.Sprintf("%s, %d slots", word, slot.Count)
		}
		slots[slot.Slot.UTC()] = word
	}
	if explained.More {
		to = explained.Slots[len(explained.Slots)-1].Slot
	}
	return slots, to, nil
}

// compare adds how two weeks differ before Until.
func (d *preview) compare(was, will map[time.Time]string) {
	for at, word := range was {
		if at.Before(d.Until) && will[at] == word {
			d.Stay++
		} else if at.Before(d.Until) {
			d.Changes = append(d.Changes, change{at, word, cmp.Or(will[at], "–")})
		}
	}
	for at, word := range will {
		if at.Before(d.Until) && was[at] == "" {
			d.Changes = append(d.Changes, change{at, "–", word})
		}
	}
	slices.SortFunc(d.Changes, func(a, b change) int { return a.At.Compare(b.At) })
	d.Left = max(len(d.Changes)-mostChanges, 0)
	d.Changes = d.Changes[:len(d.Changes)-d.Left]
}

// deleteSchedule deletes a schedule.
func (p *pages) deleteSchedule(ctx context.Context, name string) (done, next string, err error) {
	info, err := p.client.Schedules.Get(ctx, name)
	if err != nil {
		return "", "", err
	}
	if fixed := editDataOf(info).Fixed; fixed != "" && info.Problem == "" {
		return "", "", &access.RefusedError{Status: http.StatusConflict, Problem: "the schedule was not deleted", Remedy: fixed}
	}
	return "The schedule " + name + " is deleted. Jobs that it has made stay.", "schedules", p.client.Schedules.DeleteIf(ctx, name, info.Revision)
}
