package mysql

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// CarryOut implements store.Deferring: it carries out notes of ended jobs. The notes of dependents that stay locked
// are left for later. If other rows that a step needs stay locked, the step is done note by note, and
// without the note that needs them.
func (b *Backend) CarryOut(ctx context.Context, req store.CarryOutRequest) error {
	const doing = "release dependents"
	most := rowwise.ReleaseNotes
	for after, more := int64(0), true; more; {
		run, tried := b.writeOnly(ctx, doing), int64(0)
		if req.Tx != nil {
			run = b.Write(ctx, doing, req.Tx)
		}
		did, err := rowwise.InTx(run, func(s *session) (did releaseStep, err error) {
			now, err := s.Now(ctx, req.Now)
			if err != nil {
				return did, err
			}
			t := &stepTx{session: s, most: most}
			did.next, did.more, err = rowwise.ReleaseDependents(ctx, t, after, now)
			tried = t.last // kept: the step was given up at this note
			return did, err
		})
		more = did.more
		switch held := errors.Is(err, errHeld) || numberOf(err) == errDuplicate; { // the key of a job that is to wait again has just been taken
		case held && most > 1:
			most, more = 1, true
		case held && tried > 0:
			after, more = tried, true
		case err != nil:
			return err
		default:
			after = did.next
		}
	}
	return nil
}

// releaseStep is the progress of a step of CarryOut.
type releaseStep struct {
	next int64 // where the next step begins
	more bool
}

// stepTx is the transaction of a step.
type stepTx struct {
	*session
	most int   // notes that the step locks
	last int64 // the last row of notes that was locked
}

// LockNotes implements rowwise.Edges.
func (t *stepTx) LockNotes(ctx context.Context, after int64, limit int) (notes []rowwise.Note, more bool, err error) {
	notes, more, err = t.session.LockNotes(ctx, after, min(limit, t.most))
	if len(notes) > 0 {
		t.last = notes[len(notes)-1].ID
	}
	return notes, more, err
}

// LockWaiting implements rowwise.Edges. It returns the jobs that stay locked.
func (t *stepTx) LockWaiting(ctx context.Context, ids []int64) (waiting []rowwise.JobWait, busy []int64, err error) {
	busy, err = lookFor(ctx, ids, func(ids []int64) ([]int64, error) {
		some, missing, err := t.lockWaiting(ctx, lockFreeDependents, lockFreeNotStarted, ids)
		waiting = append(waiting, some...)
		if err != nil || len(missing) == 0 {
			return nil, err
		}
		return t.Numbers(ctx, findBusyDependents, args{"ids": missing})
	})
	slices.SortFunc(waiting, func(a, b rowwise.JobWait) int { return cmp.Compare(a.ID, b.ID) })
	return waiting, busy, err
}

// LockPredecessors implements rowwise.Edges.
func (t *stepTx) LockPredecessors(ctx context.Context, ids []int64, _ time.Time) (found []store.Ended, err error) {
	err = atOnce(ctx, func() (err error) {
		found, err = t.lockPredecessors(ctx, lockFreePredecessors, ids)
		return err
	})
	return found, err
}

// LockFollowers implements rowwise.Chains.
func (t *stepTx) LockFollowers(ctx context.Context, predecessors []int64) (followers []rowwise.Follower, err error) {
	err = atOnce(ctx, func() (err error) {
		followers, err = t.ReadFollowers(ctx, lockFreeFollowers, predecessors)
		return err
	})
	return followers, err
}

// LeaveNotes implements rowwise.NoteLeaver.
func (t *stepTx) LeaveNotes(ctx context.Context, notes []rowwise.Note) error {
	rows := make([]args, len(notes))
	for i, n := range notes {
		rows[i] = args{
			"number": n.Number, "on_id": n.Ended.ID, "schedule": sqlrows.OrNull(n.Schedule), "done_to": n.DoneTo,
			"ended_at": sqlrows.Micros(n.At), "state": int16(n.State), "reason": n.Reason,
		}
	}
	return t.InsertRows(ctx, insertLeftReleases, rows)
}

// LockPredecessors implements rowwise.Edges. It waits for transactions that end one of the jobs. A job
// that is retried by hand while it is looked for is found by another look.
func (s *session) LockPredecessors(ctx context.Context, ids []int64, _ time.Time) ([]store.Ended, error) {
	return s.lockPredecessors(ctx, lockPredecessors, ids)
}

func (s *session) lockPredecessors(ctx context.Context, lock statement, ids []int64) (found []store.Ended, err error) {
	missing := slices.Clone(ids)
	seen := func(id int64) {
		missing = slices.DeleteFunc(missing, func(other int64) bool { return other == id })
	}
	lockLive := func() error {
		live, err := s.Numbers(ctx, lock, args{"ids": missing})
		if err != nil || len(live) == 0 {
			return err
		}
		for _, id := range live {
			found = append(found, store.Ended{ID: id})
			seen(id)
		}
		if err := s.TouchJobs(ctx, live); err != nil {
			return err
		}
		return s.OnIDs(ctx, live, sqlrows.MarkReleases)
	}
	readEnds := func() error {
		ends, err := s.ReadEnds(ctx, findEnds, missing)
		for _, e := range ends {
			found = append(found, e)
			seen(e.ID)
		}
		return err
	}
	for _, look := range []func() error{lockLive, readEnds, lockLive} {
		if len(missing) == 0 {
			break
		}
		if err := look(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// KnownJobs implements rowwise.Edges.
func (s *session) KnownJobs(ctx context.Context, ids []int64) ([]int64, error) {
	return s.Numbers(ctx, findPredecessors, args{"ids": ids})
}

// SaveEdges implements rowwise.Edges. If another transaction has decided or opened some of the edges,
// because a job was retried by hand, the transaction begins again.
func (s *session) SaveEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	n, err := s.UpdateEdges(ctx, edges) // each row changes, so that all servers count it
	if err == nil && n < len(edges) {
		err = errMoved
	}
	return err
}

// LockWaiting implements rowwise.Edges. It waits for other transactions.
func (s *session) LockWaiting(ctx context.Context, ids []int64) (waiting []rowwise.JobWait, _ []int64, err error) {
	waiting, _, err = s.lockWaiting(ctx, lockDependents, lockNotStarted, ids)
	return waiting, nil, err
}

// lockWaiting locks jobs that wait, and jobs that were not started. It returns the jobs that wait, and
// which jobs were not locked. Another transaction may let a job wait again while it is looked for, so that
// a job which is in neither table is looked up again.
func (s *session) lockWaiting(ctx context.Context, lock, lockEnded statement, ids []int64) (waiting []rowwise.JobWait, missing []int64, err error) {
	found := make(map[int64]bool, len(ids))
	lockLive := func() error {
		live, err := s.ReadWaits(ctx, lock, missing)
		for _, w := range live {
			waiting, found[w.ID] = append(waiting, w), true
		}
		return err
	}
	lockFinished := func() error {
		ended, err := s.Numbers(ctx, lockEnded, args{"ids": missing})
		for _, id := range ended {
			found[id] = true
		}
		return err
	}
	missing = slices.Clone(ids)
	for _, look := range []func() error{lockLive, lockFinished, lockLive} {
		if err := look(); err != nil {
			return nil, nil, err
		}
		missing = slices.DeleteFunc(missing, func(id int64) bool { return found[id] })
		if len(missing) == 0 {
			break
		}
	}
	slices.SortFunc(waiting, func(a, b rowwise.JobWait) int { return cmp.Compare(a.ID, b.ID) })
	return waiting, missing, nil
}
