//go:build unix

package kinds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/supervise"
	"github.com/hourbell/hourbell/internal/uptime"
)

// execute runs a prepared command under a supervisor.
func (w CommandWorker) execute(ctx context.Context, ready ready, job *hourbell.JobRow, output *supervise.Tail) error {
	held := hold{job: job, grace: w.grace()}
	claim, _ := held.renewed()
	process, elsewhere, err := start(ready, ready.spec(job, w.grace()), claim, output)
	switch {
	case errors.Is(err, supervise.ErrClaimOver):
		return fmt.Errorf("command not started: %w (%w)", hourbell.ErrClaimLost, err)
	case err != nil:
		return unlessStopped(ctx, err)
	}
	w.attend(ctx, process, &held)
	if elsewhere != nil {
		tell(output, "directory %s: %v; running in /", ready.dir, elsewhere)
	}
	result, err := process.Wait()
	if err != nil {
		return unlessStopped(ctx, err)
	}
	note(output, result)
	return outcome(ctx, result)
}

// start starts a command. As under cron, one whose directory cannot be entered
// runs all the same: in /, and elsewhere says why.
func start(ready ready, spec supervise.Spec, claim supervise.Claim, output *supervise.Tail) (process *supervise.Process, elsewhere, err error) {
	process, err = supervise.Start(spec, claim, output)
	var refused *supervise.StartError
	if !errors.As(err, &refused) {
		return process, nil, err
	}
	if ready.anywhere && aboutPath(refused.Errno) {
		spec.Dir = "/"
		if process, err = supervise.Start(spec, claim, output); err == nil {
			return process, refused, nil // so it was the directory
		}
	}
	return nil, nil, ready.startError(refused.Errno)
}

// aboutPath says whether an error may be that of a directory that is not there
// or cannot be entered.
func aboutPath(errno syscall.Errno) bool {
	return slices.Contains([]syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.EACCES, syscall.ELOOP}, errno)
}

// unlessStopped is the error of a command whose supervisor was lost.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return stopped(err, context.Cause(ctx))
	}
	return err
}

// attend stays with the command until its run is over: it passes on what
// becomes of the claim, and that the job's context has ended.
func (w CommandWorker) attend(ctx context.Context, process *supervise.Process, held *hold) {
	ticker := time.NewTicker(held.interval())
	defer ticker.Stop()
	ended := ctx.Done()
	for {
		select {
		case <-process.Done():
			return
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

// hold knows what the supervisor has been told of the claim.
type hold struct {
	job   *hourbell.JobRow
	grace time.Duration
	until time.Duration
}

// renewed returns until when the claim may be trusted, and whether that has
// moved on since it was last asked. A claim without a lease, that of a worker
// under test, stands for ever.
func (h *hold) renewed() (claim supervise.Claim, moved bool) {
	now := uptime.Now() // before the question, so that a pause between them errs on the safe side
	left, lease := h.job.HeldFor()
	until := now + left
	first := h.until == 0
	if lease == 0 || !first && (left == 0 || until < h.until+lease/50) {
		return supervise.Claim{}, false
	}
	h.until = until
	return supervise.ClaimFor(until, lease, h.grace), true
}

// interval is how often to look whether a heartbeat has got through.
func (h *hold) interval() time.Duration {
	_, lease := h.job.HeldFor()
	if lease == 0 {
		return time.Second
	}
	return min(max(lease/10, 10*time.Millisecond), time.Second)
}

// spec is the command as its supervisor takes it.
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

// note adds to the output what else became of the command's processes.
func note(output *supervise.Tail, result supervise.Result) {
	if result.LeftBehind > 0 {
		tell(output, `processes ended that the command had left behind: %d (with "detached":"keep" they live on)`, result.LeftBehind)
	}
	if result.Unreachable > 0 {
		tell(output, "processes still living that this node has not the right to end: %d", result.Unreachable)
	}
	if result.Forced {
		tell(output, "the command's supervisor was stopped and did not end it: the node killed both; run the command as another user, who cannot stop it")
	}
}

// tell adds a line to the output that is not the command's.
func tell(output *supervise.Tail, format string, args ...any) {
	if text := output.Bytes(); len(text) > 0 && text[len(text)-1] != '\n' {
		fmt.Fprintln(output)
	}
	fmt.Fprintf(output, "hourbell: "+format+"\n", args...)
}

// outcome translates how a command ended.
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
	return stopped(exit, errors.New("its supervisor was told to end by a signal"))
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
