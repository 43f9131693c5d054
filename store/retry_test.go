package store

import (
	"math"
	"reflect"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestRevival(t *testing.T) {
	for name, c := range map[string]struct {
		job  FinishedJob
		want Revival
	}{
		"attempts left":             {FinishedJob{Attempt: 1, MaxAttempts: 5}, Revival{noon, 5}},
		"one attempt left":          {FinishedJob{Attempt: 4, MaxAttempts: 5}, Revival{noon, 5}},
		"no attempt left":           {FinishedJob{Attempt: 5, MaxAttempts: 5}, Revival{noon, 6}},
		"cancelled before it began": {FinishedJob{MaxAttempts: 1}, Revival{noon, 1}},
		"the greatest number":       {FinishedJob{Attempt: math.MaxInt16, MaxAttempts: math.MaxInt16}, Revival{noon, math.MaxInt16}},
		"a slot fired early":        {FinishedJob{MaxAttempts: 1, Mark: noon.Add(MostAhead)}, Revival{noon.Add(MostAhead), 1}},
		"the mark is past":          {FinishedJob{MaxAttempts: 1, Mark: noon.Add(-time.Hour)}, Revival{noon, 1}},
		"the clock was wrong":       {FinishedJob{MaxAttempts: 1, Mark: noon.Add(time.Hour)}, Revival{noon, 1}},
	} {
		if got := c.job.Revival(noon); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestPullTo(t *testing.T) {
	for name, c := range map[string]struct{ runAt, slot, want time.Time }{
		"due later":           {noon.Add(time.Hour), time.Time{}, noon},
		"due already":         {noon.Add(-time.Hour), time.Time{}, noon.Add(-time.Hour)},
		"its slot is past":    {noon.Add(time.Hour), noon.Add(-time.Minute), noon},
		"its slot is near":    {noon.Add(time.Hour), noon.Add(MostAhead), noon.Add(MostAhead)},
		"its slot is far":     {noon.Add(time.Hour), noon.Add(MostAhead + 1), noon},
		"due before its slot": {noon, noon.Add(MostAhead), noon},
	} {
		if got := PullTo(c.runAt, c.slot, noon); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestTakeKeys(t *testing.T) {
	jobs := []FinishedJob{
		{ID: 1, JobKey: JobKey{"a", "x"}},
		{ID: 2, JobKey: JobKey{"b", "x"}}, // another kind
		{ID: 3, JobKey: JobKey{"a", "x"}}, // job 1 takes the key
		{ID: 4, JobKey: JobKey{"a", "y"}}, // job 8 has the key
		{ID: 5, JobKey: JobKey{Kind: "a"}},
		{ID: 6, JobKey: JobKey{Kind: "a"}},
	}
	revive, holders := TakeKeys(jobs, map[JobKey]int64{{"a", "y"}: 8})
	if want := []FinishedJob{jobs[0], jobs[1], jobs[4], jobs[5]}; !reflect.DeepEqual(revive, want) {
		t.Errorf("revived %+v", revive)
	}
	if want := map[int64]int64{3: 1, 4: 8}; !reflect.DeepEqual(holders, want) {
		t.Errorf("holders %v, want %v", holders, want)
	}
}
