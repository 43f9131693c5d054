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
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/metrics"
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
const LeftOut = metrics.LeftOut

// Metrics has the metrics of one client. It implements event.CallObserver and
// prometheus.Collector. Concurrent calls are allowed.
type Metrics struct {
	recorder *metrics.Recorder
	reader   *metrics.Reader
	values   values
	read     map[*metrics.Metric]*prometheus.Desc
}

// New returns metrics without values.
func New(o Options) *Metrics {
	m := &Metrics{
		values: values{map[*metrics.Metric]*prometheus.CounterVec{}, map[*metrics.Metric]*prometheus.GaugeVec{}, map[*metrics.Metric]*prometheus.HistogramVec{}},
		read:   map[*metrics.Metric]*prometheus.Desc{},
	}
	for _, d := range metrics.All() {
		switch {
		case d.Read:
			m.read[d] = prometheus.NewDesc(d.Name, d.Help, d.Labels, nil)
		case d.Sort == metrics.Counter:
			m.values.counters[d] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
		case d.Sort == metrics.Gauge:
			m.values.gauges[d] = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.Name, Help: d.Help}, d.Labels)
		case d.Sort == metrics.Histogram:
			m.values.histograms[d] = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: d.Bounds}, d.Labels)
		}
	}
	m.recorder = metrics.NewRecorder(m.values, metrics.Limits{Schedules: o.MaxSchedules, Kinds: o.MaxKinds, Queues: o.MaxQueues})
	m.reader = metrics.NewReader(o.Refresh, m.recorder)
	return m
}

// Watch reads gauges of the client's lease, and of the whole cluster from its store, when they are
// scraped. Scrapes before the call of Watch do not have these gauges.
func (m *Metrics) Watch(client *hourbell.Client) { m.reader.Watch(client) }

// Observe implements event.Observer.
func (m *Metrics) Observe(e event.Event) { m.recorder.Observe(e) }

// ObserveCall implements event.CallObserver.
func (m *Metrics) ObserveCall(c event.Call) { m.recorder.ObserveCall(c) }

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descriptions chan<- *prometheus.Desc) {
	m.values.each(func(c prometheus.Collector) { c.Describe(descriptions) })
	for _, d := range m.read {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(collected chan<- prometheus.Metric) {
	m.values.each(func(c prometheus.Collector) { c.Collect(collected) })
	for _, v := range m.reader.Read(context.Background()) {
		collected <- prometheus.MustNewConstMetric(m.read[v.Metric], prometheus.GaugeValue, v.Value, v.Labels...)
	}
}

// values is the metrics.Sink of Prometheus' own types.
type values struct {
	counters   map[*metrics.Metric]*prometheus.CounterVec
	gauges     map[*metrics.Metric]*prometheus.GaugeVec
	histograms map[*metrics.Metric]*prometheus.HistogramVec
}

// Add implements metrics.Sink.
func (v values) Add(m *metrics.Metric, by float64, labels ...string) {
	v.counters[m].WithLabelValues(labels...).Add(by)
}

// Set implements metrics.Sink.
func (v values) Set(m *metrics.Metric, value float64, labels ...string) {
	v.gauges[m].WithLabelValues(labels...).Set(value)
}

// Record implements metrics.Sink.
func (v values) Record(m *metrics.Metric, value float64, labels ...string) {
	v.histograms[m].WithLabelValues(labels...).Observe(value)
}

func (v values) each(do func(prometheus.Collector)) {
	for _, c := range v.counters {
		do(c)
	}
	for _, c := range v.gauges {
		do(c)
	}
	for _, c := range v.histograms {
		do(c)
	}
}
