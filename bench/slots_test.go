package bench

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// storedSchedules is the number of schedules in the store in addition to the
// schedules that are due.
const storedSchedules = 100_000

// BenchmarkSlots lets 1,000 and 20,000 of about 100,000 schedules be due at one
// instant, on one node and on two nodes, and reports how long after that
// instant their functions start, in milliseconds. Another schedule rings every
// second during the measurement; concurrent-ms is the greatest delay of its
// starts. Use -benchtime=5x for five instants.
func BenchmarkSlots(b *testing.B) {
	b.Run("postgres", func(b *testing.B) {
		url := os.Getenv("HOURBELL_TEST_POSTGRES_URL")
		if url == "" {
			b.Skip("HOURBELL_TEST_POSTGRES_URL is not set; make bench starts a server")
		}
		schema := fmt.Sprintf("slots_%d", os.Getpid())
		defer dropSchema(b, url, schema)
		slots(b, func() store.Backend {
			backend, err := postgres.Open(b.Context(), url, postgres.Schema(schema))
			must(b, err)
			return backend
		})
	})
	b.Run("sqlite", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "bench.db")
		slots(b, func() store.Backend {
			backend, err := sqlite.Open(b.Context(), path)
			must(b, err)
			return backend
		})
	})
}

// slots runs the sizes on one store, which is filled once.
func slots(b *testing.B, open func() store.Backend) {
	first := open()
	_, err := first.(store.Migrator).MigrateUp(b.Context())
	must(b, err)
	fillSchedules(b, first)
	defer first.(interface{ Close() error }).Close()
	for _, size := range []struct{ due, nodes int }{{1_000, 1}, {1_000, 2}, {20_000, 1}, {20_000, 2}} {
		b.Run(fmt.Sprintf("due=%d/nodes=%d", size.due, size.nodes), func(b *testing.B) {
			s := newStarts()
			var backends []store.Backend
			for range size.nodes {
				backends = append(backends, open())
			}
			stop := runNodes(b, backends, s)
			defer stop()
			client := clientOf(b, backends[0], s)
			awaitPlanned(b, backends[0])
			_, err := client.Schedules.Put(b.Context(), hourbell.Schedule{Name: "concurrent", Rule: recur.Spec{Every: "1s"}, Job: hourbell.RawArgs{Name: "slot"}})
			must(b, err)
			s.reset()
			var all []time.Duration
			for b.Loop() {
				all = append(all, ring(b, client, s, size.due)...)
			}
			report(b, s, all)
			must(b, client.Schedules.Delete(context.Background(), []string{"concurrent"}))
		})
	}
}

// Slot is a job that records when it starts.
type Slot struct{}

func (Slot) Kind() string { return "slot" }

// starts records how late functions start.
type starts struct {
	mu         sync.Mutex
	late       []time.Duration
	concurrent time.Duration // the greatest delay of the schedule that rings every second
}

func newStarts() *starts { return &starts{} }

func (s *starts) add(schedule bool, late time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if schedule {
		s.concurrent = max(s.concurrent, late)
		return
	}
	s.late = append(s.late, late)
}

func (s *starts) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late, s.concurrent = nil, 0
}

func (s *starts) take(n int) ([]time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.late) < n {
		return nil, false
	}
	late := s.late
	s.late = nil
	return late, true
}

func clientOf(b *testing.B, backend store.Backend, s *starts) *hourbell.Client {
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[Slot]) error {
		s.add(job.Schedule == "concurrent", time.Since(job.Slot))
		return nil
	})
	client, err := hourbell.New(backend, hourbell.Config{
		Workers: workers, Queues: map[string]int{"default": 200}, Logger: slog.New(slog.DiscardHandler),
	})
	must(b, err)
	return client
}

func runNodes(b *testing.B, backends []store.Backend, s *starts) (stop func()) {
	var stops []func()
	for _, backend := range backends {
		client := clientOf(b, backend, s)
		ended := make(chan error, 1)
		go func() { ended <- client.Run(context.Background()) }()
		stops = append(stops, func() {
			must(b, client.Stop(context.Background()))
			must(b, <-ended)
		})
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// fillSchedules puts schedules of half and full hours, 10,000 per call.
func fillSchedules(b *testing.B, backend store.Backend) {
	client := clientOf(b, backend, newStarts())
	began := time.Now()
	hour := began.UTC().Add(6 * time.Hour).Hour() // far from the instants of the rounds
	for first := 0; first < storedSchedules; first += 10_000 {
		page := make([]hourbell.Schedule, 10_000)
		for i := range page {
			page[i] = hourbell.Schedule{
				Name: fmt.Sprintf("stored %06d", first+i), Job: hourbell.RawArgs{Name: "slot", JSON: []byte(`{}`)},
				Rule: recur.Spec{Cron: fmt.Sprintf("%d %d * * *", 30*(i%2), (hour+i/2%12)%24), Zone: "Europe/Prague"},
			}
		}
		_, err := client.Schedules.PutAll(b.Context(), "", 0, page)
		must(b, err)
	}
	b.Logf("%d schedules were put in %v", storedSchedules, time.Since(began).Round(time.Millisecond))
}

// awaitPlanned waits until every schedule has its next slot.
func awaitPlanned(b *testing.B, backend store.Backend) {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		due, err := backend.DueSchedules(b.Context(), store.DueSchedulesRequest{Limit: 1})
		must(b, err)
		if len(due.Schedules) == 0 {
			if took := time.Since(began); took > time.Second {
				b.Logf("the schedules were planned in %v", took.Round(time.Millisecond))
			}
			return
		}
	}
}

// ring lets n schedules be due at one instant and returns how late their jobs
// start.
func ring(b *testing.B, client *hourbell.Client, s *starts, n int) []time.Duration {
	at := time.Now().Add(3*time.Second + time.Duration(n)*400*time.Microsecond).Truncate(time.Second).UTC()
	due := make([]hourbell.Schedule, n)
	for i := range due {
		due[i] = hourbell.Schedule{
			Name: fmt.Sprintf("due at %d: %d", at.Unix(), i), Job: hourbell.RawArgs{Name: "slot", JSON: []byte(`{}`)},
			Rule: recur.Spec{Cron: fmt.Sprintf("%d %d %d * * *", at.Second(), at.Minute(), at.Hour())},
		}
	}
	_, err := client.Schedules.PutAll(b.Context(), "", 0, due)
	must(b, err)
	for deadline := at.Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if late, all := s.take(n); all {
			time.Sleep(500 * time.Millisecond) // for the work after the starts
			if len(late) != n {
				b.Fatalf("%d functions started, want %d", len(late), n)
			}
			return late
		}
		if time.Now().After(deadline) {
			b.Fatalf("not all of %d functions started", n)
		}
	}
}

func report(b *testing.B, s *starts, late []time.Duration) {
	b.Helper()
	slices.Sort(late)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(late[len(late)/2]), "p50-ms")
	b.ReportMetric(ms(late[len(late)*99/100]), "p99-ms")
	b.ReportMetric(ms(late[len(late)-1]), "max-ms")
	b.ReportMetric(ms(s.concurrent), "concurrent-ms")
	b.ReportMetric(0, "ns/op")
}
