//go:build see

package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/observe/otel"
	"github.com/hourbell/hourbell/store/memory"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// span is a span that the Collector received.
type span struct {
	name, process, trace, id, parent string
	attempt                          int // 0: not an attempt
}

// witness is what the Collector received.
type witness struct {
	mu      sync.Mutex
	spans   []span
	metrics map[string]float64 // by process, name and attributes
}

// text returns an attribute as text; empty if it is missing.
func text(attributes pcommon.Map, key string) string {
	if value, ok := attributes.Get(key); ok {
		return value.AsString()
	}
	return ""
}

// processKey is the attribute of a resource that names the process.
const processKey = "service.instance.id"

func (w *witness) takeTraces(_ context.Context, all ptrace.Traces) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range all.ResourceSpans().All() {
		process := text(r.Resource().Attributes(), processKey)
		for _, scope := range r.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				attempt, _ := strconv.Atoi(text(s.Attributes(), "hourbell.job.attempt"))
				w.spans = append(w.spans, span{s.Name(), process, s.TraceID().String(), s.SpanID().String(), s.ParentSpanID().String(), attempt})
			}
		}
	}
	return nil
}

func (w *witness) takeMetrics(_ context.Context, all pmetric.Metrics) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range all.ResourceMetrics().All() {
		process := text(r.Resource().Attributes(), processKey)
		for _, scope := range r.ScopeMetrics().All() {
			for _, m := range scope.Metrics().All() {
				if m.Type() == pmetric.MetricTypeSum {
					for _, p := range m.Sum().DataPoints().All() {
						w.metrics[fmt.Sprint(process, " ", m.Name(), " ", text(p.Attributes(), "outcome"))] = p.DoubleValue()
					}
				}
				if m.Type() == pmetric.MetricTypeHistogram {
					for _, p := range m.Histogram().DataPoints().All() {
						w.metrics[fmt.Sprint(process, " ", m.Name(), " ", text(p.Attributes(), "operation"))] = float64(p.Count())
					}
				}
			}
		}
	}
	return nil
}

// named returns the spans with a name, in the order of their attempts.
func (w *witness) named(name string) (found []span) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.spans {
		if s.name == name {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b span) int { return a.attempt - b.attempt })
	return found
}

// sink is an exporter of the Collector that gives what it gets to a witness.
type sink struct {
	component.StartFunc
	component.ShutdownFunc
	*witness
}

// Capabilities implements consumer.Traces and consumer.Metrics.
func (sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// ConsumeTraces implements consumer.Traces.
func (s sink) ConsumeTraces(ctx context.Context, all ptrace.Traces) error {
	return s.takeTraces(ctx, all)
}

// ConsumeMetrics implements consumer.Metrics.
func (s sink) ConsumeMetrics(ctx context.Context, all pmetric.Metrics) error {
	return s.takeMetrics(ctx, all)
}

// collect runs a Collector until the test ends, and returns the address at which it receives OTLP.
func collect(t *testing.T, w *witness) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := l.Addr().String()
	must(t, l.Close())
	config := fmt.Sprintf(`yaml:
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {witness: {}}
service:
  telemetry: {metrics: {level: none}, logs: {level: error}}
  pipelines:
    traces: {receivers: [otlp], exporters: [witness]}
    metrics: {receivers: [otlp], exporters: [witness]}
`, address)
	kind := component.MustNewType("witness")
	factories := func() (f otelcol.Factories, err error) {
		f.Telemetry = otelconftelemetry.NewFactory()
		f.Receivers, err = otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
		if err != nil {
			return f, err
		}
		f.Exporters, err = otelcol.MakeFactoryMap[exporter.Factory](exporter.NewFactory(kind, func() component.Config { return &struct{}{} },
			exporter.WithTraces(func(context.Context, exporter.Settings, component.Config) (exporter.Traces, error) {
				return sink{witness: w}, nil
			}, component.StabilityLevelStable),
			exporter.WithMetrics(func(context.Context, exporter.Settings, component.Config) (exporter.Metrics, error) {
				return sink{witness: w}, nil
			}, component.StabilityLevelStable)))
		return f, err
	}
	c, err := otelcol.NewCollector(otelcol.CollectorSettings{
		Factories: factories, BuildInfo: component.NewDefaultBuildInfo(), DisableGracefulShutdown: true,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs: []string{config}, ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
		}},
	})
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(context.Background()) }()
	t.Cleanup(func() {
		c.Shutdown()
		must(t, <-ended)
	})
	for deadline := time.Now().Add(time.Minute); c.GetState() != otelcol.StateRunning; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the Collector does not start")
		}
	}
	return address
}

// process is a program with spans and metrics of its own.
type process struct {
	traces  *trace.TracerProvider
	metrics *metric.MeterProvider
	client  *hourbell.Client
}

func newProcess(t *testing.T, name, address string, backend *memory.Store, workers func(*trace.TracerProvider) *hourbell.Workers) process {
	t.Helper()
	about := resource.NewSchemaless(attribute.String(processKey, name))
	spans, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpoint(address), otlptracehttp.WithInsecure())
	must(t, err)
	values, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpoint(address), otlpmetrichttp.WithInsecure())
	must(t, err)
	p := process{
		traces:  trace.NewTracerProvider(trace.WithBatcher(spans), trace.WithResource(about)),
		metrics: metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(values)), metric.WithResource(about)),
	}
	tracing := otel.New(otel.Options{TracerProvider: p.traces})
	measured, err := otel.NewMetrics(otel.MetricsOptions{MeterProvider: p.metrics})
	must(t, err)
	p.client, err = hourbell.New(backend, hourbell.Config{
		Name: name, Workers: workers(p.traces), Logger: slog.New(slog.DiscardHandler), Observers: []event.Observer{tracing, measured},
		EnqueueMiddleware: []hourbell.EnqueueMiddleware{tracing.Enqueue}, WorkMiddleware: []hourbell.WorkMiddleware{tracing.Work},
	})
	must(t, err)
	measured.Watch(p.client)
	return p
}

// run runs the process as a node until an attempt has ended, and then sends its spans, metrics and log records.
func (p process) run(t *testing.T, attempted <-chan struct{}) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.client.Run(context.Background()) }()
	select {
	case <-attempted:
	case <-time.After(time.Minute):
		t.Fatal("no attempt")
	}
	must(t, errors.Join(p.client.Stop(context.Background()), <-ended))
	p.flush(t)
}

func (p process) flush(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	must(t, errors.Join(p.traces.Shutdown(ctx), p.metrics.Shutdown(ctx)))
}

// TestOneTraceOfTwoNodes enqueues a job in one process; its attempts are on two nodes. A real Collector
// receives one trace, with the spans of the workers, and the metrics of both nodes.
func TestOneTraceOfTwoNodes(t *testing.T) {
	w := &witness{metrics: map[string]float64{}}
	address, backend := collect(t, w), memory.New()
	attempted := make(chan struct{}, 1)
	workers := func(traces *trace.TracerProvider) *hourbell.Workers {
		workers := hourbell.NewWorkers()
		workers.Handle("mail", func(ctx context.Context, job *hourbell.JobRow) error {
			defer func() { attempted <- struct{}{} }()
			_, span := traces.Tracer("worker").Start(ctx, "connect")
			defer span.End()
			if job.Attempt == 1 {
				return hourbell.RetryIn(time.Second, errors.New("greylisted"))
			}
			return nil
		})
		return workers
	}
	program := newProcess(t, "program", address, backend, func(*trace.TracerProvider) *hourbell.Workers { return nil })
	_, err := program.client.Enqueue(t.Context(), hourbell.RawArgs{Name: "mail"})
	must(t, err)
	program.flush(t)
	newProcess(t, "first", address, backend, workers).run(t, attempted)
	newProcess(t, "second", address, backend, workers).run(t, attempted)

	enqueue, runs, connects := w.named("enqueue mail"), w.named("run mail"), w.named("connect")
	if len(enqueue) != 1 || len(runs) != 2 || len(connects) != 2 {
		t.Fatalf("%d enqueues, %d attempts and %d spans of workers", len(enqueue), len(runs), len(connects))
	}
	for i, node := range []string{"first", "second"} {
		run := runs[i]
		if run.process != node || run.attempt != i+1 || run.trace != enqueue[0].trace || run.parent != enqueue[0].id {
			t.Errorf("attempt %d is %+v, and the enqueue %+v", i+1, run, enqueue[0])
		}
		if !slices.ContainsFunc(connects, func(s span) bool {
			return s.process == node && s.trace == run.trace && s.parent == run.id
		}) {
			t.Errorf("no span of the worker is a child of attempt %d: %+v", i+1, connects)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range []string{"first hourbell_jobs_total retried", "second hourbell_jobs_total completed"} {
		if w.metrics[key] != 1 {
			t.Errorf("%s is %v in %v", key, w.metrics[key], w.metrics)
		}
	}
	for _, node := range []string{"first", "second"} {
		if w.metrics[node+" hourbell_store_call_duration_seconds finish"] == 0 {
			t.Errorf("no calls of the store by %s: %v", node, w.metrics)
		}
	}
}
