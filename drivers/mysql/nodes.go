package mysql

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
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
		entry := args{
			"version": req.Version, "host": req.Host, "labels": jsonList(req.Labels), "queues": jsonList(req.Queues), "kinds": jsonList(req.Kinds),
			"lease": req.Lease.Microseconds(), "now": micros(now),
		}
		if out.Node = req.Continue; req.Continue == 0 {
			if out.Node, err = s.giveNumbers(ctx, "node", 1); err != nil {
				return err
			}
			entry["node"], entry["name"] = out.Node, req.Name
			err = s.exec(ctx, insertNode, entry)
		} else {
			entry["node"] = req.Continue
			_, err = s.beat(ctx, updateNode, req.Continue, entry)
		}
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
		if out.Beat, err = s.beat(ctx, extendLease, req.Node, args{"node": req.Node, "now": micros(now)}); err != nil {
			return err
		}
		if out.Position, err = s.position(ctx); err != nil {
			return err
		}
		if err := s.one(ctx, findRelease, nil, &out.Releases); err != nil {
			return err
		}
		return s.one(ctx, findNextExpiry, args{"node": req.Node}, into(&out.NextExpiry))
	})
	if err != nil {
		return store.HeartbeatResult{}, err
	}
	return out, nil
}

// beat runs a statement that counts a heartbeat of a node, and returns how many the node has sent. The error of a
// node without a lease is store.ErrNodeGone.
func (s *session) beat(ctx context.Context, name statement, node int64, a args) (beats int64, err error) {
	result, err := s.run(ctx, name, a)
	if err != nil {
		return 0, err
	}
	if beats, err = result.LastInsertId(); err == nil && beats == 0 {
		err = fmt.Errorf("node %d: %w", node, store.ErrNodeGone)
	}
	return beats, err
}

// Claims lists what a node holds; see store.Nodes.
func (b *Backend) Claims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error) {
	var out []store.ClaimRef
	err := b.read(ctx, "read claims", func(s *session) (err error) {
		switch {
		case req.Cancelled:
			out, err = s.claims(ctx, listCancelledClaims, args{"node": req.Node})
		case req.Paused:
			var now time.Time
			if now, err = s.now(ctx, req.Now); err == nil {
				out, err = s.claims(ctx, listPausedClaims, args{"node": req.Node, "now": micros(now)})
			}
		default:
			out, err = s.claims(ctx, listClaims, args{"node": req.Node})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// claims reads the claims that a statement lists.
func (s *session) claims(ctx context.Context, list statement, a args) (out []store.ClaimRef, err error) {
	err = s.each(ctx, list, a, func(r row) error {
		var ref store.ClaimRef
		err := r.Scan(&ref.ID, &ref.Token)
		out = append(out, ref)
		return err
	})
	return out, err
}

// Rescue declares nodes dead; see store.Nodes. It looks first without locks. It leaves jobs
// that other transactions have locked, and comes back.
func (b *Backend) Rescue(ctx context.Context, req store.RescueRequest) (out store.RescueResult, err error) {
	const doing = "rescue"
	some := false
	err = b.read(ctx, doing, func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		living, err := s.nodes(ctx, findLiveNodes, args{})
		if some = len(store.Expired(living, req.Node, now)) > 0; some || err != nil || !store.MayRescue(living, req.Node, now) {
			return err
		}
		return s.one(ctx, findLeftNodes, args{"now": micros(now)}, &some)
	})
	if err != nil || !some {
		return out, err
	}
	err = b.writeAt(ctx, doing, req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.Rescue(ctx, s, req, now)
		return err
	})
	if err != nil {
		return store.RescueResult{}, err
	}
	return out, nil
}

// Leave ends a registration; see store.Nodes.
func (b *Backend) Leave(ctx context.Context, req store.LeaveRequest) (out store.RescueResult, err error) {
	err = b.writeAt(ctx, "leave", req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.Leave(ctx, s, req, now)
		return err
	})
	if err != nil {
		return store.RescueResult{}, err
	}
	return out, nil
}

// LockLivingNodes implements rowwise.Nodes.
func (s *session) LockLivingNodes(ctx context.Context) ([]store.NodeInfo, error) {
	return s.nodes(ctx, lockLiveNodes, args{})
}

// EndNodes implements rowwise.Nodes.
func (s *session) EndNodes(ctx context.Context, ids []int64, died bool, now time.Time) error {
	if err := s.exec(ctx, deleteNodePermits, args{"nodes": ids}); err != nil {
		return err
	}
	if s.cluster { // as each claim does; see touchJobs
		if _, err := s.raiseTokens(ctx, 1); err != nil {
			return err
		}
	}
	return s.exec(ctx, endNodes, args{"nodes": ids, "died": died, "now": micros(now)})
}

// LockHeldJobs implements rowwise.Nodes.
func (s *session) LockHeldJobs(ctx context.Context, nodes []int64) ([]rowwise.HeldJob, error) {
	var held []rowwise.HeldJob
	scan := func(r row) error {
		var h rowwise.HeldJob
		var why *string
		l := &h.Loss
		err := r.Scan(append([]any{
			&h.ID, &h.Token, &h.Node, &h.Attempt, &why, &h.Headers, &h.Schedule, &h.ScheduleName, into(&h.Slot), &h.Origin, &l.Losses, &l.Begun,
		}, specTargets(&h.JobSpec)...)...)
		l.OnLoss, l.Attempt, l.MaxAttempts, l.Group = h.OnLoss, h.Attempt, h.MaxAttempts, store.SerialGroupOf(h.Schedule, h.Origin)
		if why != nil {
			l.Asked, l.Why = true, *why
		}
		held = append(held, h)
		return err
	}
	for _, node := range nodes {
		if err := s.each(ctx, lockHeldJobs, args{"node": node}, scan); err != nil {
			return nil, err
		}
	}
	return held, nil
}

// LockLeftNodes implements rowwise.LeftNodes.
func (s *session) LockLeftNodes(ctx context.Context, now time.Time) ([]store.NodeInfo, error) {
	return s.nodes(ctx, lockLeftNodes, args{"now": micros(now)})
}

// SaveLeftNodes implements rowwise.LeftNodes.
func (s *session) SaveLeftNodes(ctx context.Context, nodes []int64, now time.Time) error {
	var left []int64
	err := s.each(ctx, findHoldingNodes, args{"nodes": nodes}, func(r row) error {
		var id int64
		err := r.Scan(&id)
		left = append(left, id)
		return err
	})
	if err != nil {
		return err
	}
	return s.exec(ctx, updateLeftNodes, args{"now": micros(now), "wait": store.LookAgain.Microseconds(), "left": left, "nodes": nodes})
}

// CountLosses implements rowwise.Nodes.
func (s *session) CountLosses(ctx context.Context, ids []int64) error {
	return s.onIDs(ctx, ids, countLosses)
}

// ForgetHost deletes what is known of a host; see store.Nodes.
func (b *Backend) ForgetHost(ctx context.Context, req store.ForgetHostRequest) (out store.ForgetHostResult, err error) {
	err = b.writeAt(ctx, "forget host", req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.ForgetHost(ctx, s, req, now)
		return err
	})
	return out, err
}

// CountHost implements rowwise.Hosts.
func (s *session) CountHost(ctx context.Context, host string) (living int, found store.ForgetHostResult, err error) {
	err = s.one(ctx, lockHostNodes, args{"host": host}, &living, &found.Nodes, &found.Copies)
	return living, found, err
}

// DeleteHost implements rowwise.Hosts.
func (s *session) DeleteHost(ctx context.Context, host string) error {
	if err := s.exec(ctx, deleteHostNodes, args{"host": host}); err != nil {
		return err
	}
	return s.exec(ctx, deleteHostCopies, args{"host": host})
}

// ListNodes lists nodes; see store.Nodes.
func (b *Backend) ListNodes(ctx context.Context) ([]store.NodeInfo, error) {
	var out []store.NodeInfo
	err := b.read(ctx, "list nodes", func(s *session) error {
		var err error
		out, err = s.nodes(ctx, listNodes, args{})
		return err
	})
	return out, err
}

// nodeColumns are the columns that nodes scans.
const nodeColumns = "id name version host labels queues kinds lease started_at seen_at ended_at died running"

// nodes runs a statement that returns nodes.
func (s *session) nodes(ctx context.Context, name statement, a args) ([]store.NodeInfo, error) {
	var out []store.NodeInfo
	err := s.each(ctx, name, a, func(r row) error {
		var n store.NodeInfo
		err := r.Scan(&n.ID, &n.Name, &n.Version, &n.Host, wordsScanner{&n.Labels}, wordsScanner{&n.Queues}, wordsScanner{&n.Kinds}, durationScanner{&n.Lease},
			into(&n.StartedAt), into(&n.SeenAt), into(&n.EndedAt), &n.Died, &n.Running)
		out = append(out, n)
		return err
	})
	return out, err
}

// ListQueues counts live jobs; see store.Nodes.
func (b *Backend) ListQueues(ctx context.Context, req store.ListQueuesRequest) ([]store.QueueInfo, error) {
	return b.countJobs(ctx, "list queues", listQueues, req.Now)
}

// ListKinds counts live jobs; see store.Nodes.
func (b *Backend) ListKinds(ctx context.Context, req store.ListKindsRequest) (out []store.KindInfo, err error) {
	counts, err := b.countJobs(ctx, "list kinds", listKinds, req.Now)
	for _, c := range counts {
		out = append(out, store.KindInfo(c))
	}
	return out, err
}

// countJobs counts live jobs by a name.
func (b *Backend) countJobs(ctx context.Context, doing string, list statement, asked time.Time) ([]store.QueueInfo, error) {
	var out []store.QueueInfo
	err := b.read(ctx, doing, func(s *session) error {
		now, err := s.now(ctx, asked)
		if err != nil {
			return err
		}
		return s.each(ctx, list, args{"now": micros(now)}, func(r row) error {
			var q store.QueueInfo
			err := r.Scan(&q.Name, &q.Ready, &q.Scheduled, &q.Running, &q.Waiting, into(&q.Oldest))
			out = append(out, q)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
