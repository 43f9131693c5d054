// Command traced has OpenTelemetry around every enqueue and every attempt, and middleware of its own: one trace shows a request,
// its job, each attempt and what the worker did.
//
//	go run ./traced
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/observe/otel"
)

// Charge is a job that fails at its first attempt.
type Charge struct {
	Order int `json:"order"`
}

// Kind names the type of job.
func (Charge) Kind() string { return "charge" }

func main() {
	if err := run(context.Background(), "traced.db", os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run enqueues a job within a span, and works until the job has completed. The spans are printed.
func run(ctx context.Context, file string, out io.Writer) error {
	provider := sdk.NewTracerProvider(sdk.WithSyncer(printer{out})) // in production: an exporter with OTLP, and a batcher
	tracer := provider.Tracer("traced")
	tracing := otel.New(otel.Options{TracerProvider: provider})

	backend, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer backend.Close()
	done := make(chan struct{})
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(ctx context.Context, job *hourbell.Job[Charge]) error {
		_, span := tracer.Start(ctx, "call the bank") // a child of the span of the attempt
		defer span.End()
		if job.Attempt == 1 {
			return hourbell.RetryIn(100*time.Millisecond, errors.New("the bank is busy"))
		}
		close(done)
		return nil
	})
	client, err := hourbell.New(backend, hourbell.Config{
		Workers:           workers,
		EnqueueMiddleware: []hourbell.EnqueueMiddleware{tracing.Enqueue, tenant},
		WorkMiddleware:    []hourbell.WorkMiddleware{tracing.Work, timed(out)}, // the first is the outermost
		Observers:         []event.Observer{tracing},
	})
	if err != nil {
		return err
	}
	if err := client.Migrate(ctx); err != nil {
		return err
	}

	request, span := tracer.Start(ctx, "POST /orders")
	_, err = client.Enqueue(request, Charge{Order: 7})
	span.End()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		<-done
		stop()
	}()
	return client.Run(ctx)
}

// tenant is enqueue middleware: it writes a header into each job that this program describes.
func tenant(ctx context.Context, drafts []*hourbell.Draft, next func(ctx context.Context) error) error {
	for _, draft := range drafts {
		if draft.Headers == nil {
			draft.Headers = map[string]string{}
		}
		draft.Headers["tenant"] = "acme"
	}
	return next(ctx)
}

// timed is work middleware: it prints what came of each attempt.
func timed(out io.Writer) hourbell.WorkMiddleware {
	return func(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) error {
		err := next(ctx, job)
		fmt.Fprintf(out, "%s of tenant %s, attempt %d: %v\n", job.Kind, job.Headers["tenant"], job.Attempt, err)
		return err
	}
}

// printer prints spans as they end.
type printer struct{ out io.Writer }

// ExportSpans prints a line for each span.
func (p printer) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	for _, span := range spans {
		parent := "-"
		if span.Parent().IsValid() {
			parent = short(span.Parent())
		}
		fmt.Fprintf(p.out, "span %-14s trace %s, span %s, parent %s\n", span.Name(), span.SpanContext().TraceID().String()[:8], short(span.SpanContext()), parent)
	}
	return nil
}

// Shutdown has nothing to end.
func (p printer) Shutdown(context.Context) error { return nil }

func short(span trace.SpanContext) string { return span.SpanID().String()[:4] }
