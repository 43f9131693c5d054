package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// words describe what Allot decided: "3:1,2" job 3 gets permits of lanes 1 and 2, "3>1" it waits in lane 1.
func words(allotments []store.Allotment) (out []string) {
	for _, a := range allotments {
		text := fmt.Sprint(a.Job.ID)
		if a.Wait != 0 {
			text += fmt.Sprint(">", a.Wait)
		}
		for i, lane := range a.Held {
			text += fmt.Sprint(":,"[min(i, 1):min(i, 1)+1], lane)
		}
		out = append(out, text)
	}
	return out
}

func TestAllot(t *testing.T) {
	job := func(id int64, lanes ...int64) store.LaneJob {
		return store.LaneJob{ID: id, Lanes: lanes, RunAt: time.Unix(id, 0), JobSpec: store.JobSpec{Priority: 5}}
	}
	waits := func(j store.LaneJob, lane int64) store.LaneJob {
		j.Lane = lane
		return j
	}
	first := func(j store.LaneJob) store.LaneJob {
		j.First = true
		return j
	}
	leaves := func(j store.LaneJob) store.LaneJob {
		j.Leaves = true
		return j
	}
	urgent := func(j store.LaneJob) store.LaneJob {
		j.Priority = 1
		return j
	}
	lane := func(id int64, width, used int) store.Room {
		return store.Room{Lane: store.Lane{ID: id, Used: used}, Width: width}
	}
	now := time.Unix(1_000_000_200, 0) // a multiple of the times at which lanes are tidied
	rated := func(r store.Room, starts int, ahead time.Duration) store.Room {
		r.Rated, r.Rate, r.Now, r.Starts, r.TAT = true, store.Rate{Every: time.Second, Burst: 3}, now, starts, now.Add(ahead)
		return r
	}
	closed := func(r store.Room) store.Room {
		r.Now, r.NotBefore = now, now.Add(time.Minute)
		return r
	}
	occupied := func(r store.Room, asked int) store.Room {
		r.Waiting, r.Asked = true, asked
		return r
	}
	for _, test := range []struct {
		name  string
		rooms []store.Room
		jobs  []store.LaneJob
		want  []string
		after string // of the first room: permits in use, whether jobs wait, whether it has to be looked at
	}{
		{"as many as the lane has", []store.Room{lane(1, 2, 0)}, []store.LaneJob{job(3, 1), job(1, 1), job(2, 1)}, []string{"1:1", "2:1", "3>1"}, "2 true false"},
		{"no bound", []store.Room{lane(1, 0, 7)}, []store.LaneJob{job(1, 1)}, []string{"1:1"}, "8 false false"},
		{"more in use than the limit allows now", []store.Room{lane(1, 1, 3)}, []store.LaneJob{job(1, 1)}, []string{"1>1"}, "3 true false"},
		{"a job that waits stays", []store.Room{occupied(lane(1, 1, 1), 1)}, []store.LaneJob{waits(job(1, 1), 1)}, nil, "1 true false"},
		{"it stays although another lane is full, too", []store.Room{lane(1, 1, 1), occupied(lane(2, 1, 1), 1)}, []store.LaneJob{waits(job(1, 1, 2), 2)}, nil, "1 false false"},
		{"it waits where no permit is free", []store.Room{lane(1, 1, 1), occupied(lane(2, 1, 0), 1)}, []store.LaneJob{waits(job(1, 1, 2), 2)}, []string{"1>1"}, "1 true false"},
		{"jobs that wait come first", []store.Room{occupied(lane(1, 2, 0), 2)}, []store.LaneJob{job(3, 1), waits(job(1, 1), 1)}, []string{"1:1", "3:1"}, "2 false false"},
		{"jobs that were not read come first", []store.Room{occupied(lane(1, 2, 0), 0)}, []store.LaneJob{job(3, 1)}, []string{"3>1"}, "0 true true"},
		{"so do jobs behind the last that was read", []store.Room{occupied(lane(1, 2, 0), 1), lane(2, 1, 1)}, []store.LaneJob{waits(job(1, 1, 2), 1), job(3, 1)}, []string{"1>2", "3>1"}, "0 true true"},
		{"priority", []store.Room{lane(1, 1, 0)}, []store.LaneJob{job(1, 1), urgent(job(2, 1))}, []string{"2:1", "1>1"}, "1 true false"},
		{"a job that goes first", []store.Room{lane(1, 1, 0)}, []store.LaneJob{job(1, 1), first(job(2, 1))}, []string{"2:1", "1>1"}, "1 true false"},
		{"all permits or none", []store.Room{lane(1, 1, 0), lane(2, 1, 1)}, []store.LaneJob{job(1, 1, 2), job(2, 1)}, []string{"1>2", "2:1"}, "1 false false"},
		{"all permits", []store.Room{lane(1, 1, 0), lane(2, 1, 0)}, []store.LaneJob{job(1, 1, 2), job(2, 2)}, []string{"1:1,2", "2>2"}, "1 false false"},
		{"as many as may start", []store.Room{rated(lane(1, 0, 0), 0, 0)}, []store.LaneJob{job(1, 1), job(2, 1), job(3, 1)}, []string{"1:-1,1", "2:-1,1", "3>1"}, "2 true false"},
		{"not as many as have started", []store.Room{rated(lane(1, 0, 2), 0, time.Second)}, []store.LaneJob{job(1, 1), job(2, 1)}, []string{"1:-1,1", "2>1"}, "3 true true"},
		{"not as many as hold starts", []store.Room{rated(lane(1, 0, 1), 1, 0)}, []store.LaneJob{job(1, 1), job(2, 1)}, []string{"1:-1,1", "2>1"}, "2 true false"},
		{"nothing may start now", []store.Room{rated(lane(1, 0, 0), 0, 2*time.Second)}, []store.LaneJob{job(1, 1)}, []string{"1>1"}, "0 true true"},
		{"neither a permit nor a start", []store.Room{rated(lane(1, 1, 1), 0, 2*time.Second)}, []store.LaneJob{job(1, 1)}, []string{"1>1"}, "1 true false"},
		{"a worker has asked to wait", []store.Room{closed(lane(1, 5, 0))}, []store.LaneJob{job(1, 1)}, []string{"1>1"}, "0 true true"},
		{"nothing waits, but the rate is remembered", []store.Room{rated(lane(1, 0, 0), 0, time.Second)}, nil, nil, "0 false true"},
		{"a job that is to hold no permit", []store.Room{occupied(lane(1, 2, 0), 3)}, []store.LaneJob{leaves(waits(job(1, 1), 1)), waits(job(2, 1), 1), job(3, 1)}, []string{"1", "2:1", "3:1"}, "2 false false"},
		{"it stays where no permit is free", []store.Room{occupied(lane(1, 1, 1), 1)}, []store.LaneJob{leaves(waits(job(1, 1), 1))}, nil, "1 true false"},
		{"no limit concerns the job any more", []store.Room{{Lane: store.Lane{ID: 1, Waiting: true}, Ended: true, Asked: 9}}, []store.LaneJob{waits(job(1), 1)}, []string{"1"}, "0 false false"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rooms := map[int64]*store.Room{}
			for i := range test.rooms {
				rooms[test.rooms[i].ID] = &test.rooms[i]
			}
			if got := words(store.Allot(rooms, test.jobs)); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			r := test.rooms[0]
			if got := fmt.Sprint(r.Used, " ", r.Waiting, " ", !r.LookAt.IsZero()); got != test.after {
				t.Errorf("the lane is %q, want %q", got, test.after)
			}
		})
	}
}

// TestRooms lets rooms give, take back and use starts, at seconds after now.
func TestRooms(t *testing.T) {
	limit := store.Limit{ID: 1, Rate: 1, Per: time.Second, Burst: 3, Concurrency: 4}
	now := time.Unix(1_000_000_200, 0).UTC()
	at := func(lane store.Lane, seconds float64) *store.Room {
		return store.NewRoom(lane, &limit, now.Add(time.Duration(seconds*float64(time.Second))))
	}
	pace, _ := limit.Pace()
	slack := pace.Slack().Seconds()
	for _, test := range []struct {
		name string
		lane store.Lane
		at   float64
		use  int
		next float64 // when the next job may start; 0: not a matter of time
		look float64 // when the lane is looked at; 0: not
		idle bool
	}{
		{name: "rested", lane: store.Lane{}, idle: true},
		{name: "in use", lane: store.Lane{Used: 1}},
		{name: "a start is left", lane: store.Lane{Starts: 1}},
		{name: "the burst is used", lane: store.Lane{Waiting: true, Starts: 2}, use: 2, next: slack, look: slack},
		{name: "a start is left, and a job waits", lane: store.Lane{Waiting: true, Starts: 2}, use: 1, next: slack, look: slack},
		{name: "no permit is free", lane: store.Lane{Waiting: true, Used: 4, Starts: 2}, use: 2, next: slack},
		{name: "nothing waits", lane: store.Lane{Starts: 1}, use: 1, look: 600},
		{name: "all that may start hold starts", lane: store.Lane{Waiting: true, Starts: 2}},
		{name: "closed", lane: store.Lane{NotBefore: now.Add(time.Minute), Waiting: true}, next: 60},
		{name: "closed for longer than the rate", lane: store.Lane{NotBefore: now.Add(time.Minute), Waiting: true, Starts: 2}, use: 2, next: 60, look: 60},
		{name: "was closed until now", lane: store.Lane{NotBefore: now.Add(time.Minute)}, at: 60},
		{name: "was closed", lane: store.Lane{NotBefore: now.Add(time.Minute)}, at: 120, idle: true},
		{name: "has rested since", lane: store.Lane{TAT: now.Add(time.Minute)}, at: 60, idle: true},
		{name: "has not rested", lane: store.Lane{TAT: now.Add(time.Minute)}, at: 59},
	} {
		room := at(test.lane, test.at)
		if test.use > 0 {
			room.Use(test.use)
		}
		after := func(instant time.Time) float64 {
			if instant.IsZero() {
				return 0
			}
			return instant.Sub(now).Seconds()
		}
		if next := after(room.NextStart()); test.next != 0 && next != test.next {
			t.Errorf("%s: the next job may start after %v s, want %v", test.name, next, test.next)
		}
		if look := after(room.LookAt); look != test.look {
			t.Errorf("%s: the lane is looked at after %v s, want %v", test.name, look, test.look)
		}
		if idle := room.Idle(); idle != test.idle {
			t.Errorf("%s: idle %v, want %v", test.name, idle, test.idle)
		}
	}
}
