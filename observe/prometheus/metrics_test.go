package prometheus_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/observe/prometheus"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// values returns the sums and counts of a registry's metrics by name and labels.
func values(t *testing.T, registry *prom.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	must(t, err)
	out := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			key := family.GetName()
			for _, name := range slices.Sorted(maps.Keys(labels)) {
				key += fmt.Sprintf(" %s=%s", name, labels[name])
			}
			switch {
			case m.GetCounter() != nil:
				out[key] = m.GetCounter().GetValue()
			case m.GetGauge() != nil:
				out[key] = m.GetGauge().GetValue()
			case m.GetHistogram() != nil:
				out[key] = float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return out
}

// TestANodeIsMeasured runs a client whose jobs complete, fail and wait, and a schedule, and
// reads the metrics of it.
func TestANodeIsMeasured(t *testing.T) {
	metrics := prometheus.New(prometheus.Options{Refresh: time.Nanosecond})
	registry := prom.NewPedanticRegistry()
	registry.MustRegister(metrics)
	workers := hourbell.NewWorkers()
	workers.Handle("mail", func(_ context.Context, job *hourbell.JobRow) error {
		if string(job.RawArgs) == "2" {
			return hourbell.Fail(errors.New("no such address"))
		}
		time.Sleep(2 * time.Millisecond)
		return nil
	})
	client, err := hourbell.New(memory.New(), hourbell.Config{
		Workers: workers, Logger: slog.New(slog.DiscardHandler), Observers: []event.Observer{metrics},
	})
	must(t, err)
	metrics.Watch(client)
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	for _, args := range []string{"1", "2", "3"} {
		_, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "mail", JSON: []byte(args)})
		must(t, err)
	}
	_, err = client.Enqueue(t.Context(), hourbell.RawArgs{Name: "mail", JSON: []byte("4")}, hourbell.In(time.Hour))
	must(t, err)
	_, err = client.Enqueue(t.Context(), hourbell.RawArgs{Name: "unknown", JSON: []byte("5")}, hourbell.At(time.Now().Add(-time.Minute)))
	must(t, err)
	_, err = client.Schedules.Put(t.Context(), hourbell.Schedule{
		Name: "nightly", Rule: recur.Every(time.Second), Job: hourbell.RawArgs{Name: "mail", JSON: []byte("6")},
	})
	must(t, err)
	want := map[string]float64{
		"hourbell_jobs_total kind=mail outcome=failed queue=default": 1,
		"hourbell_queue_jobs queue=default state=scheduled":          1,
		"hourbell_queue_jobs queue=default state=ready":              1,
		"hourbell_node_leased":                                       1,
		"hourbell_nodes":                                             1,
		"hourbell_store_up":                                          1,
	}
	var got map[string]float64
	met := func() bool {
		got = values(t, registry)
		for key, value := range want {
			if got[key] != value {
				return false
			}
		}
		fired := got["hourbell_slots_total outcome=fired schedule=nightly"]
		ran := got["hourbell_schedule_jobs_total outcome=completed schedule=nightly"]
		oldest := got["hourbell_queue_oldest_ready_seconds queue=default"]
		left := got["hourbell_node_lease_left_seconds"]
		return fired >= 1 && left > 0 && left < 15 && got["hourbell_store_call_duration_seconds operation=finish"] >= 1 &&
			got["hourbell_store_call_duration_seconds operation=claim"] >= 1 && ran >= 1 && ran <= fired && oldest >= 60 && oldest < 600 &&
			got["hourbell_jobs_total kind=mail outcome=completed queue=default"] == 2+ran &&
			got["hourbell_job_duration_seconds kind=mail queue=default"] == 3+ran &&
			got["hourbell_job_start_late_seconds kind=mail queue=default"] >= 3+ran
	}
	for deadline := time.Now().Add(time.Minute); !met(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the metrics are not as expected: %v", got)
		}
	}
	must(t, errors.Join(client.Stop(context.Background()), <-ended))
	got = values(t, registry)
	if got["hourbell_node_leased"] != 0 || got["hourbell_node_lease_left_seconds"] != 0 {
		t.Errorf("a stopped node is leased: %v", got)
	}
	problems, err := testutil.GatherAndLint(registry)
	must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestLabelsAreBounded counts more names than a label may have.
func TestLabelsAreBounded(t *testing.T) {
	metrics := prometheus.New(prometheus.Options{MaxSchedules: 3, MaxKinds: 2})
	registry := prom.NewPedanticRegistry()
	registry.MustRegister(metrics)
	for i := range 10 {
		metrics.Observe(event.Event{Kind: event.SlotMissed, Schedule: fmt.Sprint("s", i), Count: 2})
		metrics.Observe(event.Event{Kind: event.JobCompleted, JobKind: fmt.Sprint("k", i), Queue: "q", Took: time.Second})
	}
	metrics.Observe(event.Event{Kind: event.SlotMissed, Schedule: "s1"}) // a known name keeps its value
	got := values(t, registry)
	for key, want := range map[string]float64{
		"hourbell_slots_total outcome=missed schedule=s0":           2,
		"hourbell_slots_total outcome=missed schedule=s1":           3,
		"hourbell_slots_total outcome=missed schedule=_other":       14,
		"hourbell_jobs_total kind=_other outcome=completed queue=q": 8,
		"hourbell_labels_left_out_total label=schedule":             7,
		"hourbell_labels_left_out_total label=kind":                 8,
		"hourbell_job_duration_seconds kind=_other queue=q":         8,
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
}

// TestCallsOfTheStoreFail counts a failure, and neither refusals nor calls that were given up.
func TestCallsOfTheStoreFail(t *testing.T) {
	metrics := prometheus.New(prometheus.Options{})
	registry := prom.NewPedanticRegistry()
	registry.MustRegister(metrics)
	for _, err := range []error{nil, errors.New("away"), store.ErrConflict, fmt.Errorf("put: %w", store.ErrUnsettled), context.Canceled, context.DeadlineExceeded} {
		metrics.ObserveCall(event.Call{Operation: "fire", Took: time.Millisecond, Err: err})
	}
	metrics.ObserveCall(event.Call{Operation: "claim", Repeats: 2})
	metrics.ObserveCall(event.Call{Operation: "claim", Repeats: 1})
	got := values(t, registry)
	if n := got["hourbell_store_transactions_repeated_total operation=claim"]; n != 3 {
		t.Errorf("%v transactions were begun again, want 3", n)
	}
	if got["hourbell_store_call_duration_seconds operation=fire"] != 6 || got["hourbell_store_call_errors_total operation=fire"] != 2 {
		t.Errorf("got %v", got)
	}
}

// away is a store that does not answer.
type away struct{ store.Backend }

func (away) List(context.Context, store.ListRequest) (store.Listing, error) {
	return store.Listing{}, errors.New("away")
}

// TestTheStoreIsAway checks that gauges of the store disappear while it cannot be read.
func TestTheStoreIsAway(t *testing.T) {
	metrics := prometheus.New(prometheus.Options{})
	client, err := hourbell.New(away{memory.New()}, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	metrics.Watch(client)
	registry := prom.NewPedanticRegistry()
	registry.MustRegister(metrics)
	got := values(t, registry)
	up, has := got["hourbell_store_up"]
	if _, nodes := got["hourbell_nodes"]; !has || up != 0 || nodes {
		t.Errorf("got %v", got)
	}
}

// TestAlerts runs the tests of the alerts in deploy/prometheus, and checks that alerts name
// metrics that exist.
func TestAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("HOURBELL_TEST_REQUIRE") != "" {
			t.Fatal("promtool is missing; on Debian it is in the package prometheus")
		}
		t.Skip("promtool is missing; on Debian it is in the package prometheus")
	}
	cmd := exec.CommandContext(t.Context(), promtool, "test", "rules", "alerts_test.yml")
	cmd.Dir = "../../deploy/prometheus"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestPublishedNames checks that alerts, board and page name metrics that exist, and that the page
// names all of them.
func TestPublishedNames(t *testing.T) {
	descriptions := make(chan *prom.Desc, 100)
	prometheus.New(prometheus.Options{}).Describe(descriptions)
	close(descriptions)
	known := map[string]bool{}
	for d := range descriptions {
		_, rest, _ := strings.Cut(d.String(), `fqName: "`)
		name, _, _ := strings.Cut(rest, `"`)
		known[name] = true
	}
	for _, file := range []string{"deploy/prometheus/alerts.yml", "deploy/grafana/hourbell.json", "docs/metrics.md"} {
		text, err := os.ReadFile("../../" + file)
		must(t, err)
		named := map[string]bool{}
		for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
			name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(word, "_bucket"), "_count"), "_sum")
			if !strings.HasPrefix(name, "hourbell_") || strings.HasSuffix(name, "_") {
				continue
			}
			named[name] = true
			if !known[name] {
				t.Errorf("%s names %s, which does not exist", file, name)
			}
		}
		for name := range known {
			if file == "docs/metrics.md" && !named[name] {
				t.Errorf("%s does not name %s", file, name)
			}
		}
	}
}
