package dashboard

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// listing is a page that consists of one table.
func listing(title, note string, t table) *page {
	return &page{Title: title, Template: "listing", Live: true, Data: struct {
		Note  string
		Table table
	}{note, t}}
}

// estimatesNote is added to the note of a page with estimates.
const estimatesNote = " There are very many: numbers with ~ are estimates from samples."

func (p *pages) queues(ctx context.Context, _ *http.Request) (*page, error) {
	queues, err := p.client.Queues.Estimate(ctx)
	if err != nil {
		return nil, err
	}
	note := "Live jobs of each queue, and since when its oldest due job waits."
	if slices.ContainsFunc(queues, func(q hourbell.QueueInfo) bool { return q.Estimated }) {
		note += estimatesNote
	}
	return listing("Queues", note, queueTable(queues)), nil
}

func (p *pages) kinds(ctx context.Context, _ *http.Request) (*page, error) {
	kinds, err := p.client.Kinds.Estimate(ctx)
	if err != nil {
		return nil, err
	}
	note := "Live jobs of each kind, and since when its oldest due job waits."
	if slices.ContainsFunc(kinds, func(k hourbell.KindInfo) bool { return k.Estimated }) {
		note += estimatesNote
	}
	t := tableOf(view.KindListing(), kinds, func(k hourbell.KindInfo, column string) string {
		if column == "KIND" {
			return link("jobs", "kind", k.Name)
		}
		if state := liveStates[column]; state != "" {
			return link("jobs", "kind", k.Name, "state", state)
		}
		return ""
	})
	t.Caption, t.Empty = "Kinds", "No job is live."
	return listing("Kinds", note, withPauseLinks(t, store.SubjectKind, named(kinds, func(k hourbell.KindInfo) string { return k.Name }))), nil
}

func (p *pages) keys(ctx context.Context, _ *http.Request) (*page, error) {
	pauses, err := p.client.Keys.List(ctx)
	if err != nil {
		return nil, err
	}
	t := tableOf(view.KeyListing(), pauses, func(k store.Pause, column string) string {
		if column == "KEY" {
			return link("jobs", "key", k.Name)
		}
		return ""
	})
	t.Caption, t.Empty = "Paused keys", "No key is paused."
	return listing("Paused keys", "Keys whose jobs no node takes. The page of a job leads to the page that pauses its "+
		"key.", withPauseLinks(t, store.SubjectKey, named(pauses, func(k store.Pause) string { return k.Name }))), nil
}

// named returns the names of items.
func named[T any](items []T, nameOf func(T) string) (names []string) {
	for _, item := range items {
		names = append(names, nameOf(item))
	}
	return names
}

func (p *pages) groups(ctx context.Context, _ *http.Request) (*page, error) {
	groups, err := p.client.Groups.Estimate(ctx)
	if err != nil {
		return nil, err
	}
	t := tableOf(view.GroupListing(), groups, func(g hourbell.GroupInfo, column string) string {
		if column == "SCHEDULES" {
			return link("schedules", "group", g.Name)
		}
		if state := liveStates[column]; state != "" {
			return link("jobs", "group", g.Name, "state", state)
		}
		return link("jobs", "group", g.Name)
	})
	t.Caption, t.Empty = "Groups", "No schedule and no live job has a group."
	note := "Labels of schedules and jobs, with the live jobs of each."
	if slices.ContainsFunc(groups, func(g hourbell.GroupInfo) bool { return g.Estimated }) {
		note += estimatesNote
	}
	return listing("Groups", note, withPauseLinks(t, store.SubjectGroup, named(groups, func(g hourbell.GroupInfo) string { return g.Name }))), nil
}

func (p *pages) batches(ctx context.Context, r *http.Request) (*page, error) {
	f := hourbell.BatchFilter{Limit: pageSize + 1}
	if before := r.URL.Query().Get("before"); before != "" {
		var err error
		if f.Before, err = number("before", before); err != nil {
			return nil, err
		}
	}
	batches, err := p.client.Batches.List(ctx, f)
	if err != nil {
		return nil, err
	}
	more := len(batches) > pageSize
	batches = batches[:min(len(batches), pageSize)]
	t := tableOf(view.BatchListing(), batches, func(b store.Batch, column string) string {
		switch {
		case column == "FINALLY":
			return jobLink(b.Finally)
		case endedStates[column] != "":
			return link("jobs", "batch", strconv.FormatInt(b.ID, 10), "state", endedStates[column])
		}
		return link("jobs", "batch", strconv.FormatInt(b.ID, 10))
	})
	t.Caption, t.Empty = "Batches, newest first", "No jobs were enqueued together."
	if more {
		t.Older = link("batches", "before", strconv.FormatInt(batches[pageSize-1].ID, 10))
	}
	if f.Before != 0 {
		t.Newest = "batches"
	}
	return listing("Batches", "Jobs that were enqueued together: graphs, and batches with a last job.", t), nil
}

// endedStates are the states that columns of batches count.
var endedStates = map[string]string{"FAILED": "failed", "CANCELLED": "cancelled", "NOT STARTED": "not_started"}

// events shows the feed: its newest events, newest first, or the events after a cursor, in
// their order.
func (p *pages) events(ctx context.Context, r *http.Request) (*page, error) {
	since := r.URL.Query().Get("since")
	found, err := p.client.Events.List(ctx, hourbell.EventFilter{Since: since, Limit: pageSize})
	if err != nil {
		return nil, err
	}
	if since == "" {
		slices.Reverse(found.Events)
	}
	t := tableOf(view.EventListing(), found.Events, func(e hourbell.FeedEvent, column string) string {
		switch column {
		case "CURSOR":
			return link("events", "since", e.Cursor)
		case "JOB":
			return jobLink(e.Job)
		case "KIND":
			return link("jobs", "kind", e.Kind)
		case "SCHEDULE":
			return link("schedule", "name", e.Schedule)
		}
		return ""
	})
	t.Caption, t.Empty = "Events, newest first", "There are no events."
	if since != "" {
		t.Caption, t.Empty, t.Newest = "Events after a cursor, oldest first", "There are no events after this cursor.", "events"
		if found.More {
			t.Older = link("events", "since", found.Next)
		}
	}
	if !found.Held.IsZero() {
		t.Note = "Events since " + plain.Stamp(found.Held) + " are not shown yet: a transaction that began before theirs is still open."
	}
	note := "What happened to jobs and schedules on all nodes. A cursor leads to the events after it. Events are kept for " + plain.Brief(found.Keep) + "."
	if found.Keep == 0 {
		note = "No events are stored. “hourbell events keep 24h” has them stored."
	}
	return listing("Events", note, t), nil
}

// liveStates are the states that columns of counts count.
var liveStates = map[string]string{"READY": "ready", "SCHEDULED": "scheduled", "RUNNING": "running", "WAITING": "waiting"}

func queueTable(queues []hourbell.QueueInfo) table {
	t := tableOf(view.QueueListing(), queues, func(q hourbell.QueueInfo, column string) string {
		if column == "QUEUE" {
			return link("jobs", "queue", q.Name)
		}
		if state := liveStates[column]; state != "" {
			return link("jobs", "queue", q.Name, "state", state)
		}
		return ""
	})
	t.Caption, t.Empty = "Queues", "No job is live."
	return withPauseLinks(t, store.SubjectQueue, named(queues, func(q hourbell.QueueInfo) string { return q.Name }))
}

func (p *pages) nodes(ctx context.Context, _ *http.Request) (*page, error) {
	nodes, err := p.client.Nodes.List(ctx)
	if err != nil {
		return nil, err
	}
	now, err := p.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	position, err := p.client.Nodes.Position(ctx)
	if err != nil {
		return nil, err
	}
	owners, err := view.ReadOwners(ctx, p.client)
	if err != nil {
		return nil, err
	}
	return listing("Nodes", "Living nodes, and nodes that ended lately.", nodeTable(nodes, view.NodeListingWithCopies(now, position.Suspended(), owners))), nil
}

func nodeTable(nodes []store.NodeInfo, listing view.Listing[store.NodeInfo]) table {
	t := tableOf(listing, nodes, nil)
	t.Caption, t.Empty = "Nodes", "No node has ever run."
	for i, node := range nodes {
		t.Rows[i].ID = nodeID(node)
	}
	return t
}

// nodeID is the name of the row about a node, to which a search leads.
func nodeID(n store.NodeInfo) string { return "node-" + strconv.FormatInt(n.ID, 10) }

func (p *pages) slots(ctx context.Context, r *http.Request) (*page, error) {
	query := r.URL.Query()
	f := hourbell.SlotFilter{Schedule: query.Get("schedule"), Limit: pageSize + 1}
	var err error
	if text := query.Get("before"); text != "" {
		if f.Before.At, err = view.ParseInstant("before", text, ""); err != nil {
			return nil, err
		}
		if f.Before.ID, err = number("before_id", query.Get("before_id")); err != nil {
			return nil, err
		}
	}
	slots, err := p.client.Slots.List(ctx, f)
	if err != nil {
		return nil, err
	}
	more := len(slots) > pageSize
	slots = slots[:min(len(slots), pageSize)]
	t := slotTable(slots)
	t.Caption, t.Empty = "Slots", "No slot is recorded."
	if more {
		last := slots[pageSize-1]
		t.Older = link("slots", "schedule", f.Schedule, "before", last.Slot.Format(time.RFC3339Nano), "before_id", strconv.FormatInt(last.ID, 10))
	}
	if f.Before.ID != 0 {
		t.Newest = link("slots", "schedule", f.Schedule)
	}
	return listing("Slots", "What became of each slot, newest first.", t), nil
}

func slotTable(slots []store.SlotInfo) table {
	t := tableOf(view.SlotListing(), slots, func(s store.SlotInfo, column string) string {
		switch column {
		case "SCHEDULE":
			return link("schedule", "name", s.ScheduleName)
		case "JOB":
			return jobLink(s.Job)
		}
		return ""
	})
	for i, slot := range slots {
		t.Rows[i].ID = slotID(slot)
	}
	return t
}

// slotID is the name of the row about a slot, to which its mark on the timeline leads.
func slotID(s store.SlotInfo) string { return "slot-" + strconv.FormatInt(s.ID, 10) }

func (p *pages) locks(ctx context.Context, r *http.Request) (*page, error) {
	if p.options.Locks == nil {
		return nil, errNoPage
	}
	after := r.URL.Query().Get("after")
	locks, err := p.options.Locks(ctx, lock.LocksRequest{After: after, Limit: pageSize + 1})
	if errors.Is(err, store.ErrSchema) { // the tables are made with the first lock
		locks, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	more := len(locks) > pageSize
	locks = locks[:min(len(locks), pageSize)]
	t := tableOf(view.LockListing(), locks, nil)
	t.Caption, t.Empty = "Locks", "No lock was ever held."
	if more {
		t.Older = link("locks", "after", locks[pageSize-1].Name)
	}
	if after != "" {
		t.Newest = "locks"
	}
	return listing("Locks", "Locks by name, held or not.", t), nil
}

func (p *pages) files(context.Context, *http.Request) (*page, error) {
	if p.options.Files == nil {
		return nil, errNoPage
	}
	return &page{Title: "Files", Template: "files", Live: true, Data: p.options.Files()}, nil
}

// number reads a positive whole number.
func number(field, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, &check.FieldError{Field: field, Value: check.Shorten(text), Problem: "is not a positive whole number", Remedy: "write it in digits"}
	}
	return n, nil
}

// secretsFor reports whether a page shows values that may be secrets: on demand, and to
// admins only.
func secretsFor(r *http.Request) bool {
	caller, _ := access.FromContext(r.Context())
	return caller.Role >= access.Admin && r.URL.Query().Get("secrets") == "show"
}
