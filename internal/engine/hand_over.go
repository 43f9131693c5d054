package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/work"
)

// State is a node as it is handed over to the next program of its process. Releases add fields only,
// or change handover.Format.
type State struct {
	Format  int             `json:"format"` // handover.Format
	Name    string          `json:"name"`
	Version string          `json:"version"` // the release that hands over
	Node    node.State      `json:"node"`
	Runs    []work.RunState `json:"runs"`
	// Ended are the batches of claims that have ended since the last heartbeat.
	Ended []int64 `json:"ended,omitempty"`
}

// node returns the part of the node; nil if s is nil.
func (s *State) node() *node.State {
	if s == nil {
		return nil
	}
	return &s.Node
}

// detail describes what was taken over, for people; empty if s is nil.
func (s *State) detail() string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("took node %d over from release %s, with %s", s.Node.Number, s.Version, plain.Plural(len(s.Runs), "running job"))
}

// Descriptors returns the open files that the state names.
func (s *State) Descriptors() (all []int) {
	for _, run := range s.Runs {
		all = append(all, run.Left.Descriptors...)
	}
	return all
}

// handOver asks a running engine to hand its node over.
type handOver struct {
	ctx     context.Context
	replace func(State) error
	done    chan error // gets the error of the hand-over; has room for it
}

// errEnded is the error of a hand-over for a node that does not run.
var errEnded = errors.New("the node does not run")

// leaveLimit is how long workers may take to leave their runs, and outcomes to be written.
const leaveLimit = 5 * time.Second

// HandOver calls replace with the node as it is, when nothing of it moves any more: no claim is under
// way, every outcome is written, and the workers have left the runs that go on. replace must replace
// the program of this process. If replace returns, or if the node cannot be handed over, the node goes on
// as before, and HandOver returns why. Jobs of kinds that cannot be handed over get Config.Drain to
// end; until then the node works on, but claims no such jobs.
func (e *Engine) HandOver(ctx context.Context, replace func(State) error) error {
	asked := handOver{ctx: ctx, replace: replace, done: make(chan error, 1)}
	select {
	case e.handOvers <- asked:
		return <-asked.done
	case <-e.ended:
		return errEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// handOver executes HandOver. It returns what moves afterwards.
func (e *Engine) handOver(life context.Context, asked handOver, m *motion) (*motion, error) {
	ctx, cancel := context.WithCancelCause(life)
	defer cancel(nil)
	defer context.AfterFunc(asked.ctx, func() { cancel(context.Cause(asked.ctx)) })()
	if err := e.runner.Narrow(ctx, e.cfg.Drain); err != nil {
		e.runner.Resume()
		return m, err
	}
	state, err := e.rest(ctx, m)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = asked.replace(state)
	}
	m.endLiving()
	m.endWriting()
	m.living.Wait()
	m.writing.Wait()
	e.runner.Resume()
	next := e.move(life)
	if m.busy {
		next.before = m
	}
	return next, err
}

// rest ends everything that moves, and returns the node as it is then.
func (e *Engine) rest(ctx context.Context, m *motion) (State, error) {
	limit := min(leaveLimit, e.cfg.Heartbeat)
	e.runner.BeginLeaving()
	m.endClaiming()
	m.claiming.Wait()
	if err := e.runner.Leave(m.waitWorkers, limit); err != nil {
		m.busy = true
		return State{}, err
	}
	if err := e.runner.Flush(limit); err != nil {
		return State{}, err
	}
	m.endLiving()
	m.living.Wait()
	m.endWriting()
	m.writing.Wait()
	at, err := e.node.State(ctx)
	if err != nil {
		return State{}, err
	}
	runs, ended, err := e.runner.State()
	return State{Format: handover.Format, Name: e.cfg.Name, Version: e.cfg.Version, Node: at, Runs: runs, Ended: ended}, err
}
