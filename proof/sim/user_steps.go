package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// sent is a signal that a user has sent, and what the user was answered.
type sent struct {
	Name, Value string
	Key         string  // it was sent to the jobs with this key
	IDs         []int64 // of the jobs to which it was sent, or which it has reached
	Err         error
	At, To      moment // To is zero: no answer
}

// accepted reports whether the signal has reached a job.
func (s *sent) accepted(id int64) bool {
	return slices.Contains(s.IDs, id) && (s.Key != "" || s.Err == nil && !s.To.Real.IsZero())
}

// refused reports whether the signal was refused.
func (s *sent) refused() bool {
	is := func(err error) bool { return errors.Is(s.Err, err) }
	return is(hourbell.ErrAnswered) || is(hourbell.ErrJobEnded) || is(hourbell.ErrNotFound)
}

// may reports whether the signal may have reached a job with a key: it has, or its answer is unknown.
func (s *sent) may(id int64, key string) bool {
	switch {
	case s.Key == "":
		return slices.Contains(s.IDs, id) && !s.refused()
	case slices.Contains(s.IDs, id):
		return true
	}
	return s.Key == key && !s.refused() && (s.Err != nil || s.To.Real.IsZero())
}

// forgot is a retry from a step.
type forgot struct {
	ID     int64
	Name   string // of the step
	Err    error
	Done   bool // the answer says that the job has forgotten the step
	At, To moment
}

// may reports whether the step may have been forgotten.
func (f *forgot) may() bool {
	var field *check.FieldError
	return f.Done || f.To.Real.IsZero() || f.Err != nil && !errors.As(f.Err, &field)
}

// askOfSteps does what users do to jobs with steps: see workload.steps. known is false for other verbs.
func (c *cluster) askOfSteps(ctx context.Context, e event) (known bool, err error) {
	switch e.Verb {
	case sendSignal:
		err = c.signal(ctx, c.ids[e.Name], e.Of)
	case signalToKey:
		s := &sent{Name: e.Of, Key: e.Name, At: c.moment()}
		c.witness.sends(s)
		s.IDs, err = c.user.Signals.SendToKey(ctx, s.Key, s.Name, s.Value)
		s.Err, s.To = err, c.moment()
	case retryFrom:
		err = c.retryFrom(ctx, c.ids[e.Name], e.Of)
	default:
		return false, nil
	}
	return true, err
}

// signal sends a signal to a job.
func (c *cluster) signal(ctx context.Context, id int64, name string) error {
	if id == 0 {
		return nil
	}
	s := &sent{Name: name, IDs: []int64{id}, At: c.moment()}
	c.witness.sends(s)
	s.Err = c.user.Signals.Send(ctx, id, name, s.Value)
	s.To = c.moment()
	c.trace.add("the signal %q %q to job %d: %v", name, s.Value, id, s.Err)
	return s.Err
}

// sends records a signal, and gives it a value that no other signal has.
func (w *witness) sends(s *sent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Value = fmt.Sprintf("signal %d", len(w.sent))
	w.sent = append(w.sent, s)
}

// retryFrom lets a job take its steps again from a step.
func (c *cluster) retryFrom(ctx context.Context, id int64, name string) error {
	if id == 0 {
		return nil
	}
	c.witness.changed[id] = true
	f := &forgot{ID: id, Name: name, At: c.moment()}
	c.witness.forgot = append(c.witness.forgot, f)
	res, err := c.user.Jobs.Retry(ctx, hourbell.JobFilter{IDs: []int64{id}}, hourbell.FromStep(name))
	f.Err, f.Done, f.To = err, res.Changed > 0, c.moment()
	return err
}

// lastSignals is how long after the begin of the calm the last signals are sent: no call of before is under way then.
func (c *cluster) lastSignals() time.Duration {
	if c.real {
		return 20 * time.Second
	}
	return 2 * time.Minute
}

// endWaits sends a signal to all jobs that wait for one, so that all work can come to its end, and looks before at
// what parked jobs hold.
func (c *cluster) endWaits(ctx context.Context) {
	live := store.JobFilter{States: []store.State{store.StateReady, store.StateRunning, store.StateWaiting}}
	jobs, err := c.store.ListJobs(ctx, store.ListJobsRequest{JobFilter: live, Limit: 1 << 20, Attempts: true})
	limits, also := store.List[store.LimitInfo](ctx, c.store, store.ListRequest{})
	if err = errors.Join(err, also); err != nil {
		c.witness.broke(fmt.Sprintf("look for parked jobs: %v", err))
		return
	}
	c.witness.atRest, c.witness.permits = jobs, limits
	for _, j := range jobs {
		for _, p := range c.programs[labelOf(j.Args)] {
			if p.Sort == store.StepSignal {
				_ = c.signal(ctx, j.ID, p.Name)
			}
		}
	}
}
