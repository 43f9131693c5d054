package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// CountLosses implements rowwise.Nodes.
func (s *Session) CountLosses(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, countLosses)
}

// CountHost implements rowwise.Hosts.
func (s *Session) CountHost(ctx context.Context, host string) (living, known int, err error) {
	var copies int
	err = s.One(ctx, lockHostNodes, Args{"host": host}, &living, &known, &copies)
	return living, known + copies, err
}

// DeleteHost implements rowwise.Hosts.
func (s *Session) DeleteHost(ctx context.Context, host string) error {
	if err := s.Exec(ctx, deleteHostNodes, Args{"host": host}); err != nil {
		return err
	}
	return s.Exec(ctx, deleteHostCopies, Args{"host": host})
}

// HeldColumns are the columns that scanHeld scans.
const HeldColumns = "id token node attempt reason headers schedule_id schedule_name slot origin losses begun {spec}"

// scanHeld scans a running job of a node that ends.
func scanHeld(r Row) (rowwise.HeldJob, error) {
	var h rowwise.HeldJob
	var why *string
	l := &h.Loss
	err := r.Scan(append([]any{
		&h.ID, &h.Token, &h.Node, &h.Attempt, &why, &h.Headers, &h.Schedule, &h.ScheduleName, IntoTime(&h.Slot), &h.Origin, &l.Losses, &l.Begun,
	}, SpecTargets(&h.JobSpec)...)...)
	l.SetJob(&h.LostJob)
	if why != nil {
		l.Asked, l.Why = true, *why
	}
	return h, err
}

// NodeColumns are the columns that ReadNodes scans.
const NodeColumns = "id name version host labels queues kinds zones problems lease started_at seen_at ended_at died beats running"

// ReadNodes runs a statement that returns nodes.
func (s *Session) ReadNodes(ctx context.Context, name Statement, a Args) ([]store.NodeInfo, error) {
	var out []store.NodeInfo
	err := s.Each(ctx, name, a, func(r Row) error {
		var n store.NodeInfo
		err := r.Scan(&n.ID, &n.Name, &n.Version, &n.Host, IntoList(&n.Labels), IntoList(&n.Queues), IntoList(&n.Kinds),
			IntoList(&n.Zones), IntoList(&n.Problems), IntoDuration(&n.Lease),
			IntoTime(&n.StartedAt), IntoTime(&n.SeenAt), IntoTime(&n.EndedAt), &n.Died, &n.Beats, &n.Running)
		out = append(out, n)
		return err
	})
	return out, err
}

// FindLivingNodes implements rowwise.Nodes.
func (s *Session) FindLivingNodes(ctx context.Context) ([]store.NodeInfo, error) {
	return s.ReadNodes(ctx, findLiveNodes, nil)
}

// LockLivingNodes implements rowwise.Nodes.
func (s *Session) LockLivingNodes(ctx context.Context, ids []int64) ([]store.NodeInfo, error) {
	return s.ReadNodes(ctx, lockLiveNodes, Args{"nodes": ids})
}

// EndNodes implements rowwise.Nodes.
func (s *Session) EndNodes(ctx context.Context, ids []int64, died bool, now time.Time) error {
	if err := s.Exec(ctx, deleteNodePermits, Args{"nodes": ids}); err != nil {
		return err
	}
	return s.Exec(ctx, endNodes, Args{"nodes": ids, "died": died, "now": Micros(now)})
}

// LockHeldJobs implements rowwise.Nodes.
func (s *Session) LockHeldJobs(ctx context.Context, nodes []int64) (held []rowwise.HeldJob, err error) {
	for _, node := range nodes {
		err := s.Each(ctx, LockHeldJobs, Args{"node": node}, func(r Row) error {
			h, err := scanHeld(r)
			held = append(held, h)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return held, nil
}

// HasLeftNodes implements Tx, where no lock lets LockHeldJobs leave out jobs.
func (s *Session) HasLeftNodes(context.Context, time.Time) (bool, error) { return false, nil }

// Register enters a node; see store.Nodes.
func (c Calls[S]) Register(ctx context.Context, req store.RegisterRequest) (store.RegisterResult, error) {
	return rowwise.InTx(c.Write(ctx, "register node", nil), func(s S) (out store.RegisterResult, err error) {
		if out.Now, err = s.Now(ctx, req.Now); err != nil {
			return out, err
		}
		entry := Args{
			"version": req.Version, "host": req.Host, "labels": JSONList(req.Labels), "queues": JSONList(req.Queues), "kinds": JSONList(req.Kinds),
			"zones": JSONList(req.Zones), "problems": store.EncodeProblems(req.Problems), "lease": req.Lease.Microseconds(),
		}
		if req.Continue == 0 {
			entry["name"] = req.Name
		}
		if out.Node, err = s.EnterNode(ctx, req.Continue, entry, out.Now); err != nil {
			return out, err
		}
		out.Position, err = s.Base().Position(ctx)
		return out, err
	})
}

// Rescue declares nodes dead; see store.Nodes. It looks first in a transaction that only reads.
func (c Calls[S]) Rescue(ctx context.Context, req store.RescueRequest) (out store.RescueResult, err error) {
	const doing = "rescue"
	some, err := rowwise.InTx(c.Read(ctx, doing, nil), func(s S) (bool, error) {
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return false, err
		}
		living, err := s.FindLivingNodes(ctx)
		if err != nil || len(store.Expired(living, req, now)) > 0 {
			return true, err
		}
		if !store.MayRescue(living, req, now) {
			return false, nil
		}
		return s.HasLeftNodes(ctx, now)
	})
	if err != nil || !some {
		return out, err
	}
	return rowwise.InTxAt(c.WriteAt(ctx, doing, nil, req.Now), func(s S, now time.Time) (store.RescueResult, error) {
		return rowwise.Rescue(ctx, s, req, now)
	})
}
