//go:build unix

package kinds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/internal/steps"
	"github.com/hourbell/hourbell/internal/supervise"
	"github.com/hourbell/hourbell/internal/uptime"
)

// execute runs a prepared command under a supervisor.
func (w CommandWorker) execute(ctx context.Context, ready ready, job *hourbell.JobRow, server *steps.Server) error {
	held := hold{job: job, grace: w.grace()}
	claim, _ := held.renewed()
	process, elsewhere, err := start(ready, ready.spec(job, w.grace()), claim, job.Writer())
	switch {
	case errors.Is(err, supervise.ErrClaimOver):
		return fmt.Errorf("command not started: %w (%w)", hourbell.ErrClaimLost, err)
	case err != nil:
		return unlessStopped(ctx, err)
	}
	now := running{process: process, server: server, Results: ready.results, Steps: ready.steps}
	if elsewhere != nil {
		now.Note = fmt.Sprintf("directory %s: %v; running in /", ready.dir, elsewhere)
	}
	return w.see(ctx, now, &held, job)
}

// running is a command that runs. Its fields with names in JSON are for the next worker of the
// attempt, if the command is handed over.
type running struct {
	process *supervise.Process
	server  *steps.Server   // of Steps
	State   supervise.State `json:"state"`             // of the process that was handed over
	Results string          `json:"results,omitempty"` // see ready
	Steps   string          `json:"steps,omitempty"`   // see ready
	Note    string          `json:"note,omitempty"`    // about the start; the output shows it
}

// goOn takes over a command that another worker of the attempt has left.
func (w CommandWorker) goOn(ctx context.Context, left *handover.Left, job *hourbell.JobRow) (err error) {
	var now running
	if err := json.Unmarshal(left.State, &now); err != nil {
		return fmt.Errorf("take over the command: %w", err)
	}
	defer func() { removeResults(now.Results, err) }()
	held := hold{job: job, grace: w.grace()}
	claim, _ := held.renewed()
	if now.process, err = supervise.TakeOver(now.State, claim, job.Writer()); err != nil {
		return unlessStopped(ctx, err)
	}
	if now.Steps == "" { // of a release without steps
		return w.see(ctx, now, &held, job)
	}
	defer func() { removeSteps(now.Steps, err) }()
	if now.server, err = serveSteps(ctx, now.Steps, job); err != nil {
		tell(job, "%v", err) // the command may need none
		return w.see(ctx, now, &held, job)
	}
	defer now.server.Close()
	err = w.see(ctx, now, &held, job)
	return afterSteps(now.server.Parked(), err)
}

// see attends to a command until it has ended, or until it is handed over.
func (w CommandWorker) see(ctx context.Context, now running, held *hold, job *hourbell.JobRow) error {
	if left := w.attend(ctx, now, held); left != nil {
		return &handover.LeftError{Left: left}
	}
	if now.Note != "" {
		tell(job, "%s", now.Note)
	}
	result, err := now.process.Wait()
	if err != nil {
		return unlessStopped(ctx, err)
	}
	note(job, result)
	return outcome(ctx, result)
}

// runTo runs a program for a job besides its command, with an output of its own.
func (w CommandWorker) runTo(ctx context.Context, ready ready, job *hourbell.JobRow, output io.Writer) error {
	held := hold{job: job, grace: w.grace()}
	claim, _ := held.renewed()
	process, _, err := start(ready, ready.spec(job, w.grace()), claim, output)
	if err != nil {
		return err
	}
	w.attend(ctx, running{process: process}, &held)
	result, err := process.Wait()
	if err != nil {
		return err
	}
	return outcome(ctx, result)
}

// start starts a command. As under cron, a command whose directory cannot be
// entered runs in /, and elsewhere contains the reason.
func start(ready ready, spec supervise.Spec, claim supervise.Claim, output io.Writer) (process *supervise.Process, elsewhere, err error) {
	process, err = supervise.Start(spec, claim, output)
	var refused *supervise.StartError
	if !errors.As(err, &refused) {
		return process, nil, err
	}
	if ready.anywhere && aboutPath(refused.Errno) {
		spec.Dir = "/"
		if process, err = supervise.Start(spec, claim, output); err == nil {
			return process, refused, nil // so the directory was the cause
		}
	}
	return nil, nil, ready.startError(refused.Errno)
}

// aboutPath reports whether an error may have been caused by a directory that
// does not exist or cannot be entered.
func aboutPath(errno syscall.Errno) bool {
	return slices.Contains([]syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.EACCES, syscall.ELOOP}, errno)
}

// unlessStopped returns the error of a command whose supervisor was lost.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return stopped(err, context.Cause(ctx))
	}
	return err
}

// attend waits until the command's run is over, or until it is handed over: then left is not nil.
// Until then it sends renewals of the claim, and the end of the job's context, to the supervisor.
func (w CommandWorker) attend(ctx context.Context, now running, held *hold) (left *handover.Left) {
	ticker := time.NewTicker(held.interval())
	defer ticker.Stop()
	process, ended, asked := now.process, ctx.Done(), handover.Of(ctx).Asked
	for {
		select {
		case <-process.Done():
			return nil
		case <-asked:
			if left := now.handOver(); left != nil {
				return left
			}
			asked = nil // the command goes on here
		case <-ended:
			process.Stop(w.graceFor(context.Cause(ctx)))
			ended = nil
		case <-ticker.C:
			if claim, moved := held.renewed(); moved {
				process.Hold(claim)
			}
		}
	}
}

// handOver leaves the command to the next worker of the attempt; nil: it has ended, or cannot be
// handed over.
func (r running) handOver() *handover.Left {
	if r.server != nil && r.server.Used() { // the next worker would not know which steps this attempt has taken
		return nil
	}
	var err error
	if r.State, err = r.process.HandOver(); err == nil {
		state, _ := json.Marshal(r) // it has no values that JSON lacks
		return &handover.Left{State: state, Descriptors: []int{r.State.Socket}}
	}
	return nil
}

// hold is the last state of the claim that was sent to the supervisor.
type hold struct {
	job   *hourbell.JobRow
	grace time.Duration
	until uptime.Instant
}

// renewed returns until when the claim may be trusted, and whether that instant
// has moved since the last call. A claim without a lease, as in tests of a
// worker, is valid for ever.
func (h *hold) renewed() (claim supervise.Claim, moved bool) {
	now := uptime.Now() // read before asking for the claim, so that a pause in between makes the result too early, not too late
	left, lease := h.job.HeldFor()
	until := now.Add(left)
	first := h.until == 0
	if lease == 0 || !first && (left == 0 || until < h.until.Add(lease/50)) {
		return supervise.Claim{}, false
	}
	h.until = until
	return supervise.ClaimFor(until, lease, h.grace), true
}

// interval returns how often to check whether the claim was renewed.
func (h *hold) interval() time.Duration {
	_, lease := h.job.HeldFor()
	if lease == 0 {
		return time.Second
	}
	return min(max(lease/10, 10*time.Millisecond), time.Second)
}

// spec returns the command in the form that its supervisor takes.
func (r ready) spec(job *hourbell.JobRow, grace time.Duration) supervise.Spec {
	label := fmt.Sprintf("job %d", job.ID)
	if job.Schedule != "" {
		label += " of schedule " + job.Schedule
	}
	return supervise.Spec{
		Label: label, Path: r.path, Argv: r.argv, Env: r.env, Dir: r.dir, User: r.user, Stdin: r.stdin,
		KeepDetached: r.detached == KeepDetached, Grace: grace,
	}
}

// note appends lines to the output about processes of the command that were
// ended or kept.
func note(job *hourbell.JobRow, result supervise.Result) {
	if result.LeftBehind > 0 {
		tell(job, `processes ended that the command had left behind: %d (with "detached":"keep" they live on)`, result.LeftBehind)
	}
	if result.Unreachable > 0 {
		tell(job, "processes still living that this node has not the right to end: %d", result.Unreachable)
	}
	if result.Forced {
		tell(job, "the command's supervisor was stopped and did not end it: the node killed both; run the command as another user, who cannot stop it")
	}
}

// outcome translates the result of a command to the error of the attempt.
func outcome(ctx context.Context, result supervise.Result) error {
	exit := exitError(result)
	switch result.Why {
	case supervise.Itself:
		return exit
	case supervise.ClaimOver:
		return stopped(exit, hourbell.ErrClaimLost)
	case supervise.Stopped:
		return stopped(exit, context.Cause(ctx))
	}
	return stopped(exit, errors.New("its supervisor was ended by a signal"))
}

func exitError(result supervise.Result) error {
	switch {
	case result.Signal != 0:
		return &ExitError{Code: -1, Signal: result.Signal.String()}
	case result.Code != 0:
		return &ExitError{Code: result.Code}
	}
	return nil
}
