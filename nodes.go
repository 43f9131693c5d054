package hourbell

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/fire"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Position is how far a store has come, in numbers that only grow.
type Position = store.Position

// NodeService reads the nodes of the cluster and their view of the store's
// history: Client.Nodes. Concurrent calls are allowed.
type NodeService struct{ client *Client }

// List returns living nodes and nodes that ended recently, newest first.
func (s *NodeService) List(ctx context.Context) ([]NodeInfo, error) {
	return s.client.backend.ListNodes(ctx)
}

// History reads how far the store has come, and since when a loss of history
// has been waiting for acceptance.
func (s *NodeService) History(ctx context.Context) (Position, error) {
	p, err := s.client.backend.Position(ctx)
	if err != nil {
		return Position{}, fmt.Errorf("read the history: %w", err)
	}
	return p, nil
}

// AcceptHistoryRequest selects how the nodes continue after the store went back
// in time.
type AcceptHistoryRequest struct {
	// Refire lets slots that were due since the point to which the store went
	// back fire, as with the policy misfire all. Without Refire they are
	// recorded as missed, because they may have fired before, which the store
	// does not know.
	Refire bool
	// Force continues even if no node has reported a loss: after a restore that
	// no node could notice.
	Force bool
}

// AcceptedHistory is the result of NodeService.AcceptHistory.
type AcceptedHistory struct {
	LostAt    time.Time // when the first node reported the loss; zero: no node did
	Schedules int       // number of schedules that had due slots
	Missed    int64     // number of slots that were recorded as missed
	Fired     int64     // number of slots that fired
	Token     int64     // all later tokens are greater
}

// ErrNothingLost means that AcceptHistory found no report of a loss.
var ErrNothingLost = errors.New("no node has reported that the store went back in time")

// AcceptHistory confirms that the store went back in time; nodes then claim and
// fire again within a heartbeat. First it accounts for every slot that is due,
// and raises the store's token above every token that any node has seen, so
// that fencing tokens still protect the data that jobs write. Without a report
// it returns ErrNothingLost and changes nothing, unless Force is set. After an
// error it can be called again.
func (s *NodeService) AcceptHistory(ctx context.Context, req AcceptHistoryRequest) (AcceptedHistory, error) {
	now, err := s.History(ctx)
	if err != nil {
		return AcceptedHistory{}, err
	}
	if !now.Suspended() && !req.Force {
		return AcceptedHistory{}, fmt.Errorf("accept the history: %w", ErrNothingLost)
	}
	done := AcceptedHistory{LostAt: now.LostAt}
	counted := map[int64]bool{}
	for try := 0; ; try++ {
		all, err := s.recount(ctx, req.Refire, &done, counted)
		if err != nil {
			return done, fmt.Errorf("accept the history: account for due slots: %w", err)
		}
		if all {
			break
		}
		if try == settleTries {
			return done, errors.New("accept the history: schedules keep changing: stop the programs that edit them, and nodes of earlier releases, then try again")
		}
	}
	done.Schedules = len(counted)
	accepted, err := s.client.backend.AcceptLoss(ctx)
	if err != nil {
		return done, fmt.Errorf("accept the history: %w", err)
	}
	done.Token = accepted.Token
	return done, nil
}

// recount accounts for all schedules that are due, a page at a time; all
// reports whether no schedule was changed at the same time.
func (s *NodeService) recount(ctx context.Context, refire bool, done *AcceptedHistory, counted map[int64]bool) (all bool, err error) {
	all = true
	for page := (store.DueSchedulesRequest{Limit: settleBatch}); ; {
		due, err := s.client.backend.DueSchedules(ctx, page)
		if err != nil {
			return false, err
		}
		if len(due.Schedules) == 0 {
			return all, nil
		}
		calendars, err := fire.CalendarsOf(ctx, s.client.backend, due.Schedules)
		if err != nil {
			return false, err
		}
		firings := make([]store.Firing, len(due.Schedules))
		for i, row := range due.Schedules {
			p, planErr := plan.New(row, calendars)
			firings[i] = plan.Resolve(row, p.AfterLoss(refire), planErr, due.Now)
		}
		res, err := s.client.backend.Fire(ctx, store.FireRequest{Firings: firings})
		if err != nil {
			return false, err
		}
		for _, slot := range res.Slots {
			if counted[slot.Schedule] = true; slot.Record.Outcome == store.SlotMissed {
				done.Missed += slot.Record.Count
			}
		}
		for _, slot := range res.Fired {
			counted[slot.Schedule] = true
			done.Fired++
		}
		all = all && len(res.Lost) == 0
		last := due.Schedules[len(due.Schedules)-1]
		page.After = store.DueCursor{NextAt: last.NextAt, ID: last.ID}
	}
}
