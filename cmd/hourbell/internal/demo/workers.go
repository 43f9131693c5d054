package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/kinds"
)

// workers are the workers of each node. They wait, write some output, fail where the sample needs it, and run commands: a
// caller who can write to the demo's store could run commands anyway, because the store is a file of the same user.
func workers() *hourbell.Workers {
	w := hourbell.NewWorkers()
	w.Handle("mail", func(ctx context.Context, job *hourbell.JobRow) error { return pass(ctx, time.Second) })
	w.Handle("resize", func(ctx context.Context, job *hourbell.JobRow) error { return pass(ctx, 25*time.Second) })
	w.Handle("step", seconds)
	w.Handle("sync", seconds)
	w.Handle("report", report)
	w.Handle("invoice", invoice)
	w.Handle("charge", charge)
	w.Handle(kinds.CommandKind, kinds.CommandWorker{}.Work)
	w.Handle("webhook", func(ctx context.Context, job *hourbell.JobRow) error {
		if job.Attempt < 4 {
			return errors.New("POST https://shop.example: 503 Service Unavailable")
		}
		return pass(ctx, time.Second)
	}, hourbell.DefaultBackoff("exponential:10s:1m"))
	return w
}

// pass waits for some time, but not after ctx has ended.
func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// seconds waits as long as the arguments say.
func seconds(ctx context.Context, job *hourbell.JobRow) error {
	var args struct{ Seconds int }
	if err := json.Unmarshal(job.RawArgs, &args); err != nil {
		return err
	}
	job.SetOutput(fmt.Appendf(nil, "working for %d s\n", args.Seconds))
	return pass(ctx, time.Duration(args.Seconds)*time.Second)
}

// report reports its progress.
func report(ctx context.Context, job *hourbell.JobRow) error {
	var args struct{ Pages int64 }
	if err := json.Unmarshal(job.RawArgs, &args); err != nil {
		return err
	}
	for page := range args.Pages {
		job.Progress(page, args.Pages, fmt.Sprintf("page %d", page+1))
		job.Log("page %d of %d written", page+1, args.Pages)
		if err := pass(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	return job.SetResult(map[string]int64{"pages": args.Pages})
}

// invoice fails for good for a third of the slots.
func invoice(ctx context.Context, job *hourbell.JobRow) error {
	if err := pass(ctx, 3*time.Second); err != nil {
		return err
	}
	if job.ID%3 == 0 {
		job.SetOutput([]byte("customer 4711: 3 positions\nprinter: paper jam in tray 2\n"))
		return hourbell.Fail(errors.New("the printer does not answer\ncaused by: dial tcp 10.0.0.9:9100: i/o timeout"))
	}
	return nil
}

// charge is refused at its first attempt, and accepted when it is retried by hand.
func charge(ctx context.Context, job *hourbell.JobRow) error {
	if err := pass(ctx, time.Second); err != nil {
		return err
	}
	if job.Attempt == 1 {
		return errors.New("the bank refuses the charge: card expired")
	}
	return job.SetResult("accepted")
}
