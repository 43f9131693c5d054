package fire_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/zonetest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

func TestMain(m *testing.M) { zonetest.Main(m) }

// town is a time zone whose data change under nodes that fire a schedule at 12:46.
type town struct {
	*testing.T
	store  *memory.Store
	client *hourbell.Client
	zone   string

	mu   sync.Mutex
	ran  []string // slots, in UTC
	stop func()
}

const (
	clock = "2006-01-02 15:04"
	noon  = 12 * time.Hour // the offset of the zone at first
)

// inTown runs a test with a clock of its own, which begins on 2000-01-01 at 00:00. The zone is twelve hours ahead
// of UTC, so that it is noon there.
func inTown(t *testing.T, test func(*town)) {
	zone := "Test/" + strings.NewReplacer("/", "_", "=", "_").Replace(t.Name())
	zonetest.Write(t, zone, noon)
	synctest.Test(t, func(t *testing.T) {
		w := &town{T: t, store: memory.New(), zone: zone}
		w.start()
		w.put("noon", "46 12 * * *")
		defer func() { w.stop() }()
		test(w)
	})
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// start starts a node.
func (w *town) start() {
	workers := hourbell.NewWorkers()
	workers.Handle("k", func(_ context.Context, job *hourbell.JobRow) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ran = append(w.ran, job.Slot.UTC().Format(clock))
		return nil
	})
	var err error
	w.client, err = hourbell.New(w.store, hourbell.Config{
		Workers: workers, Logger: slog.New(slog.DiscardHandler), PollIdle: 10 * time.Second,
	})
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.client.Run(ctx) }()
	w.stop = func() {
		cancel()
		w.must(<-ended)
	}
	time.Sleep(time.Second)
}

func (w *town) put(name, cron string) {
	w.Helper()
	_, err := w.client.Schedules.Put(context.Background(), hourbell.Schedule{
		Name: name, Rule: recur.Spec{Cron: cron, Zone: w.zone}, Misfire: hourbell.MisfireOnce, Job: hourbell.RawArgs{Name: "k"},
	})
	w.must(err)
}

// until waits until the clock shows a time in UTC.
func (w *town) until(at string) {
	w.Helper()
	end, err := time.Parse(clock, at)
	w.must(err)
	time.Sleep(time.Until(end))
}

// move writes data by which the zone is ahead of UTC by offset, and restarts the node or waits until it has read the data.
func (w *town) move(offset time.Duration, restart bool) {
	w.Helper()
	if restart {
		w.stop()
	}
	zonetest.Write(w, w.zone, offset)
	if restart {
		w.start()
	}
	time.Sleep(2 * time.Minute)
}

// check compares which slots have run, and when the stored next slot is.
func (w *town) check(next string, ran ...string) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if fmt.Sprint(w.ran) != fmt.Sprint(ran) {
		w.Errorf("ran %q, want %q", w.ran, ran)
	}
	rows, err := store.List[store.Schedule](context.Background(), w.store, store.ListRequest{Names: []string{"noon"}, Limit: 1})
	w.must(err)
	info, err := w.client.Schedules.Get(context.Background(), "noon")
	w.must(err)
	if stored, shown := rows[0].NextAt.UTC().Format(clock), info.NextAt.UTC().Format(clock); stored != next || shown != next {
		w.Errorf("the next slot is stored as %s and shown as %s, want %s", stored, shown, next)
	}
	slots, err := w.client.Slots.List(context.Background(), hourbell.SlotFilter{})
	w.must(err)
	for _, slot := range slots {
		if slot.Outcome == store.SlotMissed {
			w.Errorf("missed: %+v", slot)
		}
	}
}

// TestZonesChange replaces the data of a zone, of a node that is restarted and of a node that runs.
func TestZonesChange(t *testing.T) {
	for _, restart := range []bool{true, false} {
		t.Run(fmt.Sprintf("Restart=%v", restart), func(t *testing.T) {
			for _, test := range []struct {
				name string
				do   func(w *town)
			}{
				{"TwoMinutesEarlier", func(w *town) {
					w.move(noon+2*time.Minute, restart)
					w.check("2000-01-01 00:44")
					w.until("2000-01-01 01:00")
					w.check("2000-01-02 00:44", "2000-01-01 00:44")
				}},
				{"AnHourLater", func(w *town) {
					w.move(noon-time.Hour, restart)
					w.until("2000-01-01 01:45")
					w.check("2000-01-01 01:46")
					w.until("2000-01-01 02:00")
					w.check("2000-01-02 01:46", "2000-01-01 01:46")
				}},
				{"AnHourLaterAfterTheSlotHasFired", func(w *town) {
					w.until("2000-01-01 01:00")
					w.move(noon-time.Hour, restart)
					w.check("2000-01-02 01:46", "2000-01-01 00:46")
					w.until("2000-01-01 02:00")
					w.check("2000-01-02 01:46", "2000-01-01 00:46")
				}},
				{"EarlierAfterTheNewInstant", func(w *town) {
					w.until("2000-01-01 00:20")
					w.move(noon+40*time.Minute, restart)
					w.check("2000-01-02 00:06", "2000-01-01 00:06")
					w.until("2000-01-01 01:00")
					w.check("2000-01-02 00:06", "2000-01-01 00:06")
				}},
				{"ThereAndBack", func(w *town) {
					w.until("2000-01-01 01:00")
					for _, by := range []time.Duration{-time.Hour, 0, time.Hour, -time.Hour} {
						w.move(noon+by, restart)
					}
					w.until("2000-01-01 02:00")
					w.check("2000-01-02 01:46", "2000-01-01 00:46")
				}},
			} {
				t.Run(test.name, func(t *testing.T) { inTown(t, test.do) })
			}
		})
	}
}

// TestASlotStoredWithOtherData: slots that another machine stored with other data, of a zone that no node has used, move within two
// minutes, also of more schedules than a page has.
func TestASlotStoredWithOtherData(t *testing.T) {
	inTown(t, func(w *town) {
		time.Sleep(2 * time.Minute)
		zone := w.zone + "2"
		zonetest.Write(w, zone, noon-time.Hour)
		other, err := hourbell.New(w.store, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
		w.must(err)
		names := map[string]bool{}
		for i := range 600 {
			name := fmt.Sprintf("other %03d", i)
			_, err := other.Schedules.Put(context.Background(), hourbell.Schedule{
				Name: name, Rule: recur.Spec{Cron: "46 12 * * *", Zone: zone}, Job: hourbell.RawArgs{Name: "k"},
			})
			w.must(err)
			names[name] = true
		}
		zonetest.Write(w, zone, noon)
		time.Sleep(2 * time.Minute)
		rows, err := store.List[store.Schedule](context.Background(), w.store, store.ListRequest{Limit: 1000})
		w.must(err)
		for _, row := range rows {
			if at := row.NextAt.UTC().Format(clock); names[row.Name] && at != "2000-01-01 00:46" {
				w.Fatalf("%s: the next slot is stored as %s", row.Name, at)
			}
		}
	})
}

// TestZonesOfNodes checks what nodes register of the zones in use, also of zones that come later.
func TestZonesOfNodes(t *testing.T) {
	inTown(t, func(w *town) {
		zones := func(want int) string {
			w.Helper()
			nodes, err := store.List[store.NodeInfo](context.Background(), w.store, store.ListRequest{})
			w.must(err)
			if len(nodes[0].Zones) != want {
				w.Fatalf("registered: %q, want %d zones", nodes[0].Zones, want)
			}
			return nodes[0].Zones[0]
		}
		time.Sleep(2 * time.Minute)
		before := zones(1)
		if name, of := store.CutZonePrint(before); name != w.zone || of == "" {
			w.Errorf("registered %q", before)
		}
		zonetest.Write(w, w.zone+"2", noon)
		_, err := w.client.Schedules.Put(context.Background(), hourbell.Schedule{
			Name: "more", Rule: recur.Spec{Cron: "46 12 * * *", Zone: w.zone + "2"}, Job: hourbell.RawArgs{Name: "k"},
		})
		w.must(err)
		time.Sleep(2 * time.Minute)
		if zones(2) != before {
			w.Error("the fingerprint has changed although the data have not")
		}
		w.move(noon+time.Hour, false)
		if zones(2) == before {
			w.Error("the fingerprint has not changed with the data")
		}
	})
}
