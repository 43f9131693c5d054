// Package otel traces and measures the jobs of a Hourbell client with OpenTelemetry.
//
// A Tracing is middleware of a client, and an observer:
//
//	tracing := otel.New(otel.Options{})
//	client, err := hourbell.New(backend, hourbell.Config{
//		EnqueueMiddleware: []hourbell.EnqueueMiddleware{tracing.Enqueue},
//		WorkMiddleware:    []hourbell.WorkMiddleware{tracing.Work},
//		Observers:         []event.Observer{tracing},
//		…
//	})
//
// An enqueue is a span, whose W3C context travels in the headers of the job. Each attempt,
// on whichever node, is a span of the same trace, and the context of the handler has it, so
// that the spans of the handler are its children. Slots are spans of their own.
package otel

import (
	"context"
	"errors"
	"maps"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// Options selects where spans go. The zero value uses the global provider and the W3C
// trace context.
type Options struct {
	TracerProvider trace.TracerProvider          // nil: the global provider
	Propagator     propagation.TextMapPropagator // nil: propagation.TraceContext
	// NewTraces begins a new trace with each attempt, linked to the enqueue, instead of a
	// child of the enqueue: for jobs that run long after they were enqueued.
	NewTraces bool
}

// Tracing makes the spans. Concurrent calls are allowed.
type Tracing struct {
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	newTraces  bool
}

const scope = "github.com/hourbell/hourbell/observe/otel"

// New returns a Tracing.
func New(o Options) *Tracing {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.Propagator == nil {
		o.Propagator = propagation.TraceContext{}
	}
	return &Tracing{o.TracerProvider.Tracer(scope, trace.WithInstrumentationVersion(hourbell.Version)), o.Propagator, o.NewTraces}
}

// The names of attributes.
const (
	attrJob      = attribute.Key("hourbell.job.id")
	attrKind     = attribute.Key("hourbell.job.kind")
	attrQueue    = attribute.Key("hourbell.queue")
	attrAttempt  = attribute.Key("hourbell.job.attempt")
	attrToken    = attribute.Key("hourbell.job.token")
	attrOrigin   = attribute.Key("hourbell.job.origin")
	attrSchedule = attribute.Key("hourbell.schedule")
	attrSlot     = attribute.Key("hourbell.slot")
	attrOutcome  = attribute.Key("hourbell.slot.outcome")
	attrReason   = attribute.Key("hourbell.slot.reason")
	attrCount    = attribute.Key("hourbell.count")
)

// Enqueue is a hourbell.EnqueueMiddleware. It gives the jobs of the call the context of a span.
// It passes over the drafts of schedules, because a header with a new value would change the
// schedule with every put.
func (t *Tracing) Enqueue(ctx context.Context, drafts []*hourbell.Draft, next func(ctx context.Context) error) error {
	var jobs []*hourbell.Draft
	for _, d := range drafts {
		if d.Origin == store.OriginEnqueue {
			jobs = append(jobs, d)
		}
	}
	if len(jobs) == 0 {
		return next(ctx)
	}
	ctx, span := t.tracer.Start(ctx, "enqueue "+jobs[0].Kind, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
		attrKind.String(jobs[0].Kind), attrQueue.String(jobs[0].Queue), attrCount.Int(len(jobs))))
	defer span.End()
	carrier := propagation.MapCarrier{}
	t.propagator.Inject(ctx, carrier)
	for _, d := range jobs {
		if d.Headers == nil && len(carrier) > 0 {
			d.Headers = map[string]string{}
		}
		maps.Copy(d.Headers, carrier)
	}
	err := next(ctx)
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, "not enqueued")
	}
	return err
}

// Work is a hourbell.WorkMiddleware: an attempt is a span.
func (t *Tracing) Work(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) (err error) {
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attributes(job)...)}
	enqueued := t.propagator.Extract(ctx, propagation.MapCarrier(job.Headers))
	if t.newTraces {
		options = append(options, trace.WithNewRoot(), trace.WithLinks(trace.LinkFromContext(enqueued)))
	} else {
		ctx = enqueued
	}
	ctx, span := t.tracer.Start(ctx, "run "+job.Kind, options...)
	failed := true
	defer func() { // also after a panic, which passes on
		if failed {
			span.SetStatus(codes.Error, "the attempt failed")
		}
		span.End()
	}()
	err = next(ctx, job)
	failed = err != nil && !hourbell.IsSnooze(err)
	if failed && !errors.Is(err, context.Canceled) {
		span.RecordError(err)
	}
	return err
}

func attributes(job *hourbell.JobRow) []attribute.KeyValue {
	out := []attribute.KeyValue{
		attrJob.Int64(job.ID), attrKind.String(job.Kind), attrQueue.String(job.Queue),
		attrAttempt.Int(job.Attempt), attrToken.Int64(job.Token), attrOrigin.String(job.Origin),
	}
	if job.Schedule != "" {
		out = append(out, attrSchedule.String(job.Schedule))
	}
	if !job.Slot.IsZero() {
		out = append(out, attrSlot.String(job.Slot.Format("2006-01-02T15:04:05.999999Z07:00")))
	}
	return out
}

var slotOutcomes = map[event.Kind]string{event.SlotFired: "fired", event.SlotMissed: "missed", event.SlotSkipped: "skipped"}

// Observe implements event.Observer: a slot that this node accounted for is a span without
// duration, at the time at which the node did so.
func (t *Tracing) Observe(e event.Event) {
	outcome := slotOutcomes[e.Kind]
	if outcome == "" {
		return
	}
	_, span := t.tracer.Start(context.Background(), "slot "+e.Schedule, trace.WithNewRoot(), trace.WithTimestamp(e.Time), trace.WithAttributes(
		attrSchedule.String(e.Schedule), attrSlot.String(e.Slot.Format("2006-01-02T15:04:05.999999Z07:00")), attrOutcome.String(outcome)))
	if e.Job != 0 {
		span.SetAttributes(attrJob.Int64(e.Job))
	}
	if outcome != "fired" {
		span.SetAttributes(attrReason.String(e.Detail), attrCount.Int64(e.Count))
	}
	if outcome == "missed" {
		span.SetStatus(codes.Error, e.Detail)
	}
	span.End(trace.WithTimestamp(e.Time))
}
