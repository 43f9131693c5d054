package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// pauser pauses and resumes things by name.
type pauser interface {
	Pause(ctx context.Context, name string, pause hourbell.Pause) error
	Resume(ctx context.Context, name string) (bool, error)
}

// pausable is a sort of things that can be paused: groups, queues, kinds or keys.
type pausable struct {
	pauser
	list  string // the page that lists them
	facts func(ctx context.Context, name string) ([]view.Fact, error)
}

// pausables returns what can be paused, by the words for subjects.
func (p *pages) pausables() map[string]pausable {
	return map[string]pausable{
		store.SubjectGroup.String(): {p.client.Groups, "groups", func(ctx context.Context, name string) ([]view.Fact, error) {
			g, err := p.client.Groups.Get(ctx, name)
			return pausedFacts(view.GroupListing(), g, g.Pause), err
		}},
		store.SubjectQueue.String(): {p.client.Queues, "queues", func(ctx context.Context, name string) ([]view.Fact, error) {
			q, err := p.client.Queues.Get(ctx, name)
			return pausedFacts(view.QueueListing(), q, q.Pause), err
		}},
		store.SubjectKind.String(): {p.client.Kinds, "kinds", func(ctx context.Context, name string) ([]view.Fact, error) {
			k, err := p.client.Kinds.Get(ctx, name)
			return pausedFacts(view.KindListing(), k, k.Pause), err
		}},
		store.SubjectKey.String(): {p.client.Keys, "keys", func(ctx context.Context, name string) ([]view.Fact, error) {
			pause, err := p.client.Keys.Get(ctx, name)
			return pausedFacts(view.KeyListing(), pause, pause), err
		}},
	}
}

// pausedFacts returns the columns of a row as facts, and all of its pause.
func pausedFacts[Info any](l view.Listing[Info], info Info, pause store.Pause) []view.Fact {
	state := "active"
	if !pause.At.IsZero() {
		state = "paused"
	}
	facts := []view.Fact{
		{Name: "state", Value: state},
		{Name: "paused_at", Value: plain.Stamp(pause.At)},
		{Name: "paused_until", Value: plain.Stamp(pause.Until)},
		{Name: "paused_by", Value: pause.Actor},
		{Name: "pause_reason", Value: pause.Reason},
	}
	row := l.Row(info)
	for i, column := range l.Columns[1:] {
		if column != "PAUSED" {
			facts = append(facts, view.Fact{Name: strings.ToLower(column), Value: row[i+1]})
		}
	}
	return facts
}

// withPauseLinks leads from the column PAUSED of a table to the pages where a thing is paused and
// resumed.
func withPauseLinks(t table, subject store.PauseSubject, names []string) table {
	for i, c := range t.Columns {
		if c.Name != heading("PAUSED") {
			continue
		}
		for j := range t.Rows {
			if paused := &t.Rows[j].Cells[i]; paused.Text == "-" {
				paused.Text = "no"
			}
			t.Rows[j].Cells[i].Href = link("pause", "of", subject.String(), "name", names[j])
		}
	}
	return t
}

// pausePage shows a group, a queue, a kind or a key, with what pauses and resumes it.
func (p *pages) pausePage(ctx context.Context, r *http.Request) (*page, error) {
	of, name := r.URL.Query().Get("of"), r.URL.Query().Get("name")
	found, err := p.pausable(of, name)
	if err != nil {
		return nil, err
	}
	facts, err := found.facts(ctx, name)
	if err != nil {
		return nil, err
	}
	small, err := p.lastDay(ctx, hourbell.StatsBy(of), name)
	if err != nil {
		return nil, err
	}
	return &page{Title: strings.ToUpper(of[:1]) + of[1:] + " " + name, Template: "pause", Live: true, Data: struct {
		Of, Name, List string
		Paused         bool
		Small          *smallCharts
		Facts          []fact
	}{of, name, found.list, facts[0].Value == "paused", small, factsOf(facts, "",
		map[string]string{
			"ready":   link("jobs", of, name, "state", "ready"),
			"running": link("jobs", of, name, "state", "running"),
		})}}, nil
}

// pausable returns the sort of things that a page or a form names.
func (p *pages) pausable(of, name string) (pausable, error) {
	found, ok := p.pausables()[of]
	if !ok {
		return found, fieldError("of", of, "is unknown", "use group, queue, kind or key")
	}
	return found, check.StoredName("name", name)
}

// changePause pauses or resumes a group, a queue, a kind or a key.
func (p *pages) changePause(ctx context.Context, form url.Values) (done, next string, err error) {
	of, name := form.Get("of"), form.Get("name")
	found, err := p.pausable(of, name)
	if err != nil {
		return "", "", err
	}
	next = link("pause", "of", of, "name", name)
	switch action := form.Get("action"); action {
	case "pause":
		caller, _ := access.FromContext(ctx)
		pause := hourbell.Pause{Reason: form.Get("reason"), Actor: caller.Name, CancelRunning: form.Get("cancel") == "true"}
		done = fmt.Sprintf("The %s is paused until it is resumed.", of)
		if until := form.Get("until"); until != "" {
			if pause.Until, err = p.readUntil(ctx, until, func() (string, error) { return form.Get("zone"), nil }); err != nil {
				return "", "", err
			}
			done = fmt.Sprintf("The %s is paused until %s.", of, plain.Stamp(pause.Until))
		}
		if pause.CancelRunning {
			done += " Its running jobs are cancelled."
		}
		return done, next, found.Pause(ctx, name, pause)
	case "resume":
		_, err := found.Resume(ctx, name)
		return fmt.Sprintf("The %s is active again.", of), found.list, err
	default:
		return "", "", fieldError("action", action, "is unknown", "use the forms of the page")
	}
}

// readUntil reads when a pause ends: an instant on the clock of the zone that zone returns, or a time
// such as 2h from now.
func (p *pages) readUntil(ctx context.Context, text string, zone func() (string, error)) (time.Time, error) {
	now, err := p.client.Now(ctx)
	if err != nil {
		return time.Time{}, err
	}
	var at time.Time
	if ahead, ok := view.ParseAgo(text); ok {
		at = now.Add(ahead)
	} else {
		in, err := zone()
		if err != nil {
			return at, err
		}
		if at, err = view.TypedInstant("until", text, in, now); err != nil {
			return at, err
		}
	}
	if !at.After(now) {
		return at, fieldError("until", text, "is not in the future", "give a later instant, or leave it out to pause until it is resumed")
	}
	return at, nil
}
