package store

import (
	"testing"
	"time"
)

func TestLatestFiredTo(t *testing.T) {
	for name, c := range map[string]struct {
		marks []time.Time
		want  time.Time
	}{
		"no schedule":         {nil, time.Time{}},
		"no early firing":     {[]time.Time{{}, noon, noon.Add(-time.Hour)}, time.Time{}},
		"the latest":          {[]time.Time{noon.Add(time.Millisecond), noon.Add(MostAhead), noon.Add(2)}, noon.Add(MostAhead)},
		"the clock was wrong": {[]time.Time{noon.Add(time.Hour), noon.Add(MostAhead + 1), noon.Add(2)}, noon.Add(2)},
	} {
		if got := LatestFiredTo(c.marks, noon); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestStartAfter(t *testing.T) {
	soon := noon.Add(MostAhead)
	marks := map[int64]time.Time{1: soon, 2: noon, 3: noon.Add(time.Hour)}
	job := func(origin Origin, schedule int64, runAt time.Time, delay time.Duration) NewJob {
		return NewJob{Origin: origin, Schedule: schedule, RunAt: runAt, Delay: delay}
	}
	for name, c := range map[string]struct {
		job  NewJob
		want time.Time
	}{
		"a slot fired early":      {job(OriginTrigger, 1, time.Time{}, 0), soon},
		"with a run_at":           {job(OriginTrigger, 1, noon, 0), soon},
		"a longer delay":          {job(OriginTrigger, 1, time.Time{}, time.Hour), noon.Add(time.Hour)},
		"a later run_at":          {job(OriginTrigger, 1, noon.Add(time.Hour), 0), noon.Add(time.Hour)},
		"no early firing":         {job(OriginTrigger, 2, time.Time{}, 0), time.Time{}},
		"the clock was wrong":     {job(OriginTrigger, 3, time.Time{}, 0), time.Time{}},
		"an unknown schedule":     {job(OriginTrigger, 4, time.Time{}, 0), time.Time{}},
		"a backfilled job":        {job(OriginBackfill, 1, time.Time{}, 0), time.Time{}},
		"a job without schedules": {job(OriginEnqueue, 0, time.Time{}, 0), time.Time{}},
	} {
		jobs := []NewJob{c.job}
		if got := StartAfter(jobs, marks, noon)[0].RunAt; !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if !jobs[0].RunAt.Equal(c.job.RunAt) {
			t.Errorf("%s: the caller's job has changed", name)
		}
	}
}
