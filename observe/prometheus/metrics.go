// Package prometheus counts and times the work of a Hourbell node for Prometheus.
//
// Metrics is an observer of a client, and a collector:
//
//	metrics := prometheus.New(prometheus.Options{})
//	client, err := hourbell.New(backend, hourbell.Config{Observers: []event.Observer{metrics}, …})
//	metrics.Watch(client)
//	registry.MustRegister(metrics)
//
// Counters and histograms are of this node only; add them up over the nodes of the
// cluster. Gauges whose names begin with hourbell_queue_ or hourbell_nodes are read from
// the store and are the same on each node; take the greatest. docs/metrics.md lists all
// metrics.
package prometheus

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
)

// Options has the limits of Metrics. The zero value is usable.
type Options struct {
	// MaxSchedules is how many names of schedules become label values at most; 0 means
	// 1,000. Events of further schedules are counted with the schedule LeftOut, and in
	// hourbell_labels_left_out_total.
	MaxSchedules int
	// MaxKinds and MaxQueues are the same for kinds and queues; 0 means 200.
	MaxKinds, MaxQueues int
	// Refresh is how old the gauges that are read from the store may be at most when
	// they are scraped; 0 means 10 seconds. Several scrapes within that time cause one
	// reading.
	Refresh time.Duration
}

// LeftOut is the value of a label whose own value was left out; see Options.
const LeftOut = "_other"

// The bounds of histograms, in seconds.
var (
	lateBuckets     = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}
	durationBuckets = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900, 3600, 14400, 43200}
)

// Metrics has the metrics of one client. It implements event.Observer and
// prometheus.Collector. Concurrent calls are allowed.
type Metrics struct {
	jobs, slots, scheduleJobs, storeFailures, leftOut  *prometheus.CounterVec
	late, took                                         *prometheus.HistogramVec
	refused, rescued, leasesLost, claimed, deaths, lag prometheus.Counter
	leased                                             prometheus.Gauge

	schedules, kinds, queues *guard
	cluster                  *cluster
}

// New returns metrics without values.
func New(o Options) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hourbell_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, bounds []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "hourbell_" + name, Help: help, Buckets: bounds}, []string{"kind", "queue"})
	}
	single := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "hourbell_" + name, Help: help})
	}
	m := &Metrics{
		jobs:          counter("jobs_total", "Attempts of jobs that ended on this node, by what became of the job.", "outcome", "kind", "queue"),
		scheduleJobs:  counter("schedule_jobs_total", "Attempts of jobs of schedules that ended on this node.", "schedule", "outcome"),
		slots:         counter("slots_total", "Slots that this node has accounted for.", "schedule", "outcome"),
		storeFailures: counter("store_failures_total", "Failed operations of the store.", "operation"),
		leftOut:       counter("labels_left_out_total", "Events that were counted with the label value "+LeftOut+", because the label has too many values.", "label"),
		late:          histogram("job_start_late_seconds", "How long after it was due a job began, by the store's clock.", lateBuckets),
		took:          histogram("job_duration_seconds", "How long attempts took.", durationBuckets),
		refused:       single("claims_refused_total", "Late outcomes that were refused because the job was claimed again."),
		rescued:       single("jobs_rescued_total", "Jobs that were taken from dead nodes by this node."),
		leasesLost:    single("leases_lost_total", "How often this node lost its lease."),
		claimed:       single("jobs_claimed_total", "Jobs that this node has claimed."),
		deaths:        single("node_deaths_total", "Nodes that this node has declared dead."),
		lag:           single("events_dropped_total", "Events that are missing here because the observer was too slow."),
		leased:        prometheus.NewGauge(prometheus.GaugeOpts{Name: "hourbell_node_leased", Help: "1 while this node runs and has its lease, otherwise 0."}),
		schedules:     newGuard(o.MaxSchedules, 1000), kinds: newGuard(o.MaxKinds, 200), queues: newGuard(o.MaxQueues, 200),
	}
	m.cluster = newCluster(o.Refresh, m.queues)
	return m
}

// Watch reads gauges of the whole cluster from the store of a client, when they are
// scraped. Scrapes before that have no gauges of the cluster.
func (m *Metrics) Watch(client *hourbell.Client) { m.cluster.watch(client) }

func (m *Metrics) own() []prometheus.Collector {
	return []prometheus.Collector{
		m.jobs, m.slots, m.scheduleJobs, m.storeFailures, m.leftOut, m.late, m.took,
		m.refused, m.rescued, m.leasesLost, m.claimed, m.deaths, m.lag, m.leased,
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, c := range m.own() {
		c.Describe(descriptions)
	}
	m.cluster.describe(descriptions)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(metrics chan<- prometheus.Metric) {
	for _, c := range m.own() {
		c.Collect(metrics)
	}
	m.cluster.collect(metrics)
}

// outcomes are the values of the label outcome of jobs.
var outcomes = map[event.Kind]string{
	event.JobCompleted: "completed", event.JobFailed: "failed", event.JobCancelled: "cancelled", event.JobRetried: "retried",
	event.JobSnoozed: "snoozed", event.JobReleased: "released", event.JobLost: "lost", event.JobSuperseded: "superseded",
}

// Observe implements event.Observer.
func (m *Metrics) Observe(e event.Event) {
	if outcome := outcomes[e.Kind]; outcome != "" {
		m.ended(e, outcome)
	}
	switch e.Kind {
	case event.JobStarted:
		m.late.WithLabelValues(m.label("kind", e.JobKind), m.label("queue", e.Queue)).Observe(e.Late.Seconds())
	case event.JobsClaimed:
		m.claimed.Add(float64(e.Count))
	case event.JobRescued:
		m.rescued.Inc()
	case event.ClaimLost:
		m.refused.Inc()
	case event.SlotFired:
		m.slot(e, "fired")
	case event.SlotMissed:
		m.slot(e, "missed")
	case event.SlotSkipped:
		m.slot(e, "skipped")
	case event.NodeStarted, event.LeaseRegained:
		m.leased.Set(1)
	case event.NodeStopped:
		m.leased.Set(0)
	case event.LeaseLost:
		m.leased.Set(0)
		m.leasesLost.Inc()
	case event.NodeDied:
		m.deaths.Inc()
	case event.StoreFailed, event.StoreRetried:
		m.storeFailures.WithLabelValues(operation(e.Detail)).Inc()
	case event.Dropped:
		m.lag.Add(float64(e.Count))
	}
}

func (m *Metrics) ended(e event.Event, outcome string) {
	kind, queue := m.label("kind", e.JobKind), m.label("queue", e.Queue)
	m.jobs.WithLabelValues(outcome, kind, queue).Inc()
	if e.Took > 0 {
		m.took.WithLabelValues(kind, queue).Observe(e.Took.Seconds())
	}
	if e.Schedule != "" {
		m.scheduleJobs.WithLabelValues(m.label("schedule", e.Schedule), outcome).Inc()
	}
}

func (m *Metrics) slot(e event.Event, outcome string) {
	m.slots.WithLabelValues(m.label("schedule", e.Schedule), outcome).Add(float64(max(e.Count, 1)))
}

// label returns the value of a label for a name, and counts a name that is left out.
func (m *Metrics) label(label, name string) string {
	of := map[string]*guard{"kind": m.kinds, "queue": m.queues, "schedule": m.schedules}[label]
	value := of.value(name)
	if value != name {
		m.leftOut.WithLabelValues(label).Inc()
	}
	return value
}

// operations are the beginnings of the texts that name operations of the store.
var operations = []string{
	"claim", "record outcomes", "heartbeat", "register", "rescue", "fire schedules", "read cancel requests", "read own claims",
	"save progress", "prune",
}

// operation returns a label value for the text of an operation, which may contain names.
func operation(text string) string {
	i := slices.IndexFunc(operations, func(begin string) bool { return strings.HasPrefix(text, begin) })
	if i < 0 {
		return "other"
	}
	return operations[i]
}
