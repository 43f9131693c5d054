package mysql

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// RecountPermits is a step of the upkeep of limits; see store.Permits. Jobs that hold permits have no index, in which each job
// would have an entry, so that a step reads the live jobs, unless nothing has to do with permits.
func (b *Backend) RecountPermits(ctx context.Context, req store.RecountRequest) (out store.RecountResult, err error) {
	const doing = "recount permits"
	type found struct {
		oldest  int64
		permits bool
	}
	there, err := rowwise.InTx(b.look(ctx, doing), func(s *session) (there found, err error) {
		err = s.One(ctx, findRecount, nil, &there.oldest, &there.permits)
		return there, err
	})
	if err != nil || !there.permits || req.Node != 0 && req.Node != there.oldest {
		return out, err
	}
	return rowwise.InTx(b.Write(ctx, doing, nil), func(s *session) (store.RecountResult, error) {
		return rowwise.RecountPermits(ctx, s, req)
	})
}

// ReturnIdlePermits implements rowwise.RecountTx.
func (s *session) ReturnIdlePermits(ctx context.Context, most int) (int, error) {
	served, err := s.served(ctx)
	if err != nil {
		return 0, err
	}
	ids, err := s.Numbers(ctx, findIdleJobs, args{"served": served, "limit": most})
	if err != nil {
		return 0, err
	}
	returned, err := s.TakePermits(ctx, ids)
	if err != nil {
		return 0, err
	}
	heads, err := s.idleHeads(ctx, served, most)
	if err != nil {
		return 0, err
	}
	return len(returned) + len(heads), s.OnIDs(ctx, heads, sqlrows.ClearPermits, updateRare)
}

// served returns each pair of a kind and a queue that a living node takes, in the form that find_idle_jobs expects. A place has a queue of its own.
func (s *session) served(ctx context.Context) ([]string, error) {
	nodes, err := s.FindLivingNodes(ctx)
	served := []string{""} // because no job is outside of an empty list
	for _, n := range nodes {
		for _, queue := range n.Queues {
			queues := []string{queue, queue + "@" + n.Host}
			for _, label := range n.Labels {
				queues = append(queues, queue+"@"+label)
			}
			for _, name := range queues {
				for _, kind := range n.Kinds {
					served = append(served, kind+"\n"+name)
				}
			}
		}
	}
	return served, err
}

// idleHeads locks jobs at the heads of lanes that no living node runs.
func (s *session) idleHeads(ctx context.Context, served []string, most int) ([]int64, error) {
	lanes, err := s.Numbers(ctx, findIdleLanes, args{"served": served, "limit": most})
	if err != nil {
		return nil, err
	}
	each := make([]args, len(lanes))
	for i, lane := range lanes {
		each[i] = args{"lane": lane, "served": served}
	}
	var ids []int64
	err = s.unite(ctx, findIdleHeads, each, func(r row) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	jobs, err := s.laneJobs(ctx, lockLaneJobs, ids[:min(len(ids), most)])
	locked := make([]int64, len(jobs))
	for i := range jobs {
		locked[i] = jobs[i].ID
	}
	return locked, err
}

// DeleteGonePermits implements rowwise.RecountTx.
func (s *session) DeleteGonePermits(ctx context.Context) (int, error) {
	type permit struct {
		Limit int64 `json:"limit"`
		Node  int64 `json:"node"`
	}
	var gone []permit
	err := s.Each(ctx, findGonePermits, nil, func(r row) error {
		var p permit
		err := r.Scan(&p.Limit, &p.Node)
		gone = append(gone, p)
		return err
	})
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	return s.Count(ctx, sqlrows.DeleteGonePermits, args{"permits": sqlrows.JSON(gone)})
}

// TakePermits implements sqlrows.Dialect.
func (s *session) TakePermits(ctx context.Context, ids []int64) ([]int64, error) {
	taken, err := s.Session.TakePermits(ctx, ids)
	return taken, s.updateAfter(ctx, taken, err)
}
