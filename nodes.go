package hourbell

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// NodeService reads the nodes of the cluster and their view of the store's
// history: Client.Nodes. Concurrent calls are allowed.
type NodeService struct{ client *Client }

// List returns living nodes and nodes that ended recently, newest first.
func (s *NodeService) List(ctx context.Context) ([]store.NodeInfo, error) {
	return store.List[store.NodeInfo](ctx, s.client.backend, store.ListRequest{})
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

// ReportProblems sets what the program has found wrong with the node of this client, such as a file that it cannot use; none takes
// back what it reported before. Other processes see it in store.NodeInfo within a heartbeat, and in the findings of `hourbell doctor`
// and of the pages. Only Name, Subject and Text are used; a text must have no secrets. It reports whether the client runs;
// otherwise it does nothing.
func (s *NodeService) ReportProblems(problems ...store.NodeProblem) bool {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	if !s.client.running || s.client.engine == nil {
		return false
	}
	s.client.engine.ReportProblems("program", problems)
	return true
}

// Position reads how far the store has come, in numbers that only grow, and
// since when a loss of history has been waiting for acceptance.
func (s *NodeService) Position(ctx context.Context) (store.Position, error) {
	p, err := store.ReadPosition(ctx, s.client.backend)
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

// ForgottenHost is the result of NodeService.Forget.
type ForgottenHost struct {
	Nodes     int // rows of nodes, which had ended
	Copies    int // copies of sets of schedules that the host had declared
	Schedules int // schedules that only copies of the host declared, and that ended with them
}

// Forget ends what the cluster expects of a host whose nodes have all ended, before the eight days after which it is
// forgotten: its schedules that are made from schedules on every host are deleted, and its copies of sets of schedules end as
// with HostCopy.Gone. A host with a living node is refused (ErrConflict), and an unknown host too (ErrNotFound). Jobs that wait
// for the host go on waiting. If a node of the host starts later, the host is new.
func (s *NodeService) Forget(ctx context.Context, host string) (ForgottenHost, error) {
	done, err := s.forget(ctx, host)
	if err != nil {
		return done, fmt.Errorf("forget host %q: %w", check.Shorten(host), err)
	}
	return done, nil
}

func (s *NodeService) forget(ctx context.Context, host string) (done ForgottenHost, err error) {
	if err := check.Host("host", host); err != nil {
		return done, err
	}
	if done.Nodes, err = s.endedOf(ctx, host); err != nil {
		return done, err
	}
	if err := s.forgetCopies(ctx, host, &done); err != nil {
		return done, err
	}
	req := store.DeleteRequest{Of: store.OfNodes, Names: []string{host}, By: s.client.actor(ctx)}
	err = s.client.backend.Delete(ctx, req)
	if done.Copies > 0 && errors.Is(err, ErrNotFound) { // its copies were all that was known of it
		if err = nil; req.By.Recorded() {
			err = s.client.backend.RecordAudit(ctx, store.RecordAuditRequest{Entry: *req.Entry()})
		}
	}
	if err != nil {
		return done, err
	}
	settler := s.client.settler(nil)
	spread, err := settler.Spreading(ctx)
	if err != nil {
		return done, err
	}
	return done, s.client.Schedules.spreadNow(ctx, settler, spread)
}

// endedOf counts the nodes of a host, which must have ended.
func (s *NodeService) endedOf(ctx context.Context, host string) (ended int, err error) {
	nodes, err := s.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, n := range nodes {
		switch {
		case n.Host != host:
		case n.EndedAt.IsZero():
			return 0, fmt.Errorf("%w: node %s of it lives; stop the node first", ErrConflict, n.Name)
		default:
			ended++
		}
	}
	return ended, nil
}

// forgetCopies ends the copies of a host, and counts them in done.
func (s *NodeService) forgetCopies(ctx context.Context, host string, done *ForgottenHost) error {
	filter := OwnerFilter{Limit: maxPage}
	for {
		owners, err := s.client.Schedules.Owners(ctx, filter)
		if err != nil {
			return err
		}
		for _, owner := range owners {
			filter.After = owner.Name
			if _, declares := owner.CopyOf(host); !declares {
				continue
			}
			ended, err := s.client.Schedules.SyncCopy(ctx, HostCopy{Owner: owner.Name, Host: host, Gone: true})
			if err != nil {
				return err
			}
			done.Copies++
			done.Schedules += ended.Deleted
		}
		if len(owners) < filter.Limit {
			return nil
		}
	}
}
