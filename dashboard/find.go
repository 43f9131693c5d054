package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// thing is something that a search has found.
type thing struct {
	Sort, Name, Href string
	exact            bool // its name or number is the text that was searched for, and not only begins with it
}

// findData is what the page of a search shows.
type findData struct {
	Text   string
	Things []thing
	More   bool   // of some sort there are more things than are shown
	Note   string // what was not searched to its end; may be empty
}

// eachFound is how many things of a sort a search shows.
const eachFound = 20

// find searches for things by number, name or the beginning of a name. If one thing has exactly that name or number, or is the
// only one whose name begins so, the page leads to it.
func (p *pages) find(ctx context.Context, r *http.Request) (*page, error) {
	d := findData{Text: strings.TrimSpace(r.URL.Query().Get("q"))}
	shown := &page{Title: "Find", Template: "find", Data: &d}
	if d.Text == "" || check.StoredName("q", d.Text) != nil {
		return shown, nil //nolint:nilerr // nothing has such a name
	}
	if condition, found := strings.CutPrefix(d.Text, "args."); found {
		if _, err := hourbell.ParseArgsCondition(condition); err == nil {
			shown.Next = link("jobs", "args", condition)
			return shown, nil
		}
	}
	for _, search := range []func(context.Context, *findData) error{p.findNumber, p.findSchedules, p.findNames, p.findJobs} {
		if err := search(ctx, &d); err != nil {
			return nil, err
		}
	}
	if one := only(d.Things); one != nil && d.Note == "" {
		shown.Next = one.Href
	}
	return shown, nil
}

// only returns the thing that must be meant; nil: there are several, or none.
func only(things []thing) *thing {
	var exact []thing
	for _, t := range things {
		if t.exact {
			exact = append(exact, t)
		}
	}
	switch {
	case len(exact) == 1:
		return &exact[0]
	case len(things) == 1:
		return &things[0]
	}
	return nil
}

// findNumber finds the job and the batch with a number, which may be written as #12.
func (p *pages) findNumber(ctx context.Context, d *findData) error {
	id, err := strconv.ParseInt(strings.TrimPrefix(d.Text, "#"), 10, 64)
	if err != nil || id < 1 {
		return nil //nolint:nilerr // the text is no number
	}
	text := strconv.FormatInt(id, 10)
	if _, err = p.client.Jobs.Get(ctx, id); err == nil {
		d.Things = append(d.Things, thing{"job", text, jobLink(id), true})
	} else if !errors.Is(err, hourbell.ErrNotFound) {
		return err
	}
	if _, err = p.client.Batches.Get(ctx, id); err == nil {
		d.Things = append(d.Things, thing{"batch", text, link("jobs", "batch", text), true})
	} else if !errors.Is(err, hourbell.ErrNotFound) {
		return err
	}
	return nil
}

// findSchedules finds schedules by the beginning of their names, which are listed in byte order.
func (p *pages) findSchedules(ctx context.Context, d *findData) error {
	names := func(schedules []hourbell.ScheduleInfo) []string {
		return named(schedules, func(s hourbell.ScheduleInfo) string { return s.Name })
	}
	var found []string
	switch info, err := p.client.Schedules.Get(ctx, d.Text); { // the list begins after the text
	case err == nil && info.DeletedAt.IsZero():
		found = append(found, info.Name)
	case err != nil && !errors.Is(err, hourbell.ErrNotFound):
		return err
	}
	rest, err := p.client.Schedules.List(ctx, hourbell.ScheduleFilter{After: d.Text, Limit: eachFound + 1})
	d.add("schedule", append(found, names(rest)...), func(name string) string { return link("schedule", "name", name) })
	return err
}

// findNames finds what the store has few of, by the beginning of its name.
func (p *pages) findNames(ctx context.Context, d *findData) error {
	paused := func(of store.PauseSubject) func(string) string {
		return func(name string) string { return link("pause", "of", of.String(), "name", name) }
	}
	queues, err := p.client.Queues.Estimate(ctx)
	if err != nil {
		return err
	}
	d.add("queue", named(queues, func(q hourbell.QueueInfo) string { return q.Name }), paused(store.SubjectQueue))
	kinds, err := p.client.Kinds.Estimate(ctx)
	if err != nil {
		return err
	}
	d.add("kind", named(kinds, func(k hourbell.KindInfo) string { return k.Name }), paused(store.SubjectKind))
	groups, err := p.client.Groups.Estimate(ctx)
	if err != nil {
		return err
	}
	d.add("group", named(groups, func(g hourbell.GroupInfo) string { return g.Name }), paused(store.SubjectGroup))
	nodes, err := p.client.Nodes.List(ctx)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		d.add("node", []string{node.Name}, func(string) string { return "nodes#" + nodeID(node) })
	}
	calendars, err := p.client.Calendars.List(ctx, hourbell.CalendarFilter{})
	if err != nil {
		return err
	}
	d.add("calendar", named(calendars, func(c hourbell.CalendarInfo) string { return c.Name }), func(name string) string { return link("calendar", "name", name) })
	handlers, err := p.client.Handlers.List(ctx)
	if err != nil {
		return err
	}
	handlerNames := named(handlers, func(h hourbell.EventHandlerInfo) string { return h.Name })
	d.add("handler", handlerNames, func(name string) string { return link("handler", "name", name) })
	limits, err := p.client.Limits.List(ctx)
	d.add("limit", named(limits, func(l hourbell.LimitInfo) string { return l.Name }), func(name string) string { return link("limit", "name", name) })
	return err
}

// findJobs finds jobs by their key, and by their unique key.
func (p *pages) findJobs(ctx context.Context, d *findData) error {
	for _, by := range []struct {
		name, sort string
		filter     hourbell.JobFilter
	}{
		{"key", "with this key", hourbell.JobFilter{Key: d.Text, Limit: 2}},
		{"unique", "with this unique key", hourbell.JobFilter{Unique: d.Text, Limit: 2}},
	} {
		found, err := p.client.Jobs.Page(ctx, by.filter)
		if err != nil {
			return err
		}
		switch len(found.Jobs) {
		case 0:
		case 1:
			id := strconv.FormatInt(found.Jobs[0].ID, 10)
			d.Things = append(d.Things, thing{"job " + by.sort, id, jobLink(found.Jobs[0].ID), true})
		default:
			d.Things = append(d.Things, thing{"jobs " + by.sort, d.Text, link("jobs", by.name, d.Text), true})
		}
		if found.Partial && len(found.Jobs) < by.filter.Limit {
			d.Note = searched(found.Next)
		}
	}
	return nil
}

// add adds the things of a sort whose names begin with the text.
func (d *findData) add(sort string, names []string, href func(name string) string) {
	n := 0
	for _, name := range names {
		switch {
		case !strings.HasPrefix(name, d.Text):
		case n == eachFound:
			d.More = true
			return
		default:
			d.Things = append(d.Things, thing{sort, name, href(name), name == d.Text})
			n++
		}
	}
}

// searched names the jobs that a search has looked at which ended before all were looked at, because its time was over.
func searched(next int64) string {
	return fmt.Sprintf("Only the newest jobs were searched, down to job %d: the search ends after %s. Older jobs may match.",
		next, plain.Brief(hourbell.PageTime))
}
