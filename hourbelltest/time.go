package hourbelltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/travel"
	"github.com/hourbell/hourbell/store"
)

// Now returns the instant that the kit's clock shows. Hourbell rounds it down to a microsecond.
func (k *Kit) Now() time.Time { return k.clock.Now() }

// Advance moves the clock forward by d, as TravelTo does.
func (k *Kit) Advance(d time.Duration) []Attempt {
	k.t.Helper()
	if d < 0 {
		k.t.Fatalf("hourbelltest: advance by %v: the clock cannot go back; make a kit with StartAt", d)
	}
	return k.TravelTo(k.Now().Add(d))
}

// TravelTo moves the clock forward to an instant, and returns the attempts that ended on the way, in
// their order. The clock stops at each instant at which a slot, a job, a timeout or the end of a Sleep
// is due, and everything that is due happens then, as by RunDue: no slot is late. At first everything
// happens that is due already.
func (k *Kit) TravelTo(to time.Time) []Attempt {
	k.t.Helper()
	to = to.Truncate(time.Microsecond)
	if to.Before(k.Now()) {
		k.t.Fatalf("hourbelltest: travel to %v: the clock shows %v and cannot go back; make a kit with StartAt", to, k.Now())
	}
	k.settle()
	for next := k.clock.Next(); !next.IsZero() && !next.After(to); next = k.clock.Next() {
		k.clock.Set(next)
		k.settle()
	}
	if to.After(k.Now()) {
		k.clock.Set(to)
		k.settle()
	}
	return k.attempts()
}

// RunDue fires all slots and runs all jobs that are due, and what becomes due by that at the same
// instant, such as jobs that these jobs enqueue and dependents that they release. The clock stands
// still. It returns the attempts that ended, in their order.
//
// It returns when every attempt has ended or waits for the clock (see Sleep). Jobs for which no
// running client over Kit.Backend has a worker stay where they are.
func (k *Kit) RunDue() []Attempt {
	k.t.Helper()
	k.settle()
	return k.attempts()
}

// mostDrained is how far Drain moves the clock.
const mostDrained = 366 * 24 * time.Hour

// Drain runs jobs until none is left: it moves the clock to each
// instant at which a job is due, and so lets retries, snoozes, sleeps and jobs with a delay run. Slots and
// timeouts of signals that are due on the way come to pass, but it does not wait for them. It returns the
// attempts that ended, in their order. The test fails if jobs are left, because no client over Kit.Backend
// serves their queue or has a worker of their kind, because they are paused or wait for a signal, or because
// they are due more than a year later; the message has the reason of each. RunDue and Advance let jobs be left.
func (k *Kit) Drain() []Attempt {
	k.t.Helper()
	begun, after := k.Now(), ""
	k.settle()
	for k.jobsLeft() {
		next := k.clock.Next()
		if next.IsZero() {
			break
		}
		if next.Sub(begun) > mostDrained {
			after = fmt.Sprintf(" after the clock has moved from %v to %v, because a job is due later than in a year, or snoozes or makes jobs for ever; use Advance",
				begun, k.Now())
			break
		}
		k.clock.Set(next)
		k.settle()
	}
	k.noneLeft(after)
	return k.attempts()
}

// mostNamed is how many jobs a message names.
const mostNamed = 5

// noneLeft fails the test if jobs have not ended, with the reasons. after is when they are left, for the message.
func (k *Kit) noneLeft(after string) {
	k.t.Helper()
	live := hourbell.JobFilter{States: []store.State{store.StateReady, store.StateRunning, store.StateWaiting}}
	left, err := k.Client.Jobs.Count(k.context(), live)
	k.fail("count the jobs that are left", err)
	if left == 0 {
		return
	}
	live.Limit, live.Details = mostNamed, true
	jobs, err := k.Client.Jobs.List(k.context(), live)
	k.fail("list the jobs that are left", err)
	var text strings.Builder
	for _, job := range jobs {
		why, _ := k.whyNot(job)
		fmt.Fprintf(&text, "\n\tjob %d (%s): %s", job.ID, job.Kind, why)
	}
	if more := int(left) - len(jobs); more > 0 {
		fmt.Fprintf(&text, "\n\tand %d more", more)
	}
	are := "jobs are"
	if left == 1 {
		are = "job is"
	}
	k.t.Errorf("hourbelltest: drain: %d %s left%s:%s", left, are, after, text.String())
}

// jobsLeft reports whether a job runs, is due later or sleeps. A job that waits for a signal is none, because the test sends signals.
func (k *Kit) jobsLeft() bool {
	k.t.Helper()
	count := func(f hourbell.JobFilter) int64 {
		n, err := k.Client.Jobs.Count(k.context(), f)
		k.fail("count the jobs that are left", err)
		return n
	}
	if count(hourbell.JobFilter{States: []store.State{store.StateRunning}, Scheduled: true}) > 0 {
		return true
	}
	list := func(f hourbell.JobFilter) []store.JobInfo {
		if count(f) == 0 {
			return nil
		}
		f.Limit = 1000
		jobs, err := k.Client.Jobs.List(k.context(), f)
		k.fail("list the jobs that are left", err)
		return jobs
	}
	for _, job := range list(hourbell.JobFilter{Retrying: true}) {
		if job.RunAt.After(k.Now()) {
			return true
		}
	}
	sleeps := func(s store.Step) bool { return s.Sort == store.StepSleep }
	return slices.ContainsFunc(k.openSteps(numbers(list(hourbell.JobFilter{Parked: true}))...), sleeps)
}

// Sleep waits in a worker until the kit's clock has moved by d, as a job that takes long: kit.RunDue
// and the other calls of the kit return while it sleeps. It returns the cause of the end of ctx if ctx
// ends before. Outside of a kit, the time of the process passes.
func Sleep(ctx context.Context, d time.Duration) error { return travel.Sleep(ctx, d) }

// settle lets everything happen that is due.
func (k *Kit) settle() {
	k.t.Helper()
	ctx, cancel := context.WithTimeoutCause(k.context(), k.settings.patience, errImpatient)
	defer cancel()
	if err := k.clock.Settle(ctx); err != nil {
		k.t.Fatalf("hourbelltest: what is due at %v was not done within %v: %v", k.Now().Format(time.RFC3339Nano), k.settings.patience, err)
	}
}

// errImpatient is the cause of the end of a wait.
var errImpatient = errors.New("a worker that waits for time uses hourbelltest.Sleep; see also Patience")

// context returns the context of calls, which also work in functions of t.Cleanup.
func (k *Kit) context() context.Context { return context.WithoutCancel(k.t.Context()) }

// settleJob lets one attempt at a job happen.
func (k *Kit) settleJob(job store.JobInfo) {
	k.t.Helper()
	ctx, cancel := context.WithTimeoutCause(k.context(), k.settings.patience, errImpatient)
	defer cancel()
	if err := k.clock.SettleJob(ctx, job.ID, store.NewExactJob(job.Kind, job.Args)); err != nil {
		k.t.Fatalf("hourbelltest: job %d of kind %s has not ended within %v: %v", job.ID, job.Kind, k.settings.patience, err)
	}
}
