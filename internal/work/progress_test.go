package work

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// progressStore records the writes of progress, and fails the first writes.
type progressStore struct {
	Store
	writes [][]store.ClaimProgress
	fails  int
}

func (s *progressStore) SaveProgress(_ context.Context, req store.SaveProgressRequest) error {
	s.writes = append(s.writes, req.Claims)
	if len(s.writes) <= s.fails {
		return errors.New("not now")
	}
	return nil
}

// TestProgressOfManyRuns checks that one write has the newest progress of all
// runs, that a write that failed is repeated with what is the newest then, and
// that there is no write without progress.
func TestProgressOfManyRuns(t *testing.T) {
	s := &progressStore{fails: 1}
	r := newRunner(t, nil, Config{Store: s, CallTimeout: time.Second})
	runs := make([]*Run, 3*maxProgress/2)
	for i := range runs {
		runs[i] = &Run{Claimed: store.Claimed{ID: int64(i)}, runner: r}
	}
	r.progress.write(t.Context())
	if len(s.writes) != 0 {
		t.Fatalf("%d writes without progress", len(s.writes))
	}
	for i := range 10 {
		runs[0].SetProgress(int64(i), 10, "")
	}
	r.progress.write(t.Context()) // fails
	runs[0].SetProgress(10, 10, "")
	for _, run := range runs[1:] {
		run.SetProgress(1, 2, "")
	}
	r.progress.write(t.Context())
	seen := map[int64]store.Progress{}
	for _, write := range s.writes[1:] {
		for _, c := range write {
			seen[c.ID] = c.Progress
		}
	}
	if len(s.writes) != 3 || len(s.writes[0]) != 1 || s.writes[0][0].Done != 9 || len(seen) != len(runs) || seen[0].Done != 10 {
		t.Errorf("%d writes, progress of %d runs, of the first %+v", len(s.writes), len(seen), seen[0])
	}
	r.progress.write(t.Context())
	if len(s.writes) != 3 {
		t.Error("progress that did not change was written again")
	}
}
