package hourbell_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/recur"
)

func TestScheduleFiresOncePerSlotOnTwoNodes(t *testing.T) {
	clienttest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		var mu sync.Mutex
		slots := map[time.Time]int{}
		work := func(_ context.Context, job *hourbell.Job[Note]) error {
			mu.Lock()
			defer mu.Unlock()
			slots[job.Slot]++
			if job.Schedule != "bell" || job.Origin != "schedule" {
				t.Errorf("job of a slot: %+v", job.JobRow)
			}
			return nil
		}
		first := c.client(noteWorkers(work))
		c.run(first)
		c.run(c.client(noteWorkers(work)))
		_, err := first.Schedules.Put(t.Context(), hourbell.Schedule{Name: "bell", Rule: recur.Spec{Every: "100ms"}, Job: hourbell.RawArgs{Name: "note", JSON: []byte(`{}`)}})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "ten slots", func() bool { mu.Lock(); defer mu.Unlock(); return len(slots) >= 10 })
		if err := first.Schedules.Pause(t.Context(), []string{"bell"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(250 * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		for slot, n := range slots {
			if n != 1 {
				t.Errorf("slot %v ran %d times", slot, n)
			}
		}
		records, err := first.Slots.List(t.Context(), hourbell.SlotFilter{Schedule: "bell"})
		if err != nil {
			t.Fatal(err)
		}
		var paused, count int64
		for i, record := range records {
			count += record.Count
			if strings.HasPrefix(record.Reason, "paused") {
				paused += record.Count
			}
			if i > 0 && records[i-1].Slot.Sub(record.Last) != 100*time.Millisecond {
				t.Errorf("between %v and %v is a slot without a record", record.Last, records[i-1].Slot)
			}
		}
		if paused < 1 || count < 11 {
			t.Errorf("%d slots on record, %d of them paused", count, paused)
		}
	})
}

func TestLostUpdateIsRefused(t *testing.T) {
	c := newCluster(t)
	client := c.client(nil)
	s := hourbell.Schedule{Name: "report", Rule: recur.Spec{Cron: "0 9 * * *"}, Job: hourbell.RawArgs{Name: "note"}}
	first, err := client.Schedules.Put(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := first.Now, first.Now
	theirs.Priority = 1
	if _, err = client.Schedules.Put(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	mine.Priority = 9
	if _, err = client.Schedules.Put(t.Context(), mine); !errors.Is(err, hourbell.ErrConflict) {
		t.Fatalf("an update over a newer one: %v", err)
	}
	if info, _ := client.Schedules.Get(t.Context(), "report"); info.Priority != 1 {
		t.Fatalf("priority is %d after a refused update", info.Priority)
	}
}

func TestSyncMakesTheSetEqual(t *testing.T) {
	c := newCluster(t)
	client := c.client(nil)
	make3 := func(names ...string) (set []hourbell.Schedule) {
		for _, name := range names {
			set = append(set, hourbell.Schedule{Name: name, Rule: recur.Spec{Every: "1h"}, Job: hourbell.RawArgs{Name: "note"}})
		}
		return set
	}
	if _, err := client.Schedules.Sync(t.Context(), "app", 7, make3("a", "b")); err != nil {
		t.Fatal(err)
	}
	before, err := client.Schedules.Get(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Schedules.Sync(t.Context(), "app", 8, make3("b", "c"))
	if err != nil || res != (hourbell.SyncResult{Changed: 1, Unchanged: 1, Deleted: 1}) {
		t.Fatalf("sync: %+v, %v", res, err)
	}
	after, err := client.Schedules.Get(t.Context(), "b")
	if err != nil || after.Revision != before.Revision || !after.Anchor.Equal(before.Anchor) {
		t.Fatalf("an unchanged schedule changed: %+v, %v", after, err)
	}
	if _, err := client.Schedules.Sync(t.Context(), "app", 7, make3("a", "b")); !errors.Is(err, hourbell.ErrStale) {
		t.Fatalf("an older revision: %v", err)
	}
}

func TestTriggerMakesAJobOutsideTheSlots(t *testing.T) {
	c := newCluster(t)
	ran := make(chan *hourbell.Job[Note], 1)
	client := c.client(noteWorkers(func(_ context.Context, job *hourbell.Job[Note]) error { ran <- job; return nil }))
	c.run(client)
	_, err := client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "yearly", Rule: recur.Spec{Cron: "@yearly"}, Job: hourbell.RawArgs{Name: "note", JSON: []byte(`{"text":"x"}`)}, Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Schedules.Trigger(t.Context(), "yearly"); err != nil {
		t.Fatal(err)
	}
	job := <-ran
	if job.Origin != "trigger" || job.Schedule != "yearly" || !job.Slot.IsZero() || job.Args.Text != "x" {
		t.Fatalf("triggered job: %+v", job)
	}
	if slots, _ := client.Slots.List(t.Context(), hourbell.SlotFilter{}); len(slots) != 0 {
		t.Fatalf("a trigger touched slots: %+v", slots)
	}
}
