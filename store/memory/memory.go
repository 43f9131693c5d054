// Package memory is the reference for every driver: the storage contract of
// package store in the memory of one process, written to be read. One mutex
// guards plain maps that mirror a database's tables; there are no indexes and
// no optimisations. It serves tests, and store/storetest compares drivers with
// it.
//
// All data is lost when the process ends, so promises about restarts do not
// hold here.
package memory

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Store is a store.Backend and a store.Listener. All holders of the pointer act
// as clients of the same store. It is safe for concurrent use.
type Store struct {
	clock func() time.Time

	mu sync.Mutex // guards the fields below; never held while callbacks run, except RescueRequest.After, which is pure
	tables
	reserved  map[uniqueKey]*Tx // by jobs of open transactions
	locked    map[int64]*Tx     // jobs that open transactions end
	changing  *Tx               // an open transaction that has changed something; all other writers wait for it
	open      map[*Tx]bool      // transactions that have not ended
	listeners map[*listener]bool
}

var (
	_ store.Backend   = (*Store)(nil)
	_ store.Listener  = (*Store)(nil)
	_ store.Connected = (*Store)(nil)
	_ store.Flusher   = (*Store)(nil)
)

// tables are the rows of a store.
type tables struct {
	live     map[int64]*job
	finished map[int64]*job
	attempts map[int64][]store.Attempt // by job, oldest first
	progress map[int64]claimProgress   // of the last claims of jobs that reported any
	steps    map[int64][]store.Step    // of jobs, in no order
	output   map[int64]claimOutput     // of attempts that run
	cancels  map[int64]string          // cancel requests of running jobs: the reason
	holds    map[uniqueKey]hold        // also of live jobs, and expired holds
	// dependents are the jobs that were inserted with a predecessor, by predecessor.
	dependents map[int64][]int64
	batches    map[int64]*batch
	// schedules also contains tombstones.
	schedules map[int64]*store.Schedule
	failing   map[int64]failure // of the schedules that are failing
	calendars map[string]*store.Calendar
	named     map[int64][]string      // the calendars that each schedule names
	pauses    map[subject]store.Pause // also pauses that have ended
	handlers  map[string]store.Handler
	limits    map[string]store.Limit
	permits   map[permitKey]store.NodePermits
	lanes     map[store.LaneKey]lane // what is remembered of lanes; lanes of limits of whole queues have no key
	ended     []endedLimit           // limits of jobs that have ended, and that still concern claims
	follows   map[int64][]string     // the predecessors of each schedule
	ends      []*scheduleEnd         // of jobs of predecessors
	owners    map[string]store.Owner // that were synced; their copies are by host
	slots     []*store.SlotInfo
	feed      feed
	audit     []*store.AuditEntry // oldest first
	stats     map[statsKey][]byte
	nodes     map[int64]*store.NodeInfo
	beats     map[int64]int64     // heartbeats of each node
	lookAt    map[int64]time.Time // ended nodes with jobs that were locked: when to look at them again
	identity  string
	accepted  int64          // losses of history
	loss      store.Position // the greatest numbers that were reported, and since when; zero: none

	lastJob, lastSchedule, lastSlot, lastNode, lastBatch, lastAudit, lastLimit int64
	lastToken, lastRevision                                                    int64
}

// job is a row of the tables live and finished. Its info contains neither the
// name of the schedule nor attempts; both are added when it is read.
type job struct {
	store.JobInfo
	node    int64  // the node that holds the claim; 0: none
	begun   bool   // the job may have begun by its last claim
	any     bool   // one matched edge is enough
	atEnd   bool   // it waits until no edge is open
	why     string // of the first edge that did not match
	refunds int16  // of attempts that ended with a lease
	permits
	// keepUntil is until when the finished job is kept; zero: by its age.
	keepUntil time.Time
}

// failure is since when a schedule has been failing, and how many of its jobs
// failed in a row.
type failure struct {
	since time.Time
	jobs  int64
}

// Option is an option of New.
type Option func(*Store)

// WithClock makes clock the store's clock instead of the process's. It must be
// safe for concurrent use.
func WithClock(clock func() time.Time) Option {
	return func(s *Store) { s.clock = clock }
}

// New returns an empty store.
func New(options ...Option) *Store {
	s := &Store{
		clock: time.Now,
		tables: tables{
			live:       map[int64]*job{},
			finished:   map[int64]*job{},
			attempts:   map[int64][]store.Attempt{},
			progress:   map[int64]claimProgress{},
			steps:      map[int64][]store.Step{},
			output:     map[int64]claimOutput{},
			cancels:    map[int64]string{},
			holds:      map[uniqueKey]hold{},
			dependents: map[int64][]int64{},
			batches:    map[int64]*batch{},
			schedules:  map[int64]*store.Schedule{},
			failing:    map[int64]failure{},
			calendars:  map[string]*store.Calendar{},
			named:      map[int64][]string{},
			pauses:     map[subject]store.Pause{},
			handlers:   map[string]store.Handler{},
			limits:     map[string]store.Limit{},
			permits:    map[permitKey]store.NodePermits{},
			lanes:      map[store.LaneKey]lane{},
			follows:    map[int64][]string{},
			owners:     map[string]store.Owner{},
			stats:      map[statsKey][]byte{},
			nodes:      map[int64]*store.NodeInfo{},
			beats:      map[int64]int64{},
			lookAt:     map[int64]time.Time{},
			feed:       feed{keep: store.EventKeep},
			identity:   rand.Text(),
		},
		reserved:  map[uniqueKey]*Tx{},
		locked:    map[int64]*Tx{},
		open:      map[*Tx]bool{},
		listeners: map[*listener]bool{},
	}
	for _, option := range options {
		option(s)
	}
	return s
}

// begin starts a call: it locks the mutex and returns the call's now. The
// caller unlocks the mutex, unless begin returns an error.
func (s *Store) begin(ctx context.Context, what string, asked time.Time) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", what, err)
	}
	s.mu.Lock()
	if asked.IsZero() {
		asked = s.clock()
	}
	return instant(asked), nil
}

// beginWrite is begin for a call that writes: it waits while a transaction is open that has
// changed something.
func (s *Store) beginWrite(ctx context.Context, what string, asked time.Time) (time.Time, error) {
	now, err := s.begin(ctx, what, asked)
	for err == nil && s.changing != nil {
		if err = s.await(ctx, s.changing, what); err != nil {
			s.mu.Unlock()
		}
	}
	return now, err
}

// instant returns a time in the form in which it is stored: UTC, microseconds.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// laterOf returns the later of two times.
func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// earliest returns the earlier of two times; the zero time means none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// token returns a fencing token greater than every one before it and than last.
func (s *Store) token(last int64) int64 {
	s.lastToken = max(s.lastToken, last) + 1
	return s.lastToken
}

// byName finds a schedule, also a deleted one; nil if there is none.
func (s *Store) byName(name string) *store.Schedule {
	for _, row := range s.schedules {
		if row.Name == name {
			return row
		}
	}
	return nil
}

// scheduleName returns the name of a schedule, also of a deleted one; empty if
// there is none.
func (s *Store) scheduleName(id int64) string {
	if row := s.schedules[id]; row != nil {
		return row.Name
	}
	return ""
}

// copyOf copies bytes, so that callers and rows do not share them.
func copyOf(b []byte) []byte { return bytes.Clone(b) }
