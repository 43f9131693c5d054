package mysql

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestHoldOfAnEndedJob inserts a job with a key in its period. After the insert has looked for holders of the key, another job with the key is
// inserted, runs and ends. The insert begins again, and finds the other job.
func TestHoldOfAnEndedJob(t *testing.T) {
	b, _ := fresh(t)
	node := register(t, b, time.Hour)
	held := store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Unique: "u", Args: []byte("{}"), Priority: 1, MaxAttempts: 1}, UniqueFor: time.Hour}
	key, other := store.JobKey{Kind: "k", Unique: "u"}, int64(0)
	err := b.writeOnly(t.Context(), "insert jobs")(func(s *session) error {
		now, err := s.Now(t.Context(), time.Time{})
		must(t, err)
		holders, err := s.LockKeys(t.Context(), []store.JobKey{key}, now)
		must(t, err)
		if other != 0 {
			if h := holders[key]; h.ID != other || h.Live {
				t.Errorf("the key is held by %+v, want job %d", h, other)
			}
			return nil
		}
		res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{held}})
		must(t, err)
		other = res.Jobs[0].ID
		claimed := claimPlain(t, b, node, 1)
		_, err = b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{{ID: other, Token: claimed[0].Token, Result: store.Completed}}})
		must(t, err)
		inserted, err := s.InsertJobs(t.Context(), []store.NewJob{held}, now)
		must(t, err)
		err = s.SaveKeyHolds(t.Context(), store.KeyHolds([]store.NewJob{held}, inserted, now), now)
		if !errors.Is(err, errMoved) {
			t.Errorf("a hold that another job has was replaced: %v", err)
		}
		return err
	})
	must(t, err)
}

// TestParts divides keys into parts for messages of a size.
func TestParts(t *testing.T) {
	s := &session{rowBytes: 3 * (keyText + 2*(1+10))}
	var keys []uniqueKey
	for i := range 8 {
		keys = append(keys, uniqueKey{i, "k", strings.Repeat("u", 10)})
	}
	keys[7].Unique = strings.Repeat("u", 1000) // goes alone
	var places [][]int
	for part := range s.parts(keys) {
		var some []int
		for _, key := range part {
			some = append(some, key.Place)
		}
		places = append(places, some)
	}
	if want := [][]int{{0, 1, 2}, {3, 4, 5}, {6}, {7}}; !reflect.DeepEqual(places, want) {
		t.Errorf("parts %v, want %v", places, want)
	}
	for part := range s.parts(nil) {
		t.Errorf("a part of no keys: %v", part)
	}
}
