package engine

import (
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

// held is what this node has in its hands: every claim from its answer until
// its outcome is written. It is safe for concurrent use.
type inFlight struct {
	mu      sync.Mutex
	batches map[*batch]struct{} // whose jobs have not all ended
	runs    int
	ended   []int64
}

// batch is what one claim got.
type batch struct {
	number int64  // 0: the store gives none
	runs   []*Run // by place; nil: its outcome is written
	left   int
}

func newInFlight() *inFlight {
	return &inFlight{batches: map[*batch]struct{}{}}
}

func (h *inFlight) add(number int64, runs []*Run) {
	if len(runs) == 0 {
		return
	}
	b := &batch{number: number, runs: runs, left: len(runs)}
	for i, run := range runs {
		run.batch, run.place = b, i
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.batches[b] = struct{}{}
	h.runs += len(runs)
}

// drop forgets claims whose outcomes are written or refused.
func (h *inFlight) drop(results []result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range results {
		run := results[i].run
		if run == nil || run.batch == nil || run.batch.runs[run.place] == nil {
			continue
		}
		b := run.batch
		b.runs[run.place] = nil // keeps nothing of it while others of the batch run on
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

// split returns the runs of those claims that are in hand, and the others.
func (h *inFlight) split(claims []store.ClaimRef) (known []*Run, unknown []store.ClaimRef) {
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

func (h *inFlight) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs
}

// all returns every claim in hand.
func (h *inFlight) all() []*Run {
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

func (h *inFlight) takeEnded() []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	ended := h.ended
	h.ended = nil
	return ended
}

func (h *inFlight) putBackEnded(ended []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = append(h.ended, ended...)
}

// suspicion says that a claim may be committed whose answer was lost. It lasts
// until the books were compared after every call under way then has ended.
type lostAnswers struct {
	mu       sync.Mutex
	possible bool
	failedAt instant
}

func (s *lostAnswers) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.possible, s.failedAt = true, monotonic()
}

func (s *lostAnswers) arePossible() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.possible
}

// looked records that the books were compared at a time.
func (s *lostAnswers) compared(at instant, patience time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.possible = s.possible && at.sub(s.failedAt) <= patience
}
