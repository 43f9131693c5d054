package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (h *handler) addQueues() {
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/queues", "list-queues", "Lists queues and counts their live jobs", "queues", 0, 0}, h.listQueues)
	addPausable(h, pausable[hourbell.QueueInfo, view.QueueRecord]{
		collection: "queues", noun: "queue", effect: "none of its jobs begins",
		get: h.client.Queues.Get, pause: h.client.Queues.Pause, resume: h.client.Queues.Resume, record: view.NewQueueRecord,
		clear: func(q hourbell.QueueInfo) hourbell.QueueInfo { q.Pause = store.Pause{}; return q },
	})
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/kinds", "list-kinds", "Lists kinds and counts their live jobs", "kinds", 0, 0}, h.listKinds)
	addPausable(h, pausable[hourbell.KindInfo, view.KindRecord]{
		collection: "kinds", noun: "kind", effect: "none of its jobs begins, in any queue",
		get: h.client.Kinds.Get, pause: h.client.Kinds.Pause, resume: h.client.Kinds.Resume, record: view.NewKindRecord,
		clear: func(k hourbell.KindInfo) hourbell.KindInfo { k.Pause = store.Pause{}; return k },
	})
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/keys", "list-keys", "Lists the keys of jobs that are paused", "keys", 0, 0}, h.listKeys)
	addPausable(h, pausable[store.Pause, view.KeyRecord]{
		collection: "keys", noun: "key", effect: "none of the jobs that have it begins",
		get: h.client.Keys.Get, pause: h.client.Keys.Pause, resume: h.client.Keys.Resume, record: view.NewKeyRecord,
		clear: func(p store.Pause) store.Pause { return store.Pause{Subject: p.Subject, Name: p.Name} },
	})
}

// The store returns queues and kinds as a whole; there are few.

func (h *handler) listQueues(ctx context.Context, in *struct{ Paging }) (*listed[view.QueueRecord], error) {
	return listCounts(ctx, in.Paging, h.client.Queues.Estimate, func(q hourbell.QueueInfo) string { return q.Name }, view.NewQueueRecord)
}

func (h *handler) listKinds(ctx context.Context, in *struct{ Paging }) (*listed[view.KindRecord], error) {
	return listCounts(ctx, in.Paging, h.client.Kinds.Estimate, func(k hourbell.KindInfo) string { return k.Name }, view.NewKindRecord)
}

func (h *handler) listKeys(ctx context.Context, in *struct{ Paging }) (*listed[view.KeyRecord], error) {
	return listCounts(ctx, in.Paging, h.client.Keys.List, func(p store.Pause) string { return p.Name }, view.NewKeyRecord)
}

// listCounts returns a page of what a call returns as a whole, by name.
func listCounts[Info, Record any](ctx context.Context, page Paging, count func(context.Context) ([]Info, error),
	nameOf func(Info) string, record func(Info) Record,
) (*listed[Record], error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	after, err := decodeCursor(page.Cursor)
	if err != nil {
		return nil, err
	}
	all, err := count(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(i Info) bool { return nameOf(i) <= after && after != "" })
	return newPage(page.Limit, all, nameOf, record), nil
}
