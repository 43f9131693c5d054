package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Register enters a node; see store.Nodes.
func (b *Backend) Register(ctx context.Context, req store.RegisterRequest) (store.RegisterResult, error) {
	var out store.RegisterResult
	err := b.write(ctx, "register node", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		out.Now = now
		err = s.one(ctx, insertNode, args{
			"name": req.Name, "version": req.Version, "queues": jsonList(req.Queues), "kinds": jsonList(req.Kinds),
			"lease": req.Lease.Microseconds(), "now": micros(now),
		}, &out.Node)
		if err != nil {
			return err
		}
		out.Position, err = s.position(ctx)
		return err
	})
	if err != nil {
		return store.RegisterResult{}, err
	}
	return out, nil
}

// Heartbeat prolongs a lease; see store.Nodes. There are no batches to forget.
func (b *Backend) Heartbeat(ctx context.Context, req store.HeartbeatRequest) (store.HeartbeatResult, error) {
	var out store.HeartbeatResult
	err := b.write(ctx, "heartbeat", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		out.Now = now
		err = s.each(ctx, extendLease, args{"node": req.Node, "now": micros(now)}, func(r row) error { return r.Scan(&out.Beat) })
		if err != nil {
			return err
		}
		if out.Beat == 0 {
			return fmt.Errorf("node %d: %w", req.Node, store.ErrNodeGone)
		}
		if out.Position, err = s.position(ctx); err != nil {
			return err
		}
		return s.one(ctx, findNextExpiry, args{"node": req.Node}, into(&out.NextExpiry))
	})
	if err != nil {
		return store.HeartbeatResult{}, err
	}
	return out, nil
}

// Claims lists what a node holds; see store.Nodes.
func (b *Backend) Claims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error) {
	name := listClaims
	if req.Cancelled {
		name = listCancelledClaims
	}
	var out []store.ClaimRef
	err := b.read(ctx, "read claims", func(s *session) error {
		return s.each(ctx, name, args{"node": req.Node}, func(r row) error {
			var ref store.ClaimRef
			err := r.Scan(&ref.ID, &ref.Token)
			out = append(out, ref)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Rescue declares nodes dead; see store.Nodes. It looks first without the
// write lock.
func (b *Backend) Rescue(ctx context.Context, req store.RescueRequest) (store.RescueResult, error) {
	const doing = "rescue"
	some := false
	err := b.read(ctx, doing, func(s *session) error {
		_, expired, err := s.expiredNodes(ctx, req)
		some = len(expired) > 0
		return err
	})
	if err != nil || !some {
		return store.RescueResult{}, err
	}
	var out store.RescueResult
	err = b.write(ctx, doing, func(s *session) error {
		now, expired, err := s.expiredNodes(ctx, req)
		if err != nil {
			return err
		}
		out, err = s.endNodes(ctx, expired, true, req.After, now)
		return err
	})
	if err != nil {
		return store.RescueResult{}, err
	}
	return out, nil
}

// expiredNodes returns now and the other nodes whose lease has passed; none if
// the node that asks was not heard lately.
func (s *session) expiredNodes(ctx context.Context, req store.RescueRequest) (time.Time, []store.NodeInfo, error) {
	now, err := s.now(ctx, req.Now)
	if err != nil {
		return now, nil, err
	}
	nodes, err := s.nodes(ctx, findExpiredNodes, args{"node": req.Node, "now": micros(now)})
	return now, nodes, err
}

// Leave ends a registration; see store.Nodes.
func (b *Backend) Leave(ctx context.Context, req store.LeaveRequest) (store.RescueResult, error) {
	var out store.RescueResult
	err := b.write(ctx, "leave", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		living, err := s.nodes(ctx, findLivingNode, args{"node": req.Node})
		if err != nil {
			return err
		}
		out, err = s.endNodes(ctx, living, false, req.After, now)
		return err
	})
	if err != nil {
		return store.RescueResult{}, err
	}
	return out, nil
}

// endNodes ends nodes and takes their jobs from them. after, if not nil, says
// what else happens for each job that is lost.
func (s *session) endNodes(ctx context.Context, nodes []store.NodeInfo, died bool, after func(store.LostJob) *store.FollowUp, now time.Time) (store.RescueResult, error) {
	out := store.RescueResult{Nodes: nodes}
	if len(nodes) == 0 {
		return out, nil
	}
	ids := make([]int64, len(nodes))
	for i := range nodes {
		nodes[i].EndedAt, nodes[i].Died, nodes[i].Running = now, died, 0
		ids[i] = nodes[i].ID
	}
	list := jsonList(ids)
	if err := s.exec(ctx, endNodes, args{"nodes": list, "died": died, "now": micros(now)}); err != nil {
		return out, err
	}
	held, err := s.heldJobs(ctx, list)
	if err != nil {
		return out, err
	}
	groups, err := s.groups(ctx, groupsOf(held, died))
	if err != nil {
		return out, err
	}
	var ends []ending
	var ready []again
	var freed []store.SerialGroup
	var lost []int64
	var followUps []*store.FollowUp
	for i := range held {
		h := &held[i]
		h.loss.Died, h.loss.Waits = died, groups[h.loss.Group].Waits()
		effect := h.loss.Effect()
		h.State, h.Begun = effect.State, h.loss.Begun
		out.Jobs = append(out.Jobs, h.RescuedJob)
		if effect.State == store.StateReady {
			ready = append(ready, readyAgain(h.ID, effect))
			continue
		}
		ends = append(ends, ending{ID: h.ID, State: effect.State, Reason: effect.Reason, asked: h.loss.Asked})
		freed = append(freed, h.loss.Group)
		if effect.LossCounts {
			lost = append(lost, h.ID)
		}
		if after != nil && effect.State == store.StateFailed {
			followUps = append(followUps, after(h.lost()))
		}
	}
	if err := s.onIDs(ctx, lost, nil, countLosses); err != nil {
		return out, err
	}
	if err := s.endJobs(ctx, ends, now); err != nil {
		return out, err
	}
	if err := s.readyJobs(ctx, ready, now); err != nil {
		return out, err
	}
	if err := s.release(ctx, freed); err != nil {
		return out, err
	}
	return out, s.follow(ctx, followUps, now)
}

// heldJob is a job that is to be taken from a node.
type heldJob struct {
	store.RescuedJob
	loss         store.Loss
	headers      []byte
	schedule     int64
	scheduleName string
	slot         time.Time
}

// lost is the job as one that fails as lost.
func (h *heldJob) lost() store.LostJob {
	return store.LostJob{
		ID: h.ID, Token: h.Token, Kind: h.Kind, Queue: h.Queue, Headers: h.headers, Attempt: h.loss.Attempt,
		Schedule: h.schedule, ScheduleName: h.scheduleName, Slot: h.slot,
	}
}

// groupsOf returns the serial groups in which jobs of dead nodes may give way to
// waiting jobs.
func groupsOf(held []heldJob, died bool) (groups []store.SerialGroup) {
	for i := range held {
		if group := held[i].loss.Group; died && group.GivesWay() {
			groups = append(groups, group)
		}
	}
	return groups
}

func (s *session) heldJobs(ctx context.Context, nodes string) ([]heldJob, error) {
	var held []heldJob
	err := s.each(ctx, lockHeldJobs, args{"nodes": nodes}, func(r row) error {
		var h heldJob
		var origin store.Origin
		var why *string
		l := &h.loss
		err := r.Scan(&h.ID, &h.Token, &h.Kind, &h.Queue, &h.Node, &l.OnLoss, &l.Attempt, &l.MaxAttempts, &why,
			&h.headers, &h.schedule, &h.scheduleName, into(&h.slot), &origin, &l.Losses, &l.Begun)
		l.Group = store.SerialGroupOf(h.schedule, origin)
		if why != nil {
			l.Asked, l.Why = true, *why
		}
		held = append(held, h)
		return err
	})
	return held, err
}

// ListNodes lists nodes; see store.Nodes.
func (b *Backend) ListNodes(ctx context.Context) ([]store.NodeInfo, error) {
	var out []store.NodeInfo
	err := b.read(ctx, "list nodes", func(s *session) error {
		var err error
		out, err = s.nodes(ctx, listNodes, nil)
		return err
	})
	return out, err
}

// nodeColumns are the columns that nodes scans.
const nodeColumns = "id name version queues kinds lease started_at seen_at ended_at died running"

// nodes runs a statement that returns nodes.
func (s *session) nodes(ctx context.Context, name statement, a args) ([]store.NodeInfo, error) {
	var out []store.NodeInfo
	err := s.each(ctx, name, a, func(r row) error {
		var n store.NodeInfo
		err := r.Scan(&n.ID, &n.Name, &n.Version, wordsScanner{&n.Queues}, wordsScanner{&n.Kinds}, durationScanner{&n.Lease},
			into(&n.StartedAt), into(&n.SeenAt), into(&n.EndedAt), &n.Died, &n.Running)
		out = append(out, n)
		return err
	})
	return out, err
}

// ListQueues counts live jobs; see store.Nodes.
func (b *Backend) ListQueues(ctx context.Context) ([]store.QueueInfo, error) {
	var out []store.QueueInfo
	err := b.read(ctx, "list queues", func(s *session) error {
		now, err := s.now(ctx, time.Time{})
		if err != nil {
			return err
		}
		return s.each(ctx, listQueues, args{"now": micros(now)}, func(r row) error {
			var q store.QueueInfo
			err := r.Scan(&q.Name, &q.Ready, &q.Scheduled, &q.Running, &q.Waiting)
			out = append(out, q)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
