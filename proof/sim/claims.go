package sim

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/proof/claims"
	"github.com/hourbell/hourbell/store"
)

// claimsModel follows the rows of all jobs by the model of package claims: each call that changed the claim of a job has
// to be a step of the model, and the store's answer has to be the model's. It sees every call that reached the store, in
// order, also those whose answers were lost.
type claimsModel struct {
	clock func() time.Time // of the store

	mu     sync.Mutex
	jobs   map[int64]*followed   // nil: a user has changed it by hand, and it is followed no more
	nodes  map[int64]*registered // that have not ended
	paused map[subject]bool
	// cancelled are the jobs that a user has cancelled, and not retried since.
	cancelled map[int64]bool
	open      map[int64]bool // jobs that a transaction of a worker has completed, and that is open
	stopped   bool
	taken     []takenRun
	steps     int
	problems  []string
}

// followed is a job in the model.
type followed struct {
	claims.Job
	last int64 // the token that is the model's last one
	of   run   // its queue, kind, key and group
}

// takenRun is a claim that was taken from a node that had died.
type takenRun struct {
	id, token int64
	at        moment
}

// registered is a node in the model.
type registered struct {
	lease time.Duration
	seen  time.Time // its last heartbeat, by the store's clock
	beats int64
}

func newClaimsModel(clock func() time.Time) *claimsModel {
	return &claimsModel{
		clock: clock, jobs: map[int64]*followed{}, nodes: map[int64]*registered{},
		paused: map[subject]bool{}, cancelled: map[int64]bool{}, open: map[int64]bool{},
	}
}

// over returns a backend over another, whose calls the model follows.
func (m *claimsModel) over(b store.Backend) store.Backend {
	return intercept.New(b, func(ctx context.Context, c intercept.Call, next func(context.Context) error) error {
		err := next(ctx)
		if err == nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			if !m.stopped {
				m.follow(c)
			}
		}
		return err
	})
}

// stop ends the comparison, because the store goes back to a backup.
func (m *claimsModel) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopped, m.jobs, m.taken = true, map[int64]*followed{}, nil
}

// follow takes the steps of a call.
func (m *claimsModel) follow(c intercept.Call) {
	switch req := c.Request.(type) {
	case *store.RegisterRequest:
		beats := int64(0)
		if req.Continue != 0 && m.lives(req.Continue, c) { // it counts as a heartbeat
			beats = m.nodes[req.Continue].beats + 1
		}
		m.nodes[c.Result.(*store.RegisterResult).Node] = &registered{req.Lease, m.clock(), beats}
	case *store.HeartbeatRequest:
		if m.lives(req.Node, c) {
			m.nodes[req.Node].seen = m.clock()
			m.nodes[req.Node].beats++
		}
	case *store.ClaimRequest:
		m.claim(req, c.Result.(*store.ClaimResult).Jobs, c)
	case *store.BeginRequest:
		m.begin(req, c.Result.(*store.BeginResult), c)
	case *store.FinishRequest:
		m.finish(req, c.Result.(*store.FinishResult))
	case *store.RescueRequest:
		m.rescue(req.Node, req.Beat, c.Result.(*store.RescueResult), true)
	case *store.LeaveRequest:
		m.rescue(req.Node, 0, c.Result.(*store.RescueResult), false)
	case *store.FireRequest:
		m.superseded(c.Result.(*store.FireResult).Superseded)
	case *store.PutRequest:
		for _, put := range req.Pauses {
			m.paused[subject{subjectNames[put.Subject], put.Name}] = true
		}
	case *store.DeleteRequest:
		if req.Of == store.OfPauses {
			delete(m.paused, subject{subjectNames[req.Subject], req.Names[0]})
		}
	case *store.ChangeJobsRequest:
		for _, change := range c.Result.(*store.ChangeJobsResult).Changes {
			m.jobs[change.ID] = nil
			if done := change.Change == store.Changed || change.Change == store.Requested; done && (req.Action == store.CancelJobs || req.Action == store.RetryJobs) {
				m.cancelled[change.ID] = req.Action == store.CancelJobs
			}
		}
	}
}

// subjectNames are the subjects of pauses as the plan calls them.
var subjectNames = map[store.PauseSubject]string{
	store.SubjectQueue: "queue", store.SubjectKind: "kind", store.SubjectKey: "key", store.SubjectGroup: "group",
}

// isPaused reports whether a pause concerns a job.
func (m *claimsModel) isPaused(j *followed) bool {
	for s := range m.paused {
		if s.has(&j.of) {
			return true
		}
	}
	return false
}

// superseded follows the end of jobs that did not run, in whose place others of their schedules are made.
func (m *claimsModel) superseded(jobs []int64) {
	for _, id := range jobs {
		m.jobs[id] = nil
	}
}

// fail records a difference.
func (m *claimsModel) fail(format string, args ...any) {
	m.problems = append(m.problems, "the model of claims: "+fmt.Sprintf(format, args...))
}

// lives reports whether a node is registered, which the store has just accepted as such.
func (m *claimsModel) lives(node int64, c intercept.Call) bool {
	if m.nodes[node] == nil {
		m.fail("%s by node %d is accepted, which has ended", c.Operation, node)
	}
	return m.nodes[node] != nil
}

// row returns a job that is followed, and how the model calls a token of it.
func (m *claimsModel) row(id, token int64) (j *followed, of claims.Token) {
	if j = m.jobs[id]; j != nil && token == j.last {
		of = j.Token
	}
	return j, of
}

func (m *claimsModel) claim(req *store.ClaimRequest, jobs []store.Claimed, c intercept.Call) {
	if !m.lives(req.Node, c) {
		return
	}
	atOnce := req.Limit - req.Ahead
	if req.Permits.Rated() {
		atOnce = len(jobs)
	}
	for i, got := range jobs {
		if m.cancelled[got.ID] {
			m.fail("node %d claims job %d with token %d, which a user has cancelled", req.Node, got.ID, got.Token)
		}
		j, known := m.jobs[got.ID]
		if known && j == nil {
			continue
		}
		if !known {
			j = &followed{Job: claims.Job{
				Most: int8(got.MaxAttempts), FailOnLoss: got.OnLoss == store.OnLossFail, Attempt: int8(got.Attempt - 1),
			}, of: run{Queue: got.Queue, Kind: got.Kind, Key: got.Key, Group: got.Group}}
			m.jobs[got.ID] = j
		}
		if m.isPaused(j) {
			m.fail("node %d claims job %d with token %d, which is paused", req.Node, got.ID, got.Token)
		}
		row, ok := j.Claim(int16(req.Node), j.Token+1, i >= atOnce)
		if !ok || got.Token <= j.last || row.Attempt != int8(got.Attempt) {
			m.fail("node %d claims job %d with token %d, attempt %d; before: %+v, token %d", req.Node, got.ID, got.Token, got.Attempt, j.Job, j.last)
		}
		j.Job, j.last = row, got.Token
		m.steps++
	}
}

func (m *claimsModel) begin(req *store.BeginRequest, res *store.BeginResult, c intercept.Call) {
	if !m.lives(req.Node, c) {
		return
	}
	for _, ref := range req.Claims {
		if j, token := m.row(ref.ID, ref.Token); j != nil && !slices.Contains(res.Paused, ref.ID) {
			if j.Held(int16(req.Node), token) && m.isPaused(j) {
				m.fail("job %d with token %d may begin, and is paused", ref.ID, ref.Token)
			}
			j.Job, _ = j.Begin(int16(req.Node), token)
			m.steps++
		}
	}
}

// results are the results of outcomes in the model.
var results = map[store.Result]claims.Result{
	store.Completed: claims.Done, store.Failed: claims.Fail, store.Cancelled: claims.Cancel,
	store.Retry: claims.Retry, store.Release: claims.Back, store.Snooze: claims.Back,
}

// ends follows the end of a worker's own transaction, in which it has completed its job.
func (m *claimsModel) ends(id, token int64, committed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if delete(m.open, id); committed {
		m.finish(&store.FinishRequest{Outcomes: []store.Outcome{{ID: id, Token: token}}}, &store.FinishResult{})
	}
}

func (m *claimsModel) finish(req *store.FinishRequest, res *store.FinishResult) {
	if req.Tx != nil && !req.Commit { // see ends
		if id := req.Outcomes[0].ID; len(res.Refused) == 0 {
			m.open[id] = true
		}
		return
	}
	for _, o := range req.Outcomes {
		j, token := m.row(o.ID, o.Token)
		if j == nil {
			continue
		}
		row, accepted := j.Finish(token, results[o.Result])
		refused := slices.Contains(res.Refused, store.ClaimRef{ID: o.ID, Token: o.Token})
		if accepted == refused {
			m.fail("the outcome %d of job %d with token %d is refused: %t; before: %+v, token %d", o.Result, o.ID, o.Token, refused, j.Job, j.last)
		}
		j.Job = row
		m.steps++
	}
}

// rescue takes the jobs of nodes that have died, or of a node that leaves. beat is the heartbeat that a rescue names.
func (m *claimsModel) rescue(by, beat int64, res *store.RescueResult, died bool) {
	now := m.clock()
	for _, ended := range res.Nodes {
		node := m.nodes[ended.ID]
		switch asks := m.nodes[by]; {
		case node == nil:
			m.fail("node %d ends twice", ended.ID)
		case died && asks == nil:
			m.fail("node %d declares node %d dead, and has ended itself", by, ended.ID)
		case died && now.Before(node.seen.Add(node.lease)):
			m.fail("node %d declares node %d dead %v before its lease ends", by, ended.ID, node.seen.Add(node.lease).Sub(now))
		case died && asks.beats != beat:
			m.fail("node %d declares node %d dead, knows its heartbeat %d, and has sent %d", by, ended.ID, beat, asks.beats)
		case died && now.Sub(asks.seen).Abs() > asks.lease/2:
			m.fail("node %d declares node %d dead, and was heard %v ago", by, ended.ID, now.Sub(asks.seen))
		}
		delete(m.nodes, ended.ID)
		m.steps++
	}
	for _, lost := range res.Jobs {
		if died {
			m.taken = append(m.taken, takenRun{lost.ID, lost.Token, moment{now, time.Now()}})
		}
		j, token := m.row(lost.ID, lost.Token)
		if j == nil {
			continue
		}
		row := j.Take(died)
		held := j.Held(int16(lost.Node), token) && j.Begun == lost.Begun
		asked := lost.State == store.StateCancelled // on request, or because another job of its schedule waits
		failed := row.State == claims.Failed
		if !held || !asked && failed != (lost.State == store.StateFailed) {
			m.fail("job %d is taken from node %d with token %d, begun %t, and is in state %d; before: %+v, token %d",
				lost.ID, lost.Node, lost.Token, lost.Begun, lost.State, j.Job, j.last)
		}
		if asked {
			row.State = claims.Cancelled
		}
		j.Job = row
		m.steps++
	}
	for _, ended := range res.Nodes {
		for id, j := range m.jobs {
			if j != nil && j.State == claims.Running && j.Node == int16(ended.ID) && !m.open[id] {
				m.fail("node %d has ended, and job %d is left with it", ended.ID, id)
			}
		}
	}
}

// begins follows the start of a worker: a job that its node still holds has begun in the store.
func (m *claimsModel) begins(id, token int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j, of := m.row(id, token); j != nil && of != 0 && j.State == claims.Running && !j.Begun {
		m.fail("a worker begins job %d with token %d, which has not begun in the store", id, token)
	}
}
