package hourbell

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// NodeService reads the nodes of the cluster and their view of the store's
// history: Client.Nodes. Concurrent calls are allowed.
type NodeService struct{ client *Client }

// List returns living nodes and nodes that ended recently, newest first.
func (s *NodeService) List(ctx context.Context) ([]store.NodeInfo, error) {
	return s.client.backend.ListNodes(ctx)
}

// LeaseLeft returns how long the node of this client may go on with its jobs without another
// heartbeat. It is 0 while the client does not run, and after the lease was lost. It reads nothing
// from the store.
func (s *NodeService) LeaseLeft() time.Duration {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	if !s.client.running || s.client.engine == nil {
		return 0
	}
	return s.client.engine.LeaseLeft()
}

// Position reads how far the store has come, in numbers that only grow, and
// since when a loss of history has been waiting for acceptance.
func (s *NodeService) Position(ctx context.Context) (store.Position, error) {
	p, err := s.client.backend.Position(ctx)
	if err != nil {
		return store.Position{}, fmt.Errorf("read the position: %w", err)
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

// AcceptHistory confirms that the store went back in time; nodes then claim and
// fire again within a heartbeat. First it accounts for every slot that is due,
// and raises the store's token above every token that any node has seen, so
// that fencing tokens still protect the data that jobs write. Without a report
// it returns ErrNothingLost and changes nothing, unless Force is set. After an
// error it can be called again.
func (s *NodeService) AcceptHistory(ctx context.Context, req AcceptHistoryRequest) (AcceptedHistory, error) {
	now, err := s.Position(ctx)
	if err != nil {
		return AcceptedHistory{}, err
	}
	if !now.Suspended() && !req.Force {
		return AcceptedHistory{}, fmt.Errorf("accept the history: %w", ErrNothingLost)
	}
	done := AcceptedHistory{LostAt: now.LostAt}
	settled, err := s.client.settler(nil).AfterLoss(ctx, req.Refire)
	done.Schedules, done.Missed, done.Fired = settled.Schedules, settled.Missed, settled.Fired
	if err != nil {
		return done, fmt.Errorf("accept the history: %w", err)
	}
	accepted, err := s.client.backend.AcceptLoss(ctx, store.AcceptLossRequest{By: s.client.actor(ctx)})
	if err != nil {
		return done, fmt.Errorf("accept the history: %w", err)
	}
	done.Token = accepted.Token
	return done, nil
}
