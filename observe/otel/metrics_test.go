package otel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/metrics"
	"github.com/hourbell/hourbell/observe/otel"
	"github.com/hourbell/hourbell/store/memory"
)

// collected returns the sums, gauges and counts of histograms by name, and their attributes.
func collected(t *testing.T, reader *metric.ManualReader) map[string]map[attribute.Set]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	must(t, reader.Collect(t.Context(), &all))
	out := map[string]map[attribute.Set]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			points := map[attribute.Set]float64{}
			switch data := m.Data.(type) {
			case metricdata.Sum[float64]:
				for _, p := range data.DataPoints {
					points[p.Attributes] = p.Value
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					points[p.Attributes] = p.Value
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					points[p.Attributes] = float64(p.Count)
				}
			default:
				t.Errorf("%s is a %T", m.Name, m.Data)
			}
			out[m.Name] = points
		}
	}
	return out
}

// TestANodeIsMeasured runs a client, and reads its metrics by the names that Prometheus has.
func TestANodeIsMeasured(t *testing.T) {
	reader := metric.NewManualReader()
	measured, err := otel.NewMetrics(otel.MetricsOptions{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader)), Refresh: time.Nanosecond})
	must(t, err)
	workers := hourbell.NewWorkers()
	workers.Handle("mail", func(context.Context, *hourbell.JobRow) error { return nil })
	client, err := hourbell.New(memory.New(), hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler), Observers: []event.Observer{measured}})
	must(t, err)
	measured.Watch(client)
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	_, err = client.Enqueue(t.Context(), hourbell.RawArgs{Name: "mail"})
	must(t, err)
	of := func(pairs ...string) attribute.Set {
		var kvs []attribute.KeyValue
		for pair := range slices.Chunk(pairs, 2) {
			kvs = append(kvs, attribute.String(pair[0], pair[1]))
		}
		return attribute.NewSet(kvs...)
	}
	var got map[string]map[attribute.Set]float64
	met := func() bool {
		got = collected(t, reader)
		left := got["hourbell_node_lease_left_seconds"][of()]
		return got["hourbell_jobs_total"][of("outcome", "completed", "kind", "mail", "queue", "default")] == 1 &&
			got["hourbell_job_duration_seconds"][of("kind", "mail", "queue", "default")] == 1 && left > 0 && left < 15 &&
			got["hourbell_store_call_duration_seconds"][of("operation", "finish")] >= 1 && got["hourbell_nodes"][of()] == 1
	}
	for deadline := time.Now().Add(time.Minute); !met(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the metrics are not as expected: %v", got)
		}
	}
	must(t, errors.Join(client.Stop(context.Background()), <-ended))
	for name := range got {
		if !slices.ContainsFunc(metrics.All(), func(m *metrics.Metric) bool { return m.Name == name }) {
			t.Errorf("%s is not a metric of Hourbell", name)
		}
	}
	must(t, measured.Close())
	if _, has := collected(t, reader)["hourbell_nodes"]; has {
		t.Error("gauges are read after Close")
	}
}

// TestLogsHaveTraces writes log records in a worker and elsewhere.
func TestLogsHaveTraces(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(otel.LogHandler(slog.NewJSONHandler(&out, nil))).With("a", 1)
	c := newCluster(t)
	workers := hourbell.NewWorkers()
	workers.Handle("mail", func(ctx context.Context, _ *hourbell.JobRow) error {
		logger.InfoContext(ctx, "connected")
		return nil
	})
	_, err := c.node(workers).Enqueue(t.Context(), hourbell.RawArgs{Name: "mail"})
	must(t, err)
	run := c.spans("run mail", 1)[0].SpanContext
	var line map[string]any
	must(t, json.Unmarshal(out.Bytes(), &line))
	if line["trace_id"] != run.TraceID().String() || line["span_id"] != run.SpanID().String() || line["a"] != 1.0 {
		t.Errorf("got %s", out.String())
	}
	out.Reset()
	logger.Info("no span")
	if bytes.Contains(out.Bytes(), []byte("trace_id")) {
		t.Errorf("got %s", out.String())
	}
}
