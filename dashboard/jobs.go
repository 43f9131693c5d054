package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// filterOf returns the parameters of a query that select jobs, named as the flags of `hourbell jobs list`, without empty values.
func filterOf(query url.Values) url.Values {
	filter := url.Values{}
	keep := func(name string) {
		for _, value := range query[name] {
			if value != "" {
				filter.Add(name, value)
			}
		}
	}
	for _, condition := range new(view.JobConditions).Each() {
		keep(condition.Name)
	}
	keep("id")
	return filter
}

// readFilter reads which jobs the parameters of filterOf select.
func (p *pages) readFilter(ctx context.Context, filter url.Values) (hourbell.JobFilter, error) {
	var conditions view.JobConditions
	var wrong error
	for _, condition := range conditions.Each() {
		values := filter[condition.Name]
		if len(values) == 0 {
			continue
		}
		switch to := condition.Value.(type) {
		case *[]string:
			*to = values
		case *string:
			*to = values[0]
		case *int64:
			*to, wrong = number(condition.Name, values[0])
		}
	}
	selection, err := conditions.Select()
	err = errors.Join(err, wrong)
	for _, text := range filter["id"] {
		id, wrong := number("id", text)
		selection.IDs, err = append(selection.IDs, id), errors.Join(err, wrong)
	}
	if err != nil {
		return selection.JobFilter, err
	}
	return selection.At(ctx, p.client)
}

// areInstants reports whether the values of a parameter of filterOf are instants.
func areInstants(name string) bool {
	return strings.HasSuffix(name, "since") || strings.HasSuffix(name, "until")
}

// atInstants returns a filter in which a time such as 2h, which means 2 hours ago, is an instant, so that the filter selects
// the same jobs later.
func atInstants(filter url.Values, now time.Time) url.Values {
	fixed := url.Values{}
	for name, values := range filter {
		for _, value := range values {
			if ago, ok := view.ParseAgo(value); ok && areInstants(name) {
				value = now.Add(-ago).UTC().Format(time.RFC3339Nano)
			}
			fixed.Add(name, value)
		}
	}
	return fixed
}

// typed replaces the instants of a filter that are written as people write them, such as yesterday 9:00, by instants in the form
// that addresses have, which means the same later. It reports whether there are any.
func typed(filter url.Values, zone string, now time.Time) (some bool) {
	for name, texts := range filter {
		if !areInstants(name) {
			continue
		}
		if _, wrong := view.ParseInstant(name, texts[0], ""); wrong == nil {
			continue
		}
		if at, err := view.TypedInstant(name, texts[0], zone, now); err == nil {
			some = true
			filter.Set(name, at.UTC().Format(time.RFC3339))
		}
	}
	return some
}

// jobsData is what the page of jobs shows.
type jobsData struct {
	Filter url.Values
	States []choice
	Table  table
	Any    bool // a condition is given
	Verbs  []verb
}

// choice is a value of a form that can be chosen.
type choice struct {
	Value  string
	Chosen bool
}

func (p *pages) jobs(ctx context.Context, r *http.Request) (*page, error) {
	now, err := p.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	filter := filterOf(query)
	if typed(filter, query.Get("zone"), now) {
		return &page{Template: "jobs", Next: withQuery("jobs", filter)}, nil
	}
	f, err := p.readFilter(ctx, filter)
	if before := query.Get("before"); before != "" && err == nil {
		f.Before, err = number("before", before)
	}
	if err != nil {
		return nil, err
	}
	f.Limit = pageSize
	found, err := p.client.Jobs.Page(ctx, f)
	if err != nil {
		return nil, err
	}
	d := jobsData{Filter: filter, Any: len(filter) > 0, Verbs: verbs}
	if d.Table, err = p.jobTable(ctx, found.Jobs, now); err != nil {
		return nil, err
	}
	d.Table.Caption, d.Table.Empty = "Jobs, newest first", "No job matches."
	caller, _ := access.FromContext(r.Context())
	for i, j := range found.Jobs {
		if caller.Role < access.Operator {
			break
		}
		d.Table.Rows[i].Choice = strconv.FormatInt(j.ID, 10)
	}
	if found.Partial {
		d.Table.Empty = "No job matches so far."
		d.Table.Note = searched(found.Next) + " “More” goes on there."
	}
	if found.Next != 0 {
		older := filterOf(query)
		older.Set("before", strconv.FormatInt(found.Next, 10))
		d.Table.Older = withQuery("jobs", older)
	}
	if f.Before != 0 {
		d.Table.Newest = withQuery("jobs", filter)
	}
	chosen := map[string]bool{}
	for _, word := range filter["state"] {
		chosen[word] = true
	}
	for _, word := range view.ListedStates() {
		d.States = append(d.States, choice{word, chosen[word]})
	}
	return &page{Title: "Jobs", Template: "jobs", Live: true, Data: d}, nil
}

// jobTable shows jobs as the program's `jobs list` does.
func (p *pages) jobTable(ctx context.Context, jobs []store.JobInfo, now time.Time) (table, error) {
	if err := p.addDetails(ctx, jobs); err != nil {
		return table{}, err
	}
	views, err := view.Jobs(ctx, p.client, false, jobs...)
	if err != nil {
		return table{}, err
	}
	return tableOf(view.JobListing(now), views, func(j view.Job, column string) string {
		switch {
		case column == "ID":
			return jobLink(j.ID)
		case column == "QUEUE":
			return link("jobs", "queue", j.Queue)
		case column == "KIND":
			return link("jobs", "kind", j.Kind)
		case column == "SCHEDULE" && j.ScheduleName != "":
			return link("schedule", "name", j.ScheduleName)
		}
		return ""
	}), nil
}

// addDetails reads the details of jobs that wait, which are why they wait. The other jobs
// of a table do without, because arguments can be large.
func (p *pages) addDetails(ctx context.Context, jobs []store.JobInfo) error {
	at := map[int64]int{}
	var ids []int64
	for i, j := range jobs {
		if j.State == store.StateWaiting || j.Retrying() {
			at[j.ID], ids = i, append(ids, j.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := p.client.Jobs.List(ctx, hourbell.JobFilter{IDs: ids, Limit: len(ids), Details: true})
	for _, j := range found {
		jobs[at[j.ID]] = j
	}
	return err
}

func jobLink(id int64) string { return "job?id=" + strconv.FormatInt(id, 10) }

// jobData is what the page of a job shows.
type jobData struct {
	ID       string
	Facts    []fact
	Steps    table
	Taken    []string // the steps that the job has taken
	Awaited  []string // signals for which the job waits
	Attempts table
	Texts    []attemptText
	Progress *progress
	Printing string // what the attempt that runs has printed
	Graph    *graph
	Live     bool   // it has not finished
	Running  bool   // it runs
	Waiting  bool   // it waits for other jobs
	Secrets  string // "", "shown" or, for a caller who may see them, the address that shows them
}

// attemptText has the texts of an attempt that its table has no room for.
type attemptText struct {
	ID                   string // of the element
	Attempt              int16
	Node                 string
	StartedAt            time.Time
	Error, Trace, Output string
}

// progress is how far a job has come.
type progress struct {
	Text string
	Part float64 // 0 … 1; 0: not known
}

func (p *pages) job(ctx context.Context, r *http.Request) (*page, error) {
	id, err := number("id", r.URL.Query().Get("id"))
	if err != nil {
		return nil, err
	}
	info, err := p.client.Jobs.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	now, err := p.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	secrets := secretsFor(r)
	views, err := view.Jobs(ctx, p.client, secrets, info)
	if err != nil {
		return nil, err
	}
	j := views[0]
	d := jobData{ID: strconv.FormatInt(id, 10), Live: !j.State.Finished(), Running: j.State == store.StateRunning, Waiting: j.State == store.StateWaiting}
	links := map[string]string{
		"queue": link("jobs", "queue", j.Queue), "kind": link("jobs", "kind", j.Kind),
		"group": link("jobs", "group", j.Group), "key": link("pause", "of", "key", "name", j.Key),
	}
	if j.ScheduleName != "" {
		links["schedule"] = link("schedule", "name", j.ScheduleName)
	}
	facts := view.JobFacts(j, now)
	if n := len(j.Attempts); n > 0 && j.Attempts[n-1].Error == j.Reason { // the attempt has it
		facts = slices.DeleteFunc(facts, func(f view.Fact) bool { return f.Name == "reason" })
	}
	d.Facts = factsOf(facts, "", links)
	d.Attempts = tableOf(view.AttemptListing(), j.Attempts, nil)
	d.Attempts.Caption, d.Attempts.Empty = "Attempts", "No attempt has left a record."
	for i, a := range j.Attempts {
		text := attemptText{fmt.Sprintf("attempt-%d", i+1), a.Attempt, a.Node, a.StartedAt, "", a.Trace, view.KeptOutput(store.PrintedBy(a.Printed, a.Output))}
		if plain.FirstLine(a.Error) != a.Error { // the table has no room for it
			text.Error = a.Error
			d.Attempts.Rows[i].Cells[len(d.Attempts.Columns)-1] = cell{Text: "see below", Href: "#" + text.ID}
		}
		if text.Error+text.Trace+text.Output != "" {
			d.Texts = append(d.Texts, text)
		}
	}
	if err := view.AddOutput(ctx, p.client, &j); err != nil {
		return nil, err
	}
	if err := view.AddSteps(ctx, p.client, &j, secrets); err != nil {
		return nil, err
	}
	if len(j.Steps) > 0 {
		d.Steps = tableOf(view.StepListing(), j.Steps, nil)
		d.Steps.Caption, d.Awaited, d.Taken = "Steps", awaited(j.Steps), taken(j.Steps)
	}
	d.Printing = view.KeptOutput(j.Printing)
	if text := view.ShownProgress(j.Progress); text != "" {
		d.Progress = &progress{text, view.ProgressPart(j.Progress)}
	}
	if d.Graph, err = p.graphOf(ctx, info); err != nil {
		return nil, err
	}
	switch {
	case secrets:
		d.Secrets = "shown"
	default:
		d.Secrets = jobLink(id) + "&secrets=show"
	}
	return &page{Title: "Job " + d.ID, Template: "job", Live: true, Data: d}, nil
}

// fieldError returns the error for a value of a form.
func fieldError(field, value, wrong, remedy string) error {
	return &check.FieldError{Field: field, Value: check.Shorten(value), Problem: wrong, Remedy: remedy}
}
