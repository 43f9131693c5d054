package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Insert stores jobs; see store.Jobs.
func (b *Backend) Insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	if !b.insertsAtOnce(req) {
		return b.calls.Insert(ctx, req)
	}
	return rowwise.InTx(b.writeOnce(ctx, "insert jobs"), func(s *session) (out store.InsertResult, err error) {
		out.Jobs, err = s.InsertJobs(ctx, req.Jobs, req.Now)
		return out, err
	})
}

// insertsAtOnce reports whether one statement, which is a transaction of its own, is all of an insert.
func (b *Backend) insertsAtOnce(req store.InsertRequest) bool {
	switch {
	case len(req.Jobs) == 0 || req.Linked() || req.Tx != nil || req.By.Recorded() || store.HasKeys(req.Jobs) || len(req.Jobs) > 1 && b.server.galera:
		return false
	}
	size := 0
	for i := range req.Jobs {
		if req.Jobs[i].Waiting || rare(req.Jobs[i].Schedule, &req.Jobs[i].JobSpec) || req.Jobs[i].Origin.LeavesNotes() || req.Jobs[i].Origin == store.OriginTrigger {
			return false
		}
		size += 2*len(req.Jobs[i].Args) + 2*len(req.Jobs[i].Headers) + jobText
	}
	return size < b.rowBytes
}

// jobText is at most about how long the text of a job is without its args and headers.
const jobText = 4_000

// InsertJobs implements rowwise.Jobs. It inserts jobs, whose keys are free, in as many
// statements as they need. Every job that a session makes is inserted here.
func (s *session) InsertJobs(ctx context.Context, jobs []store.NewJob, now time.Time) ([]store.Inserted, error) {
	if err := s.lockSerialGroups(ctx, jobs); err != nil {
		return nil, err
	}
	step, err := s.readStep(ctx, len(jobs))
	if err != nil {
		return nil, err
	}
	a := args{} // of one job after the other
	ids, err := s.insertEach(ctx, insertJobs, len(jobs), step, func(i int) args {
		setJob(a, &jobs[i], now)
		return a
	})
	if err != nil {
		return nil, err
	}
	if err := s.insertRares(ctx, jobs, ids); err != nil {
		return nil, err
	}
	out := make([]store.Inserted, len(ids))
	for i := range out {
		out[i].ID = ids[i]
	}
	return out, nil
}
