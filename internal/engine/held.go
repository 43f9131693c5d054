package engine

import (
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

// held is what this node has in its hands: every claim from its answer until
// its outcome is written. It is safe for concurrent use.
type held struct {
	mu      sync.Mutex
	runs    map[store.ClaimRef]*Run
	batches map[int64]int // claims whose jobs have not all ended
	ended   []int64
}

func newHeld() *held {
	return &held{runs: map[store.ClaimRef]*Run{}, batches: map[int64]int{}}
}

func (h *held) add(batch int64, runs []*Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, run := range runs {
		h.runs[run.ref()] = run
	}
	if batch != 0 {
		h.batches[batch] = len(runs)
	}
}

// drop forgets claims whose outcomes are written or refused.
func (h *held) drop(outcomes []result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range outcomes {
		ref := store.ClaimRef{ID: r.outcome.ID, Token: r.outcome.Token}
		run, ok := h.runs[ref]
		if !ok {
			continue
		}
		delete(h.runs, ref)
		if run.batch == 0 {
			continue
		}
		if h.batches[run.batch]--; h.batches[run.batch] == 0 {
			delete(h.batches, run.batch)
			h.ended = append(h.ended, run.batch)
		}
	}
}

func (h *held) get(ref store.ClaimRef) *Run {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs[ref]
}

func (h *held) has(ref store.ClaimRef) bool { return h.get(ref) != nil }

func (h *held) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.runs)
}

// all returns every claim in hand.
func (h *held) all() []*Run {
	h.mu.Lock()
	defer h.mu.Unlock()
	runs := make([]*Run, 0, len(h.runs))
	for _, run := range h.runs {
		runs = append(runs, run)
	}
	return runs
}

func (h *held) takeEnded() []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	ended := h.ended
	h.ended = nil
	return ended
}

func (h *held) putBackEnded(ended []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = append(h.ended, ended...)
}

// suspicion says that a claim may be committed whose answer was lost. It lasts
// until the books were compared after every call under way then has ended.
type suspicion struct {
	mu     sync.Mutex
	active bool
	raised time.Duration
}

func (s *suspicion) raise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active, s.raised = true, monotonic()
}

func (s *suspicion) holds() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active
}

// looked records that the books were compared at a time.
func (s *suspicion) looked(at, patience time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = s.active && at-s.raised <= patience
}
