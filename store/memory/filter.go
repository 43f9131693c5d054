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
	return (len(f.IDs) == 0 || slices.Contains(f.IDs, j.ID)) && s.inStates(j, f, now) && hasNames(j, f) &&
		s.ofSchedule(j, f) && s.ofBatch(j, f) && s.hasTexts(j, f) &&
		within(j.CreatedAt, f.CreatedSince, f.CreatedUntil) && within(j.FinishedAt, f.FinishedSince, f.FinishedUntil)
}

// inStates reports whether the conditions on its state hold for a job.
func (s *Store) inStates(j *job, f store.JobFilter, now time.Time) bool {
	return len(f.States) == 0 && !f.Narrowed() || slices.Contains(f.States, j.State) || s.matchesNarrowed(j, f, now)
}

// hasNames reports whether a job has the names and keys of a filter.
func hasNames(j *job, f store.JobFilter) bool {
	return asked(f.Queue, j.Queue) && asked(f.Kind, j.Kind) && asked(f.Group, j.Group) && asked(f.Key, j.Key) && asked(f.Unique, j.Unique)
}

// asked reports whether a condition on a text holds; empty: it always holds.
func asked(condition, has string) bool {
	return condition == "" || condition == has
}

// ofSchedule reports whether the conditions on its schedule hold for a job.
func (s *Store) ofSchedule(j *job, f store.JobFilter) bool {
	return (f.Schedule == "" || f.Schedule == s.scheduleName(j.Schedule)) && (f.HostsOf == "" || s.ofHosts(j.Schedule, f.HostsOf))
}

// ofBatch reports whether the conditions on its batch hold for a job.
func (s *Store) ofBatch(j *job, f store.JobFilter) bool {
	return (f.Batch == 0 || f.Batch == j.Batch) && (!f.NotLast || j.Batch == 0 || s.batches[j.Batch].last != j.ID)
}

// hasTexts reports whether a job has the error and the text in its arguments that a filter asks for.
func (s *Store) hasTexts(j *job, f store.JobFilter) bool {
	return (f.Error == "" || strings.Contains(j.Reason, f.Error) || strings.Contains(s.newestError(j.ID), f.Error)) &&
		(f.ArgsText == "" || bytes.Contains(j.Args, []byte(f.ArgsText)))
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
