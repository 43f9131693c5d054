package work

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

// InFlight contains the jobs in flight: the claims of this node from the answer of the store until
// their outcomes are written. It is safe for concurrent use.
type InFlight struct {
	open atomic.Int64 // jobs without an outcome

	mu      sync.Mutex
	batches map[*batch]struct{} // batches with jobs in flight
	runs    int
	ended   []int64
}

// batch contains the jobs of one claim.
type batch struct {
	number int64        // 0: the store does not number claims, or the batch has a claim that was left
	runs   []*Run       // indexed by Run.place; nil: the outcome is written
	now    time.Time    // the store's clock at the claim
	at     loop.Instant // when the answer of the claim arrived
	left   int
}

// NewInFlight returns an empty set.
func NewInFlight() *InFlight {
	return &InFlight{batches: map[*batch]struct{}{}}
}

// add adds the runs of the answer to a claim.
func (h *InFlight) add(res store.ClaimResult, runs []*Run) {
	if len(runs) == 0 {
		return
	}
	b := &batch{number: res.Batch, runs: runs, now: res.Now, at: loop.Now(), left: len(runs)}
	for i, run := range runs {
		run.batch, run.place = b, i
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.batches[b] = struct{}{}
	h.runs += len(runs)
	h.open.Add(int64(len(runs)))
}

// leave removes a claim whose end is unknown. The batch of the claim is never reported as ended, so that the store
// can still find the job by the batch.
func (h *InFlight) leave(run *Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if run.batch != nil {
		run.batch.number = 0
	}
	h.remove([]result{{run: run}})
}

// drop removes claims whose outcomes were written or refused.
func (h *InFlight) drop(results []result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(results)
}

// remove removes claims. The caller holds mu.
func (h *InFlight) remove(results []result) {
	for i := range results {
		run := results[i].run
		if run == nil || run.batch == nil || run.batch.runs[run.place] == nil {
			continue
		}
		b := run.batch
		b.runs[run.place] = nil // releases the memory of the run while other runs of the batch go on
		h.runs--
		if b.left--; b.left > 0 {
			continue
		}
		delete(h.batches, b)
		if b.number != 0 {
			h.ended = append(h.ended, b.number)
		}
	}
}

// split returns the runs of the claims that are in flight, and the claims that are not.
func (h *InFlight) split(claims []store.ClaimRef) (known []*Run, unknown []store.ClaimRef) {
	if len(claims) == 0 {
		return nil, nil
	}
	runs := map[store.ClaimRef]*Run{}
	for _, run := range h.all() {
		runs[run.ref()] = run
	}
	for _, ref := range claims {
		if run := runs[ref]; run != nil {
			known = append(known, run)
		} else {
			unknown = append(unknown, ref)
		}
	}
	return known, unknown
}

// Len returns the number of jobs in flight.
func (h *InFlight) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs
}

// names returns the numbers of the jobs in flight for people, such as "jobs 3, 17"; of many jobs the first.
func (h *InFlight) names() string {
	const most = 20
	var ids []int64
	for _, run := range h.all() {
		ids = append(ids, run.ID)
	}
	slices.Sort(ids)
	var text strings.Builder
	text.WriteString("jobs ")
	for i, id := range ids[:min(len(ids), most)] {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(strconv.FormatInt(id, 10))
	}
	if len(ids) > most {
		fmt.Fprintf(&text, " and %d more", len(ids)-most)
	}
	return text.String()
}

// all returns all runs in flight.
func (h *InFlight) all() []*Run {
	h.mu.Lock()
	defer h.mu.Unlock()
	runs := make([]*Run, 0, h.runs)
	for b := range h.batches {
		for _, run := range b.runs {
			if run != nil {
				runs = append(runs, run)
			}
		}
	}
	return runs
}

// TakeEnded returns the numbers of the batches whose jobs have all ended since the last call.
func (h *InFlight) TakeEnded() []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	ended := h.ended
	h.ended = nil
	return ended
}

// PutBackEnded takes back batches that TakeEnded returned and that could not be passed to the store.
func (h *InFlight) PutBackEnded(ended []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = append(h.ended, ended...)
}

// lostAnswers records that the store may have committed a claim whose answer was lost. It holds
// until the claims were compared with the store's after every call that was in progress at the
// failure has ended.
type lostAnswers struct {
	mu       sync.Mutex
	possible bool
	failedAt loop.Instant
}

func (s *lostAnswers) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.possible, s.failedAt = true, loop.Now()
}

func (s *lostAnswers) arePossible() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.possible
}

// compared records that the claims were compared with the store's at an instant. patience is longer
// than any call takes.
func (s *lostAnswers) compared(at loop.Instant, patience time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.possible = s.possible && at.Sub(s.failedAt) <= patience
}
