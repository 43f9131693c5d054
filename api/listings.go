package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/findings"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (h *handler) addListings() {
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/slots", "list-slots", "Lists what became of slots, newest first", "slots", 0, 0}, h.listSlots)
	add(h, route{
		access.Viewer, http.MethodGet, "/api/v1/findings", "list-findings",
		"Lists what is wrong with the cluster, the most urgent first", "findings", 0, 0,
	}, h.listFindings)
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/nodes", "list-nodes", "Lists living nodes, and nodes that ended recently", "nodes", 0, 0}, h.listNodes)
}

type listSlotsInput struct {
	Schedule string `query:"schedule" doc:"Only slots of this schedule." shape:"name"`
	Group    string `query:"group" doc:"Only slots of schedules of this group." shape:"name"`
	From     string `query:"from" doc:"The first instant." shape:"instant"`
	To       string `query:"to" doc:"The instant after the last." shape:"instant"`
	Paging
}

func (h *handler) listSlots(ctx context.Context, in *listSlotsInput) (*listed[view.SlotRecord], error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	filter := hourbell.SlotFilter{Schedule: in.Schedule, Group: in.Group, Limit: in.Limit + 1}
	var err error
	if filter.From, err = instant("from", in.From, ""); err != nil {
		return nil, err
	}
	if filter.To, err = instant("to", in.To, ""); err != nil {
		return nil, err
	}
	if filter.Before, err = instantCursor(in.Cursor); err != nil {
		return nil, err
	}
	slots, err := h.client.Slots.List(ctx, filter)
	if err != nil {
		return nil, err
	}
	cursor := func(s store.SlotInfo) string { return fmt.Sprintf("%d %d", s.Slot.UnixMicro(), s.ID) }
	return newPage(in.Limit, slots, cursor, view.NewSlotRecord), nil
}

// instantCursor reads the cursor of a list from newest to oldest; empty: the first page.
func instantCursor(cursor string) (store.Cursor, error) {
	if cursor == "" {
		return store.Cursor{}, nil
	}
	text, err := decodeCursor(cursor)
	micros, id, _ := strings.Cut(text, " ")
	at, err1 := strconv.ParseInt(micros, 10, 64)
	number, err2 := strconv.ParseInt(id, 10, 64)
	if err != nil || err1 != nil || err2 != nil {
		return store.Cursor{}, badCursor(cursor)
	}
	return store.Cursor{At: time.UnixMicro(at).UTC(), ID: number}, nil
}

// instant reads an instant of a request; empty: the zero time.
func instant(field, text, zone string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return view.ParseInstant(field, text, zone)
}

// listFindings returns all findings; there are few.
func (h *handler) listFindings(ctx context.Context, _ *struct{}) (*listed[view.FindingRecord], error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	facts, err := findings.Read(ctx, h.client)
	if err != nil {
		return nil, err
	}
	out := &listed[view.FindingRecord]{}
	out.Body.Items = []view.FindingRecord{}
	for _, one := range findings.Find(facts) {
		out.Body.Items = append(out.Body.Items, view.NewFindingRecord(one))
	}
	return out, nil
}

// listNodes reads all nodes, as the store returns them; there are few.
func (h *handler) listNodes(ctx context.Context, in *struct{ Paging }) (*listed[view.NodeWithCopiesRecord], error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	nodes, err := h.client.Nodes.List(ctx)
	if err != nil {
		return nil, err
	}
	before, err := numberCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	if before != 0 {
		nodes = slices.DeleteFunc(nodes, func(n store.NodeInfo) bool { return n.ID >= before })
	}
	now, err := h.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	position, err := h.client.Nodes.Position(ctx)
	if err != nil {
		return nil, err
	}
	owners, err := view.ReadOwners(ctx, h.client)
	if err != nil {
		return nil, err
	}
	differing := view.Differing(owners)
	record := func(n store.NodeInfo) view.NodeWithCopiesRecord {
		return view.NewNodeWithCopiesRecord(n, now, position.Suspended(), differing(n))
	}
	return newPage(in.Limit, nodes, func(n store.NodeInfo) string { return fmt.Sprint(n.ID) }, record), nil
}
