package otel

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/metrics"
)

// MetricsOptions selects where metrics go, and has their limits. The zero value uses the global
// provider.
type MetricsOptions struct {
	MeterProvider metric.MeterProvider // nil: the global provider
	// MaxSchedules, MaxKinds and MaxQueues are how many values these attributes have at most; 0
	// means 1,000 schedules, 200 kinds and 200 queues. Further values become "_other".
	MaxSchedules, MaxKinds, MaxQueues int
	// Refresh is how old the gauges that are read from the store may be at most when they are
	// collected; 0 means 10 seconds.
	Refresh time.Duration
}

// Metrics has the metrics of one client, with the names, attributes and buckets of module
// observe/prometheus. It implements event.CallObserver. Concurrent calls are allowed.
type Metrics struct {
	recorder *metrics.Recorder
	reader   *metrics.Reader
	stop     metric.Registration
}

// NewMetrics returns metrics. An error is of the provider.
func NewMetrics(o MetricsOptions) (*Metrics, error) {
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	meter := o.MeterProvider.Meter(scope, metric.WithInstrumentationVersion(hourbell.Version))
	v := values{map[*metrics.Metric]metric.Float64Counter{}, map[*metrics.Metric]metric.Float64Gauge{}, map[*metrics.Metric]metric.Float64Histogram{}}
	read := map[*metrics.Metric]metric.Float64ObservableGauge{}
	var observables []metric.Observable
	var errs []error
	for _, d := range metrics.All() {
		about, unit := metric.WithDescription(d.Help), metric.WithUnit("1")
		if strings.HasSuffix(d.Name, "_seconds") {
			unit = metric.WithUnit("s")
		}
		var err error
		switch {
		case d.Read:
			read[d], err = meter.Float64ObservableGauge(d.Name, about, unit)
			observables = append(observables, read[d])
		case d.Sort == metrics.Counter:
			v.counters[d], err = meter.Float64Counter(d.Name, about, unit)
		case d.Sort == metrics.Gauge:
			v.gauges[d], err = meter.Float64Gauge(d.Name, about, unit)
		case d.Sort == metrics.Histogram:
			v.histograms[d], err = meter.Float64Histogram(d.Name, about, unit, metric.WithExplicitBucketBoundaries(d.Bounds...))
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m := &Metrics{recorder: metrics.NewRecorder(v, metrics.Limits{Schedules: o.MaxSchedules, Kinds: o.MaxKinds, Queues: o.MaxQueues})}
	m.reader = metrics.NewReader(o.Refresh, m.recorder)
	var err error
	m.stop, err = meter.RegisterCallback(func(ctx context.Context, to metric.Observer) error {
		for _, value := range m.reader.Read(ctx) {
			to.ObserveFloat64(read[value.Metric], value.Value, metric.WithAttributeSet(attributesOf(value.Metric, value.Labels)))
		}
		return nil
	}, observables...)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Watch reads gauges of the client's lease, and of the whole cluster from its store, when they are
// collected.
func (m *Metrics) Watch(client *hourbell.Client) { m.reader.Watch(client) }

// Observe implements event.Observer.
func (m *Metrics) Observe(e event.Event) { m.recorder.Observe(e) }

// ObserveCall implements event.CallObserver.
func (m *Metrics) ObserveCall(c event.Call) { m.recorder.ObserveCall(c) }

// Close ends the reading of gauges. It is called before the client's backend is closed.
func (m *Metrics) Close() error { return m.stop.Unregister() }

// values is the metrics.Sink of OpenTelemetry's instruments.
type values struct {
	counters   map[*metrics.Metric]metric.Float64Counter
	gauges     map[*metrics.Metric]metric.Float64Gauge
	histograms map[*metrics.Metric]metric.Float64Histogram
}

// Add implements metrics.Sink.
func (v values) Add(m *metrics.Metric, by float64, labels ...string) {
	v.counters[m].Add(context.Background(), by, metric.WithAttributeSet(attributesOf(m, labels)))
}

// Set implements metrics.Sink.
func (v values) Set(m *metrics.Metric, value float64, labels ...string) {
	v.gauges[m].Record(context.Background(), value, metric.WithAttributeSet(attributesOf(m, labels)))
}

// Record implements metrics.Sink.
func (v values) Record(m *metrics.Metric, value float64, labels ...string) {
	v.histograms[m].Record(context.Background(), value, metric.WithAttributeSet(attributesOf(m, labels)))
}

func attributesOf(m *metrics.Metric, labels []string) attribute.Set {
	pairs := make([]attribute.KeyValue, len(labels))
	for i, label := range labels {
		pairs[i] = attribute.String(m.Labels[i], label)
	}
	return attribute.NewSet(pairs...)
}
