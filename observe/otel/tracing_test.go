package otel_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/observe/otel"
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

// cluster is a store with clients whose spans go to one exporter.
type cluster struct {
	*testing.T
	backend  store.Backend
	exporter *tracetest.InMemoryExporter
	provider *trace.TracerProvider
	options  otel.Options
}

func newCluster(t *testing.T) *cluster {
	exporter := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(exporter))
	return &cluster{t, memory.New(), exporter, provider, otel.Options{TracerProvider: provider}}
}

func (c *cluster) client(workers *hourbell.Workers) *hourbell.Client {
	c.Helper()
	tracing := otel.New(c.options)
	client, err := hourbell.New(c.backend, hourbell.Config{
		EnqueueMiddleware: []hourbell.EnqueueMiddleware{tracing.Enqueue}, WorkMiddleware: []hourbell.WorkMiddleware{tracing.Work},
		Observers: []event.Observer{tracing}, Workers: workers, Logger: slog.New(slog.DiscardHandler),
	})
	must(c.T, err)
	return client
}

// node runs a client until the test ends.
func (c *cluster) node(workers *hourbell.Workers) *hourbell.Client {
	c.Helper()
	client := c.client(workers)
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	c.Cleanup(func() { must(c.T, errors.Join(client.Stop(context.Background()), <-ended)) })
	return client
}

// spans waits until the exporter has as many spans with a name, and returns them.
func (c *cluster) spans(name string, count int) tracetest.SpanStubs {
	c.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		all := c.exporter.GetSpans()
		found := slices.DeleteFunc(slices.Clone(all), func(s tracetest.SpanStub) bool { return s.Name != name })
		if len(found) >= count {
			return found
		}
		if time.Now().After(deadline) {
			c.Fatalf("%d spans %q of %d", len(found), name, len(all))
		}
	}
}

func has(s tracetest.SpanStub, want ...attribute.KeyValue) bool {
	return !slices.ContainsFunc(want, func(kv attribute.KeyValue) bool { return !slices.Contains(s.Attributes, kv) })
}

// TestOneTrace follows a job from a request through an enqueue and two attempts to a span of the handler.
func TestOneTrace(t *testing.T) {
	c := newCluster(t)
	tracer := c.provider.Tracer("test")
	workers := hourbell.NewWorkers()
	workers.Handle("mail", func(ctx context.Context, job *hourbell.JobRow) error {
		_, span := tracer.Start(ctx, "connect")
		span.End()
		if job.Attempt == 1 {
			return hourbell.RetryIn(time.Millisecond, errors.New("greylisted"))
		}
		return nil
	})
	ctx, request := tracer.Start(t.Context(), "request")
	client := c.client(nil)
	job, err := client.Enqueue(ctx, hourbell.RawArgs{Name: "mail"})
	must(t, err)
	request.End()
	c.node(workers)

	enqueue := c.spans("enqueue mail", 1)[0]
	if enqueue.Parent.SpanID() != request.SpanContext().SpanID() {
		t.Error("the enqueue is not a child of the request")
	}
	runs := c.spans("run mail", 2)
	for i, run := range runs {
		if run.SpanContext.TraceID() != request.SpanContext().TraceID() || run.Parent.SpanID() != enqueue.SpanContext.SpanID() {
			t.Errorf("attempt %d belongs to another trace", i+1)
		}
		if !has(run, attribute.Int64("hourbell.job.id", job.ID), attribute.Int("hourbell.job.attempt", i+1)) {
			t.Errorf("attempt %d has %v", i+1, run.Attributes)
		}
		if connect := c.spans("connect", 2)[i]; connect.Parent.SpanID() != run.SpanContext.SpanID() {
			t.Errorf("the span of the handler of attempt %d is not its child", i+1)
		}
	}
	if runs[0].Status.Code != codes.Error || len(runs[0].Events) != 1 || runs[1].Status.Code == codes.Error {
		t.Errorf("got %+v and %+v", runs[0].Status, runs[1].Status)
	}
}

// TestNewTraces checks the link of an attempt in a trace of its own, a snooze, and a panic.
func TestNewTraces(t *testing.T) {
	c := newCluster(t)
	c.options.NewTraces = true
	workers := hourbell.NewWorkers()
	workers.Handle("snooze", func(_ context.Context, job *hourbell.JobRow) error {
		return hourbell.Snooze(time.Hour)
	})
	workers.Handle("panic", func(context.Context, *hourbell.JobRow) error { panic("boom") })
	client := c.node(workers)
	for _, kind := range []string{"snooze", "panic"} {
		_, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: kind}, hourbell.MaxAttempts(1))
		must(t, err)
	}
	enqueue, run := c.spans("enqueue snooze", 1)[0], c.spans("run snooze", 1)[0]
	if run.Status.Code == codes.Error || run.SpanContext.TraceID() == enqueue.SpanContext.TraceID() ||
		len(run.Links) != 1 || run.Links[0].SpanContext.SpanID() != enqueue.SpanContext.SpanID() {
		t.Errorf("got %+v", run)
	}
	if run := c.spans("run panic", 1)[0]; run.Status.Code != codes.Error {
		t.Errorf("a panic is %+v", run.Status)
	}
}

// TestSchedulesKeepTheirRevision puts a schedule twice, which must not change, and waits for the span of a slot.
func TestSchedulesKeepTheirRevision(t *testing.T) {
	c := newCluster(t)
	workers := hourbell.NewWorkers()
	workers.Handle("report", func(context.Context, *hourbell.JobRow) error { return nil })
	client := c.node(workers)
	put := func() int64 {
		_, err := client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "hourly", Rule: recur.Every(time.Second), Job: hourbell.RawArgs{Name: "report"}})
		must(t, err)
		info, err := client.Schedules.Get(t.Context(), "hourly")
		must(t, err)
		return info.Revision
	}
	if first, second := put(), put(); first != second {
		t.Errorf("revision %d became %d", first, second)
	}
	slot := c.spans("slot hourly", 1)[0]
	if !has(slot, attribute.String("hourbell.schedule", "hourly"), attribute.String("hourbell.slot.outcome", "fired")) {
		t.Errorf("the slot has %v", slot.Attributes)
	}
	if run := c.spans("run report", 1)[0]; !has(run, attribute.String("hourbell.schedule", "hourly"), attribute.String("hourbell.job.origin", "schedule")) {
		t.Errorf("the run has %v", run.Attributes)
	}
}
