package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// StepSort is what a step of a job is.
type StepSort int16

// The sorts of steps. Their numbers are stored.
const (
	StepResult   StepSort = iota // a result, which is stored once
	StepCursor                   // how far a loop has come, which is stored again and again
	StepSleep                    // a wait until an instant
	StepSignal                   // a wait for a signal, or a signal that came before its job waited
	StepChildren                 // jobs that the job has made, until all of them have ended; the value is a Children
)

// String returns a word for the sort.
func (s StepSort) String() string {
	if s < 0 || int(s) >= len(stepSorts) {
		return "unknown"
	}
	return stepSorts[s]
}

var stepSorts = [...]string{"step", "cursor", "sleep", "signal", "children"}

// Step is what a job remembers from one attempt to the next. A job has at most one step of each name. Steps are deleted with
// their job.
type Step struct {
	Job  int64
	Name string // 1–200 bytes
	Sort StepSort
	// Place is the place of the step among the steps of its job in the order of the program, from 1 on; 0: a signal for which
	// the job has not waited yet.
	Place int32
	// Version is the version of the program that stored the step first (hourbell.StepsVersion); 0: a signal for which the job has not
	// waited yet.
	Version int32
	Value   []byte // JSON, at most check.MaxResult bytes; empty: none
	// Open means that the wait has not ended. The job goes on at Until; the zero time: when the signal comes.
	Open     bool
	Until    time.Time
	TimedOut bool      // the wait for a signal ended at Until
	At       time.Time // when the step was stored last
}

// Over is the rule of Steps.SaveStep: what is stored now if s comes when stored is there (nil: nothing), and whether s has
// changed it. A result and a signal count once; a cursor counts always; a wait begins once, and ends at its end or with its signal.
// Children are made once, and end once; their job may wait for them several times.
func (s Step) Over(stored *Step, now time.Time) (after Step, changed bool) {
	s.At = now
	switch {
	case stored == nil && s.Sort == StepChildren && !s.Open:
		return s, false // the job has forgotten them
	case stored == nil:
		return s, true
	case stored.Sort != s.Sort:
		return *stored, false // the program has changed
	case s.Sort == StepCursor:
		s.Place, s.Version = stored.Place, stored.Version
		return s, true
	case s.Sort == StepChildren:
		return s.overChildren(*stored)
	}
	return s.overOnce(*stored)
}

// overOnce is Over for results, signals and waits, which count once.
func (s Step) overOnce(stored Step) (after Step, changed bool) {
	after = stored
	switch {
	case !s.Open: // a result or a signal
		if after.Open {
			after.Open, after.Value, after.At = false, s.Value, s.At
			return after, true
		}
		return after, false
	case after.Open && !after.Until.IsZero() && !s.At.Before(after.Until):
		after.Open, after.TimedOut, after.At = false, s.Sort == StepSignal, s.At
		return after, true
	case after.Place == 0:
		after.Place, after.Version = s.Place, s.Version
		return after, true
	}
	return after, false
}

// overChildren is Over for children.
func (s Step) overChildren(stored Step) (after Step, changed bool) {
	after = stored
	switch {
	case !stored.Open:
		return after, false
	case s.Open && !s.Until.IsZero(): // their job waits, until then or until they have ended
		after.Until, after.At = s.Until, s.At
		return after, true
	case !s.Open && s.Children().Batch == stored.Children().Batch: // otherwise the job has forgotten them, and has made others
		after.Open, after.Until, after.At = false, time.Time{}, s.At
		return after, true
	}
	return after, false
}

// ChildrenKind is the kind of the last job of a batch of children. Each node with workers runs it, and ends the wait of the parent.
const ChildrenKind = "hourbell.children"

// Children is the value of a step of the sort StepChildren.
type Children struct {
	Batch   int64 `json:"batch"`             // the batch of the children; its last job ends the step
	Outlive bool  `json:"outlive,omitempty"` // the children go on if their job is cancelled
}

// Children returns the children of a step of the sort StepChildren.
func (s *Step) Children() (c Children) {
	_ = json.Unmarshal(s.Value, &c) // a value that is not of the store has no children
	return c
}

// Value returns the value of a step that has these children.
func (c Children) Value() []byte {
	text, _ := json.Marshal(c) // never fails
	return text
}

// SaveStepRequest stores a step of a job.
type SaveStepRequest struct {
	Now time.Time
	Tx  Tx // the caller's transaction; nil: one of the store's own
	// Commit, with a Tx of Transactions, commits it after the step was stored, or rolls it back if the step changed nothing.
	Commit bool
	// Token is of the claim of the worker that stores the step; 0: a signal from outside.
	Token int64
	// Step has everything but At. Its Until is not used.
	Step Step
	For  time.Duration // how long an open step waits; 0: without end
	By   Actor         // of a signal; recorded in the audit
	// Children, of a step of the sort StepChildren, are inserted as a batch of their own if the step was not stored before. The last of
	// them runs when the others have ended. Tx is nil then.
	Children []NewJob
}

// Births returns the insert of the children of a step.
func (r *SaveStepRequest) Births(now time.Time) InsertRequest {
	return InsertRequest{Now: now, Jobs: r.Children, Batch: &BatchInsert{Finally: &Finally{On: OnEnd}}}
}

// Born returns the step with the batch of its children.
func (s Step) Born(batch int64) Step {
	children := s.Children()
	children.Batch = batch
	s.Value = children.Value()
	return s
}

// IsResult reports whether the request stores a result in a transaction of the store's own. Nearly always the job has no step of the
// name then, so that a store may try one statement first, which inserts the step if the job runs with the token and has no such step.
func (r *SaveStepRequest) IsResult() bool {
	return r.Tx == nil && r.Token != 0 && r.Step.Sort == StepResult && !r.Step.Open
}

// SaveStepResult is what SaveStep has stored.
type SaveStepResult struct {
	Step    Step      // as it is stored now
	Changed bool      // by this call
	Now     time.Time // the store's clock
}

// Errors of SaveStep.
var (
	// ErrNotHeld: the job does not run with the token of the request.
	ErrNotHeld = errors.New("the job does not run under this claim any more")
	// ErrJobEnded: a signal is for a job that has ended.
	ErrJobEnded = errors.New("the job has ended")
)

// NoStepError means that a job has not taken the step from which it was to be retried.
type NoStepError struct {
	Job  int64
	Name string
	Has  []string // the names of the steps that the job has taken, in order
}

func (e *NoStepError) Error() string {
	if len(e.Has) == 0 {
		return fmt.Sprintf("job %d has taken no step, and so not %q", e.Job, e.Name)
	}
	return fmt.Sprintf("job %d has not taken the step %q; its steps are %q", e.Job, e.Name, e.Has)
}

// Forgets is the rule of RetryJobs from a step: which of the steps, sorted by job and place, the jobs forget. A job that has not taken
// the step is a NoStepError. Signals for which a job has not waited yet are kept.
func (r *ChangeJobsRequest) Forgets(ids []int64, steps []Step) (forgotten []Step, err error) {
	from := map[int64]int32{}
	taken := map[int64][]string{}
	for _, step := range steps {
		switch {
		case step.Place == 0:
			continue
		case step.Name == r.FromStep:
			from[step.Job] = step.Place
		}
		taken[step.Job] = append(taken[step.Job], step.Name)
		if place := from[step.Job]; place != 0 && step.Place >= place {
			forgotten = append(forgotten, step)
		}
	}
	for _, id := range ids {
		if from[id] == 0 {
			return nil, &NoStepError{Job: id, Name: r.FromStep, Has: taken[id]}
		}
	}
	return forgotten, nil
}

// ForgottenBy returns the steps whose jobs were changed.
func ForgottenBy(changes []JobChange, steps []Step) []Step {
	changed := map[int64]bool{}
	for _, c := range changes {
		changed[c.ID] = changed[c.ID] || c.Change == Changed
	}
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return !changed[s.Job] })
}

// Asked returns the step of a request at an instant of the store's clock.
func (r *SaveStepRequest) Asked(now time.Time) Step {
	s := r.Step
	if s.Until = (time.Time{}); s.Open && r.For > 0 {
		s.Until = now.Add(r.For)
	}
	return s
}

// Admit reports whether a live job with this state and token takes the step; otherwise it returns why not.
func (r *SaveStepRequest) Admit(state State, token int64) error {
	switch {
	case r.Token == 0 && state.Finished():
		return ErrJobEnded
	case r.Token != 0 && (state != StateRunning || token != r.Token):
		return ErrNotHeld
	}
	return nil
}

// Wakes reports whether a job in this state goes on because of the step that a signal has changed.
func (r *SaveStepRequest) Wakes(state State, stored *Step, changed bool) bool {
	return r.Token == 0 && changed && stored != nil && state == StateReady
}

// WaitsOf returns the names of the steps for which outcomes let their jobs wait, by job.
func WaitsOf(outcomes []Outcome) map[int64]string {
	var waits map[int64]string
	for i := range outcomes {
		if o := &outcomes[i]; o.Wait != "" {
			if waits == nil {
				waits = map[int64]string{}
			}
			waits[o.ID] = o.Wait
		}
	}
	return waits
}
