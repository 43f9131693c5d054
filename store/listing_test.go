package store_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/hourbell/hourbell/store"
)

// asked is a store that returns one row of the sort that is asked for.
type asked struct{ last store.ListRequest }

func (a *asked) List(_ context.Context, req store.ListRequest) (out store.Listing, err error) {
	a.last = req
	rows := reflect.ValueOf(&out).Elem().Field(int(req.Of))
	rows.Set(reflect.MakeSlice(rows.Type(), 1, 1))
	return out, nil
}

// TestListFindsItsSubject checks that each type of rows has its subject and its word, and that the subjects are in the order
// of the fields of a Listing.
func TestListFindsItsSubject(t *testing.T) {
	find[store.AuditEntry](t, store.OfAudit, "list_audit")
	find[store.Batch](t, store.OfBatches, "list_batches")
	find[store.Calendar](t, store.OfCalendars, "list_calendars")
	find[store.GroupInfo](t, store.OfGroups, "list_groups")
	find[store.Handler](t, store.OfHandlers, "list_handlers")
	find[store.KindInfo](t, store.OfKinds, "list_kinds")
	find[store.LimitInfo](t, store.OfLimits, "list_limits")
	find[store.LimitWait](t, store.OfLimitWaits, "list_limit_waits")
	find[store.Link](t, store.OfLinks, "list_links")
	find[store.NodeInfo](t, store.OfNodes, "list_nodes")
	find[store.Owner](t, store.OfOwners, "list_owners")
	find[store.Pause](t, store.OfPauses, "list_pauses")
	find[store.QueueInfo](t, store.OfQueues, "list_queues")
	find[store.Schedule](t, store.OfSchedules, "list_schedules")
	find[store.SlotInfo](t, store.OfSlots, "list_slots")
	find[store.StatsRow](t, store.OfStats, "list_stats")
}

func find[Row store.Listed](t *testing.T, of store.Subject, operation string) {
	t.Helper()
	var from asked
	rows, err := store.List[Row](t.Context(), &from, store.ListRequest{Limit: 1})
	if err != nil || len(rows) != 1 || from.last.Of != of || from.last.Limit != 1 || from.last.Operation() != operation {
		t.Errorf("%s: %d rows of %+v, %v", operation, len(rows), from.last, err)
	}
}
