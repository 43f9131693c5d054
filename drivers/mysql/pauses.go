package mysql

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Put creates or changes definitions; see store.Definitions.
func (b *Backend) Put(ctx context.Context, req store.PutRequest) (store.PutResult, error) {
	if req.Of() == store.OfFeed {
		if err := b.numberEvents(ctx); err != nil { // BeginFeed leaves out the number after the last number
			return store.PutResult{}, err
		}
	}
	out, err := b.calls.Put(ctx, req)
	if err == nil && len(req.Pauses) > 0 {
		err = b.clearPaused(ctx, req)
	}
	return out, err
}

// clearPaused ends what has begun before a pause. A claim that does not see the pause has begun before its commit, so that the next
// transaction waits for it, and then takes back permits. Then due jobs of groups and keys are parked in steps, so that no claim has to
// park many.
func (b *Backend) clearPaused(ctx context.Context, req store.PutRequest) error {
	doing := req.String()
	if err := b.awaitClaims(ctx, doing); err != nil {
		return err
	}
	err := b.Write(ctx, doing, nil)(func(s *session) error {
		s.wakes |= wakeCancels // claims that do not see the pause are committed now
		for _, put := range req.Pauses {
			if err := s.ReturnPausedPermits(ctx, put.Subject, put.Name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.Park(ctx, req)
}

// awaitedNodes is for how many nodes at a time awaitClaims waits.
const awaitedNodes = 4

// awaitClaims waits for the claims that have begun. It locks each node by a statement that is a transaction of its own, so that no node
// is kept from claiming for longer than its own claims last.
func (b *Backend) awaitClaims(ctx context.Context, doing string) error {
	living, err := rowwise.InTx(b.look(ctx, doing), func(s *session) ([]store.NodeInfo, error) { return s.FindLivingNodes(ctx) })
	if err != nil {
		return err
	}
	var waiting sync.WaitGroup
	errs := make([]error, awaitedNodes)
	for first := range awaitedNodes {
		waiting.Go(func() {
			for i := first; i < len(living) && errs[first] == nil; i += awaitedNodes {
				errs[first] = b.look(ctx, doing)(func(s *session) error {
					_, err := s.Numbers(ctx, lockClaimingNode, args{"node": living[i].ID})
					return err
				})
			}
		})
	}
	waiting.Wait()
	err = cmp.Or(errs...)
	if err == nil && b.server.galera { // the claims of other servers; see TouchJobs
		_, err = b.takeTokens(ctx, doing, 1)
	}
	return err
}

// pauseOf names a pause.
type pauseOf struct {
	subject store.PauseSubject
	name    string
}

// pausesOf runs a statement that returns the names of pauses.
func (s *session) pausesOf(ctx context.Context, name statement, a args) (pauses []pauseOf, err error) {
	err = s.Each(ctx, name, a, func(r row) error {
		var p pauseOf
		err := r.Scan(&p.subject, &p.name)
		pauses = append(pauses, p)
		return err
	})
	return pauses, err
}

// EndPauses implements sqlrows.Dialect.
func (s *session) EndPauses(ctx context.Context, now time.Time) (int, error) {
	ended, err := s.pausesOf(ctx, lockEndedPauses, args{"now": sqlrows.Micros(now)})
	if err != nil {
		return 0, err
	}
	moved, lanes := 0, false
	for _, p := range ended {
		left, find := 0, findParkedOfGroup
		switch p.subject {
		case store.SubjectKey:
			find = findParkedOfKey
			fallthrough
		case store.SubjectGroup:
			ids, err := s.Numbers(ctx, find, args{"name": p.name, "now": sqlrows.Micros(now), "limit": sqlrows.PauseStep})
			if err != nil {
				return 0, err
			}
			free, err := s.pausable(ctx, lockParkedJobs, ids)
			if err != nil {
				return 0, err
			}
			if err := s.OnIDs(ctx, free, sqlrows.UnparkJobs, updateRare); err != nil {
				return 0, err
			}
			moved, left = moved+len(free), len(ids)-len(free)
			if len(ids) == sqlrows.PauseStep {
				left++
			}
		default:
			lanes = true
		}
		if left == 0 {
			if err := s.Exec(ctx, sqlrows.DeletePauses, args{"subject": int16(p.subject), "name": p.name}); err != nil {
				return 0, err
			}
		}
	}
	if lanes {
		return moved, s.Exec(ctx, sqlrows.InsertLimitVacancies, nil)
	}
	return moved, nil
}

// pausable locks the given jobs that a step parks or makes claimable.
func (s *session) pausable(ctx context.Context, name statement, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return s.Numbers(ctx, name, args{"ids": sqlrows.JSONList(slices.Sorted(slices.Values(ids)))})
}

// ParkJobs implements sqlrows.Dialect, with at most sqlrows.PauseStep jobs of each group and key. The pauses do not end
// before the transaction does.
func (s *session) ParkJobs(ctx context.Context, now time.Time) (parked int, err error) {
	lock := lockParkingPauses
	if s.cluster {
		lock = lockParkingPausesAlone
	}
	pauses, err := s.pausesOf(ctx, lock, args{"now": sqlrows.Micros(now), "limit": sqlrows.PauseStep})
	if err != nil {
		return 0, err
	}
	for _, p := range pauses {
		if s.cluster { // see TouchJobs
			if err := s.Exec(ctx, touchPause, args{"subject": int16(p.subject), "name": p.name}); err != nil {
				return 0, err
			}
		}
		find := findParkableOfGroup
		if p.subject == store.SubjectKey {
			find = findParkableOfKey
		}
		ids, err := s.Numbers(ctx, find, args{"name": p.name, "now": sqlrows.Micros(now), "limit": sqlrows.PauseStep})
		if err != nil {
			return 0, err
		}
		if ids, err = s.pausable(ctx, lockUnparkedJobs, ids); err != nil {
			return 0, err
		}
		if err := s.OnIDs(ctx, ids, sqlrows.ParkJobs, updateRare); err != nil {
			return 0, err
		}
		parked += len(ids)
	}
	return parked, nil
}

// LockPauses implements rowwise.PausesTx.
func (s *session) LockPauses(ctx context.Context, subject store.PauseSubject, names []string) (map[string]store.Pause, error) {
	if err := s.Exec(ctx, lockPauseTable, nil); err != nil {
		return nil, err
	}
	return s.Session.LockPauses(ctx, subject, names)
}
