package memory

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

// selected returns the jobs for which all conditions of a filter hold, greatest
// number first.
func (s *Store) selected(f store.JobFilter, now time.Time) []*job {
	var out []*job
	for _, table := range []map[int64]*job{s.live, s.finished} {
		for _, j := range table {
			if s.matches(j, f, now) {
				out = append(out, j)
			}
		}
	}
	slices.SortFunc(out, func(a, b *job) int { return cmp.Compare(b.ID, a.ID) })
	return out
}

// matches reports whether all conditions of a filter hold for a job.
func (s *Store) matches(j *job, f store.JobFilter, now time.Time) bool {
	return (len(f.IDs) == 0 || slices.Contains(f.IDs, j.ID)) &&
		(len(f.States) == 0 && !f.Narrowed() || slices.Contains(f.States, j.State) ||
			s.matchesNarrowed(j, f, now)) &&
		(f.Queue == "" || f.Queue == j.Queue) &&
		(f.Kind == "" || f.Kind == j.Kind) &&
		(f.Schedule == "" || f.Schedule == s.scheduleName(j.Schedule)) &&
		(f.HostsOf == "" || s.ofHosts(j.Schedule, f.HostsOf)) &&
		(f.Group == "" || f.Group == j.Group) &&
		(f.Key == "" || f.Key == j.Key) &&
		(f.Unique == "" || f.Unique == j.Unique) &&
		(f.Batch == 0 || f.Batch == j.Batch) &&
		(!f.NotLast || j.Batch == 0 || s.batches[j.Batch].last != j.ID) &&
		(f.Error == "" || strings.Contains(j.Reason, f.Error) || strings.Contains(s.newestError(j.ID), f.Error)) &&
		(f.ArgsText == "" || bytes.Contains(j.Args, []byte(f.ArgsText))) &&
		within(j.CreatedAt, f.CreatedSince, f.CreatedUntil) &&
		within(j.FinishedAt, f.FinishedSince, f.FinishedUntil)
}

// newestError returns the error of the newest attempt of a job that left an error.
func (s *Store) newestError(id int64) string {
	for _, a := range slices.Backward(s.attempts[id]) {
		if a.Error != "" {
			return a.Error
		}
	}
	return ""
}

// within reports whether since <= t < until, where a zero bound does not count. A
// zero t is within no bound.
func within(t, since, until time.Time) bool {
	since, until = instant(since), instant(until)
	if t.IsZero() {
		return since.IsZero() && until.IsZero()
	}
	return (since.IsZero() || !t.Before(since)) && (until.IsZero() || t.Before(until))
}

// matchesNarrowed reports whether a job is ready in a way for which a filter asks.
func (s *Store) matchesNarrowed(j *job, f store.JobFilter, now time.Time) bool {
	if !f.Narrowed() {
		return false
	}
	info := j.JobInfo
	info.Parked = s.parked(j)
	return f.Scheduled && info.Scheduled(now) || f.Retrying && info.Retrying() || f.Parked && info.Parked
}
