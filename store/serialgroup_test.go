package store

import (
	"testing"
	"time"
)

func TestGroupStateNext(t *testing.T) {
	early := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	waiting := func(id int64, slot time.Time) LiveJob { return LiveJob{ID: id, Slot: slot, Waiting: true} }
	for name, c := range map[string]struct {
		live  []LiveJob
		waits bool
		want  int64
	}{
		"no job":           {nil, false, 0},
		"no waiting job":   {[]LiveJob{{ID: 1, Running: true}}, false, 0},
		"the only job":     {[]LiveJob{waiting(4, early)}, true, 4},
		"a job is running": {[]LiveJob{waiting(4, early), {ID: 1, Running: true}}, true, 0},
		"a job is ready":   {[]LiveJob{{ID: 1}, waiting(4, early)}, true, 0},
		"the first slot":   {[]LiveJob{waiting(2, early.Add(1)), waiting(9, early), waiting(3, early.Add(2))}, true, 9},
		"the first number": {[]LiveJob{waiting(8, early), waiting(3, early), waiting(5, early)}, true, 3},
	} {
		group := GroupStateOf(c.live)
		if group.Waits() != c.waits || group.Next() != c.want {
			t.Errorf("%s: waits %v, next %d, want %v, %d", name, group.Waits(), group.Next(), c.waits, c.want)
		}
	}
}

func TestSerialGroupOf(t *testing.T) {
	for _, c := range []struct {
		schedule int64
		origin   Origin
		want     SerialGroup
		gives    bool
	}{
		{0, OriginEnqueue, SerialGroup{}, false},
		{0, OriginBackfill, SerialGroup{}, false},
		{7, OriginSchedule, schedules, true},
		{7, OriginTrigger, schedules, true},
		{7, OriginBackfill, backfills, false},
		{7, OriginBackfillDependents, backfills, false},
	} {
		got := SerialGroupOf(c.schedule, c.origin)
		if got != c.want || got.GivesWay() != c.gives {
			t.Errorf("schedule %d, %v: %+v, gives way %v", c.schedule, c.origin, got, got.GivesWay())
		}
	}
}
