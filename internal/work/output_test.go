package work

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// outputStore records the writes of output, fails the first, and leaves out the job
// that is locked.
type outputStore struct {
	Store
	writes [][]store.ClaimOutput
	fails  int
	locked int64
}

func (s *outputStore) SaveOutput(_ context.Context, req store.SaveOutputRequest) (saved []store.ClaimRef, err error) {
	s.writes = append(s.writes, req.Claims)
	if len(s.writes) <= s.fails {
		return nil, errors.New("not now")
	}
	for _, c := range req.Claims {
		if c.ID != s.locked {
			saved = append(saved, c.ClaimRef)
		}
	}
	return saved, nil
}

// bytesIn returns how many bytes a write has.
func bytesIn(claims []store.ClaimOutput) (n int) {
	for _, c := range claims {
		n += len(c.Data)
	}
	return n
}

// TestOutputIsRationed checks that a round has a bounded number of bytes, that all runs
// get their turn, that only new output is written, and that a run that has its outcome
// is left alone.
func TestOutputIsRationed(t *testing.T) {
	s := &outputStore{fails: 1, locked: -1}
	r := newRunner(t, nil, Config{Store: s, CallTimeout: time.Second})
	round := func() { r.output.write(t.Context()) }
	run := func(id int64) *Run { return &Run{Claimed: store.Claimed{ID: id}, runner: r} }
	if round(); len(s.writes) != 0 {
		t.Fatalf("%d writes without output", len(s.writes))
	}
	big := make([]byte, 1<<20)
	runs := make([]*Run, 100)
	for i := range runs {
		runs[i] = run(int64(i))
		_, _ = runs[i].Printer().Write(big)
	}
	round() // fails
	seen := map[int64]int{}
	for range 3 {
		n := len(s.writes)
		round()
		for _, write := range s.writes[n:] {
			if size := bytesIn(write); size > maxSavedOutput+store.OutputLimit+store.OutputBlock {
				t.Errorf("a round with %d bytes", size)
			}
			for _, c := range write {
				if seen[c.ID]++; c.From+int64(len(c.Data)) != int64(len(big)) || c.From%store.OutputBlock != 0 || len(c.Data) < store.OutputLimit {
					t.Errorf("%d bytes from %d", len(c.Data), c.From)
				}
			}
		}
	}
	if len(seen) != len(runs) || len(s.writes) != 3 {
		t.Errorf("output of %d runs in %d writes", len(seen), len(s.writes))
	}
	_, _ = runs[0].Printer().Write([]byte("x"))
	if round(); len(s.writes) != 4 || bytesIn(s.writes[3]) > store.OutputBlock {
		t.Errorf("one more byte: %d writes", len(s.writes))
	}
	_, _ = runs[1].Printer().Write([]byte("x"))
	var outcome store.Outcome
	runs[1].addTo(&outcome)
	if !outcome.OutputSaved || outcome.Printed != int64(len(big))+1 || len(outcome.Output) != store.OutputLimit {
		t.Errorf("the outcome has %d of %d bytes, saved %v", len(outcome.Output), outcome.Printed, outcome.OutputSaved)
	}
	if round(); len(s.writes) != 4 {
		t.Error("output of a run that has its outcome was written")
	}
	s.locked = 1000
	late := run(s.locked)
	_, _ = late.Printer().Write([]byte("x"))
	round()
	s.locked = -1
	if round(); len(s.writes) != 6 || string(s.writes[5][0].Data) != "x" {
		t.Error("output that the store left out was not written again")
	}
}
