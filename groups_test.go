package hourbell_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// TestPauseOfAGroup checks what a pause of a group does to jobs and slots while nodes run.
func TestPauseOfAGroup(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		var ran atomic.Int64
		client := c.client(noteWorkers(func(context.Context, *hourbell.Job[Note]) error {
			ran.Add(1)
			return nil
		}))
		c.run(client)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		put := func(name string) {
			t.Helper()
			_, err := client.Schedules.Put(t.Context(), hourbell.Schedule{
				Name: name, Group: "reports", Rule: recur.Spec{Every: "100ms"}, Job: hourbell.RawArgs{Name: "note", JSON: []byte(`{}`)},
			})
			must(err)
		}
		put("bell")
		eventually(t, "some slots", func() bool { return ran.Load() >= 2 })
		must(client.Groups.Pause(t.Context(), "reports", hourbell.Pause{Reason: "repair", Actor: "me"}))
		eventually(t, "the jobs that run", func() bool {
			n, err := client.Jobs.Count(t.Context(), hourbell.JobFilter{States: []store.State{store.StateRunning}})
			return err == nil && n == 0
		})
		before := ran.Load()
		put("later")
		waiting, err := client.Enqueue(t.Context(), Note{}, hourbell.Group("reports"))
		must(err)
		triggered, err := client.Groups.Trigger(t.Context(), "reports")
		must(err)
		if len(triggered) != 2 {
			t.Errorf("triggered %v", triggered)
		}
		other, err := client.Enqueue(t.Context(), Note{})
		must(err)
		done := func(id int64) func() bool {
			return func() bool {
				job, err := client.Jobs.Get(t.Context(), id)
				return err == nil && job.State == store.StateCompleted
			}
		}
		eventually(t, "a job of no group", done(other.ID))
		time.Sleep(350 * time.Millisecond) // some slots
		if got := ran.Load(); got != before+1 {
			t.Errorf("%d jobs ran in the pause instead of 1", got-before)
		}
		job, err := client.Jobs.Get(t.Context(), waiting.ID)
		must(err)
		reasons, err := client.Jobs.Waits(t.Context(), job)
		must(err)
		if reason := reasons[job.ID]; !strings.HasPrefix(reason, "group reports is paused since ") || !strings.HasSuffix(reason, " by me: repair") {
			t.Errorf("the job waits because %q", reason)
		}
		for _, name := range []string{"bell", "later"} {
			records, err := client.Slots.List(t.Context(), hourbell.SlotFilter{Schedule: name, Limit: 1})
			must(err)
			if len(records) == 0 || records[0].Outcome != store.SlotSkipped || !strings.HasPrefix(records[0].Reason, "group paused: group reports was paused at ") {
				t.Errorf("slots of %s: %+v", name, records)
			}
			info, err := client.Schedules.Get(t.Context(), name)
			must(err)
			if info.State() != "paused" || info.GroupPausedAt.IsZero() || !info.PausedAt.IsZero() {
				t.Errorf("schedule %s: state %s, %+v", name, info.State(), info)
			}
		}
		groups, err := client.Groups.List(t.Context())
		must(err)
		if len(groups) != 1 || groups[0].Pause.Reason != "repair" || groups[0].Schedules != 2 || groups[0].Ready < 3 {
			t.Errorf("groups: %+v", groups)
		}
		resumed, err := client.Groups.Resume(t.Context(), "reports")
		must(err)
		if !resumed {
			t.Error("the group was paused")
		}
		eventually(t, "a job that has waited", done(waiting.ID))
		now := ran.Load()
		eventually(t, "slots after the pause", func() bool { return ran.Load() >= now+2 })
	})
}

// TestPauseOfAGroupEndsByItself checks that an idle node begins at the end of a pause.
func TestPauseOfAGroupEndsByItself(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		began := make(chan time.Time, 1)
		client := c.client(noteWorkers(func(context.Context, *hourbell.Job[Note]) error {
			began <- time.Now()
			return nil
		}))
		now, err := client.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.run(client)
		at := now.Add(time.Second)
		if err := client.Groups.Pause(t.Context(), "g", hourbell.Pause{Until: at}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Enqueue(t.Context(), Note{}, hourbell.Group("g")); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-began:
			if got.Before(at) || got.Sub(at) > 5*time.Second {
				t.Errorf("the job began %v after the end of the pause", got.Sub(at))
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the job did not begin")
		}
	})
}

// TestPausesThatAreRefused checks that wrong values are refused with their fields.
func TestPausesThatAreRefused(t *testing.T) {
	client := newCluster(t).client(nil)
	for field, err := range map[string]error{
		"until":  client.Groups.Pause(t.Context(), "g", hourbell.Pause{Until: time.Now().Add(-time.Hour)}),
		"reason": client.Groups.Pause(t.Context(), "g", hourbell.Pause{Reason: strings.Repeat("x", 1025)}),
		"group":  client.Groups.Pause(t.Context(), "", hourbell.Pause{}),
	} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := client.Groups.Get(t.Context(), "typo"); !errors.Is(err, hourbell.ErrNotFound) {
		t.Errorf("a group that does not exist: %v", err)
	}
	if groups, err := client.Groups.List(t.Context()); err != nil || len(groups) != 0 {
		t.Errorf("a refused pause changes nothing: %v, %v", groups, err)
	}
}
