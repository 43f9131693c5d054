package hourbell

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// SlotService reads what became of slots: Client.Slots. Concurrent calls are
// allowed.
type SlotService struct{ client *Client }

// SlotFilter selects records of slots. The zero value selects all.
type SlotFilter struct {
	Schedule string       // by name; of a schedule on every host the records of all hosts
	Group    string       // the group that their schedules have now
	From     time.Time    // inclusive
	To       time.Time    // exclusive
	Before   store.Cursor // the cursor of the last record of the previous page
	Limit    int          // rows of a page; default 100
}

// List returns the outcomes of slots, newest first, a page at a time.
func (s *SlotService) List(ctx context.Context, f SlotFilter) ([]store.SlotInfo, error) {
	if err := check.Join(checkIfGiven("schedule", f.Schedule), checkIfGiven("group", f.Group), checkTime("from", f.From), checkTime("to", f.To)); err != nil {
		return nil, fmt.Errorf("list slots: %w", err)
	}
	schedule, hostsOf, err := s.client.ofHosts(ctx, f.Schedule)
	if err != nil {
		return nil, fmt.Errorf("list slots: %w", err)
	}
	req := store.ListRequest{Names: []string{schedule}, HostsOf: hostsOf, Group: f.Group, From: f.From, To: f.To, Before: f.Before, Limit: pageSize(f.Limit)}
	return store.List[store.SlotInfo](ctx, s.client.backend, req)
}
