package mysql

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// uniqueKey is a key in the JSON of a parameter, with its place.
type uniqueKey struct {
	Place  int    `json:"place"`
	Kind   string `json:"kind"`
	Unique string `json:"unique"`
}

// LockKeys implements rowwise.Jobs. A key that is free is not locked: if another transaction takes
// the key, the insert of the job fails, and the call begins again. In a caller's transaction, which may be
// REPEATABLE READ, a search for a row that is not there would lock the gap in which it would be, and two
// transactions that did so would end in a deadlock; so it first looks without locks.
func (s *session) LockKeys(ctx context.Context, keys []store.JobKey, now time.Time) (map[store.JobKey]store.KeyHolder, error) {
	rows := make([]uniqueKey, len(keys))
	for i, key := range keys {
		rows[i] = uniqueKey{i, key.Kind, key.Unique}
	}
	slices.SortFunc(rows, func(a, b uniqueKey) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Unique, b.Unique)) })
	if s.callers && !s.again {
		found, err := s.uniqueJobs(ctx, findUniqueJobs, keys, rows, now)
		if err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(rows, func(r uniqueKey) bool { return found[keys[r.Place]].ID == 0 })
	}
	holders := map[store.JobKey]store.KeyHolder{}
	if len(rows) > 0 {
		var err error
		if holders, err = s.uniqueJobs(ctx, lockUniqueJobs, keys, rows, now); err != nil {
			return nil, err
		}
		ids := make([]int64, 0, len(holders))
		for _, h := range holders {
			ids = append(ids, h.ID)
		}
		slices.Sort(ids)
		if err := s.TouchJobs(ctx, ids); err != nil { // the jobs may have ended on other servers
			return nil, err
		}
	}
	var free []uniqueKey
	for i, key := range keys {
		if _, live := holders[key]; !live {
			free = append(free, uniqueKey{i, key.Kind, key.Unique})
		}
	}
	held, err := s.lockHolds(ctx, free, now)
	for place, job := range held {
		holders[keys[place]] = store.KeyHolder{ID: job}
	}
	return holders, err
}

// uniqueJobs returns the live jobs that have some keys.
func (s *session) uniqueJobs(ctx context.Context, name statement, keys []store.JobKey, rows []uniqueKey,
	now time.Time,
) (map[store.JobKey]store.KeyHolder, error) {
	holders := map[store.JobKey]store.KeyHolder{}
	for part := range s.parts(rows) {
		err := s.Each(ctx, name, args{"keys": sqlrows.JSONList(part), "now": sqlrows.Micros(now)}, func(r row) error {
			var place int
			h := store.KeyHolder{Live: true}
			err := r.Scan(&place, &h.ID, &h.Begun, &h.Running, &h.InBatch, &h.Holds, &h.Queue, &h.Priority, sqlrows.IntoTime(&h.RunAt), sqlrows.IntoTime(&h.CreatedAt))
			holders[keys[place]] = h
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return holders, nil
}

// parts returns keys in parts that the server accepts in one message.
func (s *session) parts(keys []uniqueKey) iter.Seq[[]uniqueKey] {
	return func(yield func([]uniqueKey) bool) {
		begin, size := 0, 0
		for i, key := range keys {
			more := 2*len(key.Kind) + 2*len(key.Unique) + keyText
			if size+more > s.rowBytes && i > begin {
				if !yield(keys[begin:i]) {
					return
				}
				begin, size = i, 0
			}
			size += more
		}
		if begin < len(keys) {
			yield(keys[begin:])
		}
	}
}

// keyText is at most about how long the JSON of a key is without its kind and its text.
const keyText = 60

// SaveKeyHolds implements rowwise.Jobs. While a key is free, nothing prevents that another transaction inserts a job with the
// same key before this transaction does. Such a job may have ended already, and holds the key; then the transaction begins again.
func (s *session) SaveKeyHolds(ctx context.Context, holds []store.KeyHold, now time.Time) error {
	keys := make([]uniqueKey, len(holds))
	for i, h := range holds {
		keys[i] = uniqueKey{i, h.Kind, h.Unique}
	}
	taken, err := s.lockHolds(ctx, keys, now)
	if err != nil {
		return err
	}
	if len(taken) > 0 {
		return errMoved
	}
	return s.Session.SaveKeyHolds(ctx, holds, now)
}

// lockHolds locks the holds of some keys that have not expired, and returns their jobs by the places of the keys.
func (s *session) lockHolds(ctx context.Context, keys []uniqueKey, now time.Time) (map[int]int64, error) {
	jobs := map[int]int64{}
	for part := range s.parts(keys) {
		err := s.Each(ctx, lockKeyHolds, args{"keys": sqlrows.JSONList(part), "now": sqlrows.Micros(now)}, func(r row) error {
			var place int
			var job int64
			err := r.Scan(&place, &job)
			jobs[place] = job
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// TakeKeys implements rowwise.Jobs.
func (s *session) TakeKeys(ctx context.Context, ids []int64) error {
	return s.updateAfter(ctx, ids, s.Session.TakeKeys(ctx, ids))
}

// ReplaceJobs implements rowwise.Jobs.
func (s *session) ReplaceJobs(ctx context.Context, jobs []rowwise.Replaced) error {
	each := make([]args, len(jobs))
	for i := range jobs {
		each[i] = args{"id": jobs[i].ID, "args": sqlrows.NotNull(jobs[i].Args), "headers": jobs[i].Headers}
		sqlrows.AddSpec(each[i], &jobs[i].JobSpec)
	}
	ids := sqlrows.NumbersOf(jobs, func(job *rowwise.Replaced) int64 { return job.ID })
	if err := s.LeaveLanes(ctx, ids, false); err != nil {
		return err
	}
	return s.updateAfter(ctx, ids, s.onEach(ctx, replaceJob, each))
}
