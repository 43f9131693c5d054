package mysql

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// ListSlots reads records in pages; see store.Schedules.
func (b *Backend) ListSlots(ctx context.Context, req store.ListSlotsRequest) ([]store.SlotInfo, error) {
	var out []store.SlotInfo
	err := b.read(ctx, "list slots", func(s *session) error {
		out = nil
		given, a := slotConditions(req)
		return s.list(ctx, listSlots, given, a, func(r row) error {
			var x store.SlotInfo
			var owner string
			err := r.Scan(&x.ID, &x.Schedule, &x.ScheduleName, &owner, into(&x.Slot), into(&x.Last), &x.Count, &x.Outcome, &x.Reason, &x.Job, into(&x.RecordedAt), &x.After, &x.AfterSchedule)
			x.Host = store.HostOf(x.ScheduleName, owner)
			out = append(out, x)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// slotConditions are the conditions of list_slots.sql that a request gives.
func slotConditions(req store.ListSlotsRequest) (given []string, a args) {
	a = args{"limit": req.Limit}
	if req.Schedule != "" {
		given, a["schedule"] = append(given, "schedule"), req.Schedule
	}
	if req.HostsOf != "" {
		given, a["hosts_of"] = append(given, "hosts"), req.HostsOf
	}
	if req.Group != "" {
		given, a["group_name"] = append(given, "group"), req.Group
	}
	if !req.From.IsZero() {
		given, a["from"] = append(given, "from"), req.From.UnixMicro()
	}
	if !req.To.IsZero() {
		given, a["to"] = append(given, "to"), req.To.UnixMicro()
	}
	if req.Before != (store.SlotCursor{}) {
		given = append(given, "before")
		a["before_slot"], a["before_id"] = req.Before.Slot.UnixMicro(), req.Before.ID
	}
	return given, a
}
