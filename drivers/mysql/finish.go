package mysql

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// InsertAttempts implements rowwise.Claims.
func (s *session) InsertAttempts(ctx context.Context, records []store.AttemptRecord, now time.Time) error {
	ids := sqlrows.NumbersOf(records, func(r *store.AttemptRecord) int64 { return r.ID })
	var old []args
	err := s.Each(ctx, findOldAttempts, args{"ids": sqlrows.JSONList(ids), "skip": store.MostAttempts - 1}, func(r row) error {
		var id, token int64
		err := r.Scan(&id, &token)
		old = append(old, args{"id": id, "token": token})
		return err
	})
	if err != nil {
		return err
	}
	if err := s.onEach(ctx, sqlrows.PruneAttempts, old); err != nil {
		return err
	}
	names, err := s.nodeNames(ctx, ids)
	if err != nil {
		return err
	}
	return s.StoreAttempts(ctx, records, names, s.rowBytes, now)
}

// nodeNames returns the names of the nodes of live jobs, which are locked, for statements with {node_name}. A
// transaction of the program must not lock nodes, whose heartbeats would wait for its end.
func (s *session) nodeNames(ctx context.Context, jobs []int64) (map[int64]string, error) {
	if !s.callers {
		return nil, nil
	}
	var nodes []int64
	nodeOf, nameOf := map[int64]int64{}, map[int64]string{}
	err := s.Each(ctx, findJobNodes, args{"ids": sqlrows.JSONList(jobs)}, func(r row) error {
		var id, node int64
		err := r.Scan(&id, &node)
		nodeOf[id], nodes = node, append(nodes, node)
		return err
	})
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	err = s.Each(ctx, findNodeNames, args{"nodes": nodes}, func(r row) error {
		var node int64
		var name string
		err := r.Scan(&node, &name)
		nameOf[node] = name
		return err
	})
	names := map[int64]string{}
	for id, node := range nodeOf {
		names[id] = nameOf[node]
	}
	return names, err
}

// longList is how many numbers a list in a statement has at most. MariaDB makes a table of a list of 1,000, which takes longer
// than to search for its rows.
const longList = 500

// inChunks runs a statement with parts of a list, whose parameter is ids.
func (s *session) inChunks(ctx context.Context, name statement, ids []int64, a args) error {
	for part := range slices.Chunk(ids, longList) {
		a["ids"] = part
		if err := s.Exec(ctx, name, a); err != nil {
			return err
		}
	}
	return nil
}

// LockClaims implements rowwise.Claims.
func (s *session) LockClaims(ctx context.Context, claims []store.ClaimRef) ([]rowwise.Held, error) {
	s.plain = map[int64]bool{}
	var rare bool
	return s.ReadHeld(ctx, lockClaims, claims, func(id int64) { s.plain[id] = !rare }, &rare)
}

// KeepEnded implements sqlrows.Dialect.
func (s *session) KeepEnded(ctx context.Context, jobs []sqlrows.Ended, now time.Time) error {
	ids := sqlrows.NumbersOf(jobs, func(job *sqlrows.Ended) int64 { return job.ID })
	names, err := s.nodeNames(ctx, ids)
	if err != nil {
		return err
	}
	for i := range jobs {
		jobs[i].NodeName = names[jobs[i].ID]
	}
	other := func(end sqlrows.Ended) bool {
		return end.State != jobs[0].State || end.Reason != "" || end.ResultOrKeep()
	}
	if s.callers || slices.ContainsFunc(jobs, other) {
		return s.Session.KeepEnded(ctx, jobs, now)
	}
	return s.inChunks(ctx, endJobsAlike, ids, args{"now": sqlrows.Micros(now), "state": jobs[0].State})
}

// RemoveEnded implements sqlrows.Dialect.
func (s *session) RemoveEnded(ctx context.Context, ids []int64) error {
	rares := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return s.plain[id] })
	if err := s.OnIDs(ctx, rares, deleteRare); err != nil {
		return err
	}
	return s.inChunks(ctx, sqlrows.DeleteEndedJobs, ids, args{})
}

// RequeueJobs implements rowwise.Claims.
func (s *session) RequeueJobs(ctx context.Context, jobs []rowwise.Requeue, now time.Time) error {
	var lost []int64
	for _, job := range jobs {
		if job.LossCounts {
			lost = append(lost, job.ID)
		}
	}
	if err := s.OnIDs(ctx, lost, insertMissingRare); err != nil {
		return err
	}
	return s.updateAfter(ctx, sqlrows.NumbersOf(jobs, func(job *rowwise.Requeue) int64 { return job.ID }), s.Session.RequeueJobs(ctx, jobs, now))
}
