package hourbell

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Limits of a Graph.
const (
	MaxGraphJobs  = 100_000
	MaxGraphEdges = 500_000
)

// NameHeader is the header of store.JobInfo.Headers with the name of the job in its Graph.
const NameHeader = store.NameHeader

// Graph is jobs that follow each other, for Client.EnqueueGraph. A job names its
// predecessors by their names in the graph.
type Graph struct {
	// Jobs by name; names are as for check.Name. At most MaxGraphJobs; with Finally there may be
	// none.
	Jobs map[string]GraphJob
	// Finally is the job that runs when all others have ended; nil: none.
	Finally *Finally
}

// GraphJob is a job of a Graph.
type GraphJob struct {
	Args Args
	// Options are applied after the options of the call, as the options of a Request are. After
	// names older jobs outside the graph; with AfterAny one of all predecessors is enough.
	Options []Option
	// After are the predecessors by name.
	After map[string]GraphEdge
}

// GraphEdge is what a job of a Graph waits for. The zero value means success, without a
// delay.
type GraphEdge struct {
	On    store.On
	Delay time.Duration
}

// EnqueuedGraph is the answer for a graph.
type EnqueuedGraph struct {
	Batch   int64
	IDs     map[string]int64 // the numbers of the jobs by name
	Finally int64            // the number of the last job, or 0
}

// EnqueueGraph stores the jobs of a graph as a batch, all or none, with a few statements.
// The options are for all jobs. With InBatch it adds the jobs to a batch. A graph whose jobs have no predecessors outside it may be enqueued
// InTx. The jobs may have unique keys with ErrorOnConflict, except InTx: if one of the keys is taken, nothing
// is stored, and the error is ErrDuplicate.
//
// An unknown name, a job that follows itself, and a cycle are refused before anything is
// stored; the error of a cycle has its path. The error has all mistakes, each as a
// *check.FieldError.
func (c *Client) EnqueueGraph(ctx context.Context, graph Graph, options ...Option) (EnqueuedGraph, error) {
	shared, names, jobs, err := graph.jobs(options)
	if err != nil {
		return EnqueuedGraph{}, fmt.Errorf("enqueue a graph: %w", err)
	}
	inserted, err := c.enqueueBatch(ctx, shared, jobs, graph.Finally)
	if err != nil {
		return EnqueuedGraph{}, fmt.Errorf("enqueue a graph: %w", err)
	}
	out := EnqueuedGraph{Batch: inserted.Batch, IDs: make(map[string]int64, len(names))}
	for i, name := range names {
		out.IDs[name] = inserted.Jobs[i].ID
	}
	if graph.Finally != nil {
		out.Finally = inserted.Jobs[len(names)].ID
	}
	return out, nil
}

// Validate returns the error that EnqueueGraph would return for a graph that is not valid,
// or nil. It needs no store.
func (g Graph) Validate() error {
	if _, _, _, err := g.jobs(nil); err != nil {
		return fmt.Errorf("enqueue a graph: %w", err)
	}
	return nil
}

// jobs validates and encodes a graph. It returns the names and the jobs so that each job
// comes after its predecessors.
func (g Graph) jobs(options []Option) (shared enqueuing, names []string, jobs []store.NewJob, err error) {
	shared, err = newShared(options)
	if err != nil {
		return shared, nil, nil, err
	}
	names, err = g.order()
	if err != nil && len(names) == 0 { // the graph has no jobs, or too many
		return shared, nil, nil, err
	}
	errs := []error{err}
	if g.Finally != nil {
		_, _, err := g.Finally.newJob(shared)
		errs = append(errs, err)
		if _, taken := g.Jobs[FinallyName]; taken {
			errs = append(errs, &check.FieldError{
				Field: "jobs", Value: FinallyName,
				Problem: "is the name of the last job of the graph", Remedy: "give the job another name",
			})
		}
	}
	places := make(map[string]int, len(names))
	for i, name := range names {
		job, err := g.Jobs[name].newJob(name, shared, places)
		if err != nil {
			errs = append(errs, fmt.Errorf("job %q: %w", check.Shorten(name), err))
		}
		places[name] = i + 1
		jobs = append(jobs, job)
	}
	return shared, names, jobs, check.Join(errs...)
}

// newJob validates and encodes a job. places has its predecessors.
func (j GraphJob) newJob(name string, shared enqueuing, places map[string]int) (store.NewJob, error) {
	one, err := shared.with(j.Args, j.Options)
	err = check.Join(err, check.Name("name", name))
	if err == nil && one.NewJob.Unique != "" && one.NewJob.OnConflict != ErrorOnConflict {
		err = &check.FieldError{
			Field: "unique", Value: check.Shorten(one.NewJob.Unique),
			Problem: "is given for a job of a graph without on_conflict error", Remedy: "use both, or leave it out",
		}
	}
	if err != nil {
		return store.NewJob{}, err
	}
	after := slices.Clip(one.NewJob.After)
	for _, p := range slices.Sorted(maps.Keys(j.After)) {
		e := j.After[p]
		err = check.Join(err, checkEdge(e.On, e.Delay))
		after = append(after, store.Edge{Place: places[p], On: e.On, Delay: e.Delay.Truncate(time.Microsecond)})
	}
	one.NewJob.After = after
	one.NewJob.Headers = plan.WithName(one.NewJob.Headers, name)
	return one.NewJob, err
}

// order returns the names so that each name comes after the names of its predecessors, and
// otherwise sorted. After an error it returns all names, sorted.
func (g Graph) order() ([]string, error) {
	if err := g.checkSize(); err != nil {
		return nil, err
	}
	all := slices.Sorted(maps.Keys(g.Jobs))
	var errs []error
	open := make(map[string]int, len(all))            // predecessors that have no place yet
	dependents := make(map[string][]string, len(all)) // sorted
	for _, name := range all {
		for _, p := range slices.Sorted(maps.Keys(g.Jobs[name].After)) {
			if _, known := g.Jobs[p]; !known {
				errs = append(errs, fmt.Errorf("job %q: %w", check.Shorten(name),
					&check.FieldError{
						Field: "after", Value: check.Shorten(p), Problem: "is not a job of the graph",
						Remedy: "use the name of another job of the graph",
					}))
				continue
			}
			open[name]++
			dependents[p] = append(dependents[p], name)
		}
	}
	order := inOrder(all, open, dependents)
	if len(order) < len(all) {
		errs = append(errs, g.cycle(all, open))
	}
	if err := check.Join(errs...); err != nil {
		return all, err
	}
	return order, nil
}

// checkSize returns why a graph has too few or too many jobs or edges, or nil.
func (g Graph) checkSize() error {
	edges := 0
	for _, job := range g.Jobs {
		edges += len(job.After)
	}
	switch {
	case len(g.Jobs) == 0 && g.Finally == nil:
		return &check.FieldError{Field: "jobs", Problem: "are missing", Remedy: "give the graph a job, or a last job"}
	case len(g.Jobs) > MaxGraphJobs:
		return &check.FieldError{Field: "jobs", Problem: fmt.Sprintf("are %d", len(g.Jobs)), Remedy: fmt.Sprintf("use at most %d in one graph", MaxGraphJobs)}
	case edges > MaxGraphEdges:
		return &check.FieldError{
			Field: "after", Problem: fmt.Sprintf("is given %d times", edges),
			Remedy: fmt.Sprintf("use at most %d edges in one graph", MaxGraphEdges),
		}
	}
	return nil
}

// inOrder returns the names that follow no cycle, each after its predecessors. It counts down open, the number of predecessors of each name.
func inOrder(all []string, open map[string]int, dependents map[string][]string) (order []string) {
	for _, name := range all {
		if open[name] == 0 {
			order = append(order, name)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, name := range dependents[order[i]] {
			if open[name]--; open[name] == 0 {
				order = append(order, name)
			}
		}
	}
	return order
}

// cycle returns the error for a cycle. Each job with an open predecessor is in a cycle, or
// follows a job that is.
func (g Graph) cycle(all []string, open map[string]int) error {
	at := all[slices.IndexFunc(all, func(name string) bool { return open[name] > 0 })]
	var path []string // each name follows the next
	for !slices.Contains(path, at) {
		path = append(path, at)
		predecessors := slices.Sorted(maps.Keys(g.Jobs[at].After))
		at = predecessors[slices.IndexFunc(predecessors, func(name string) bool { return open[name] > 0 })]
	}
	path = append(path[slices.Index(path, at):], at)
	slices.Reverse(path)
	least := slices.Min(path)
	i := slices.Index(path, least)
	path = slices.Concat(path[i:len(path)-1], path[:i], []string{least})
	const most = 20 // names that are shown
	if len(path) > most {
		path = slices.Concat(path[:most/2], []string{"…"}, path[len(path)-most/2:])
	}
	for i := range path {
		path[i] = check.Shorten(path[i])
	}
	return &check.FieldError{Field: "after", Problem: "has a cycle: " + strings.Join(path, " → "), Remedy: "remove one of these edges"}
}

// The ends of a job that After waits for.
const (
	// OnSuccess: the other job completed.
	OnSuccess = store.OnSuccess
	// OnFailure: the other job failed, was cancelled, or was deleted before its end.
	OnFailure = store.OnFailure
	// OnEither: the other job completed, or as OnFailure.
	OnEither = store.OnEither
)

// After makes the job start after the end of another job, its predecessor, and no sooner
// than delay after that end. It may be given several times: the job waits for all of
// these jobs, or with AfterAny for one. If that has become impossible, the job ends as
// store.StateNotStarted, and its JobInfo.Reason names the cause.
//
// A predecessor that has ended counts at once. If nothing is known of it any more, the
// job is refused with ErrNotFound.
//
// With InTx the predecessor may be a job of the same transaction, or an older job, which is not
// locked: the job waits until a node has linked it after the commit, within milliseconds. If an older predecessor
// ends before that and leaves no record, because its kind keeps nothing or because it was deleted, the job is
// not started. A transaction at the isolation level repeatable read, the default of MySQL and MariaDB, sees no job that was
// stored after its first statement, and gets ErrNotFound for it.
//
// With Unique or UniqueArgs, if another job has the key, that job keeps the predecessors that it has, and
// Enqueued.Existed reports it. OnConflict then is KeepOnConflict or ErrorOnConflict.
func After(id int64, on store.On, delay time.Duration) Option {
	return func(e *enqueuing) {
		e.given |= optAfter
		if id < 1 {
			e.errs = append(e.errs, &check.FieldError{Field: "after", Value: fmt.Sprint(id), Problem: "is not the number of a job", Remedy: "use a number from 1"})
		}
		e.errs = append(e.errs, checkEdge(on, delay))
		e.NewJob.After = append(e.NewJob.After, store.Edge{Job: id, On: on, Delay: delay.Truncate(time.Microsecond)})
	}
}

// checkEdge returns what is wrong with an edge.
func checkEdge(on store.On, delay time.Duration) error {
	if on < OnSuccess || on > OnEither {
		return &check.FieldError{Field: "after", Value: fmt.Sprint(int16(on)), Problem: "is an unknown outcome", Remedy: "use OnSuccess, OnFailure or OnEither"}
	}
	return checkDuration("after", delay)
}

// AfterAny makes the job start when one of its predecessors has ended as After requires,
// instead of all.
func AfterAny() Option {
	return func(e *enqueuing) {
		e.given |= optAfterAny
		e.NewJob.Any = true
	}
}

// JobGraph is jobs that follow each other, as JobService.Graph returns them.
type JobGraph struct {
	// Jobs, by number, have their arguments and headers; a job that was deleted or pruned has
	// only its ID.
	Jobs  []store.JobInfo
	Links []store.Link // between these jobs, by dependent and predecessor
	// More reports that the graph has jobs that were left out.
	More bool
}

// linksPerJob bounds how many edges of a job Graph reads in one step.
const linksPerJob = 10

// Graph returns the jobs that a job is connected with: its predecessors and dependents,
// their predecessors and dependents, and so on, the nearest first, at most limit jobs (200
// if it is 0, and not more than 10,000). ErrNotFound means that nothing is known of the job.
// It reads in steps, so that states of different steps are of different instants.
func (s *JobService) Graph(ctx context.Context, id int64, limit int) (JobGraph, error) {
	limit = graphLimit(limit)
	var g JobGraph
	jobs, links := map[int64]bool{id: true}, map[[2]int64]store.Link{}
	for step := []int64{id}; len(step) > 0; {
		found, err := store.List[store.Link](ctx, s.client.backend, store.ListRequest{IDs: step, Limit: linksPerJob * limit})
		if err != nil {
			return g, fmt.Errorf("read the graph of job %d: %w", id, err)
		}
		g.More = g.More || len(found) >= linksPerJob*limit
		step = nil
		for _, link := range found {
			links[[2]int64{link.Dependent, link.Job}] = link
			for _, one := range []int64{link.Job, link.Dependent} {
				switch {
				case jobs[one]:
				case len(jobs) == limit:
					g.More = true
				default:
					jobs[one] = true
					step = append(step, one)
				}
			}
		}
	}
	g.Links = linksAmong(jobs, links)
	return g, s.fill(ctx, &g, id, slices.Sorted(maps.Keys(jobs)))
}

// linksAmong returns the links whose ends are both among some jobs, in order.
func linksAmong(jobs map[int64]bool, links map[[2]int64]store.Link) (among []store.Link) {
	for _, link := range links {
		if jobs[link.Job] && jobs[link.Dependent] {
			among = append(among, link)
		}
	}
	slices.SortFunc(among, func(a, b store.Link) int {
		return slices.Compare([]int64{a.Dependent, a.Job}, []int64{b.Dependent, b.Job})
	})
	return among
}

// fill reads the jobs of a graph.
func (s *JobService) fill(ctx context.Context, g *JobGraph, root int64, ids []int64) error {
	known, err := s.byID(ctx, ids)
	if err != nil {
		return fmt.Errorf("read the graph of job %d: %w", root, err)
	}
	if _, found := known[root]; !found && len(g.Links) == 0 {
		_, err := s.Get(ctx, root)
		return err
	}
	for _, id := range ids {
		job, found := known[id]
		if !found {
			job.ID = id
		}
		g.Jobs = append(g.Jobs, job)
	}
	return nil
}

// byID reads jobs with their details, some hundred at a time.
func (s *JobService) byID(ctx context.Context, ids []int64) (map[int64]store.JobInfo, error) {
	known := make(map[int64]store.JobInfo, len(ids))
	for part := range slices.Chunk(ids, 500) {
		jobs, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: part}, Limit: len(part), Attempts: true})
		if err != nil {
			return nil, err
		}
		for _, job := range jobs {
			known[job.ID] = job
		}
	}
	return known, nil
}

// Predecessor is what a job follows, with the result that the predecessor has left.
type Predecessor struct {
	ID   int64
	Name string // in its graph; of a job that set off a schedule with After, the schedule's name; else empty
	// Kind, State and Reason are zero, and Result is nil, if nothing is known of the job any
	// more because it was deleted, or was pruned after the end of the job that follows it.
	Kind   string
	State  store.State
	Reason string
	Result []byte // JSON (JobRow.SetResult), or nil
}

// Decode decodes the result into value, as json.Unmarshal does. A job without a result is an
// error.
func (p Predecessor) Decode(value any) error {
	if len(p.Result) == 0 {
		return fmt.Errorf("job %d has no result", p.ID)
	}
	if err := json.Unmarshal(p.Result, value); err != nil {
		return fmt.Errorf("decode the result of job %d: %w", p.ID, err)
	}
	return nil
}

// Predecessors returns the jobs that a job follows (After, a Graph, Finally, or After of its schedule), by number, with
// their results, or ErrNotFound. All of them are read, some hundred at a time.
func (s *JobService) Predecessors(ctx context.Context, id int64) ([]Predecessor, error) {
	return predecessorsOf(ctx, s.client.backend.ListJobs, id)
}

// Follows reports whether the job was enqueued with predecessors, or made by a schedule's After. It reads nothing. It is
// false for a worker in a test.
func (j *JobRow) Follows() bool {
	return j.run != nil && (plan.Follows(j.run.Headers) || j.run.Origin == store.OriginAfter)
}

// Predecessors returns the jobs that this job follows, by number, with their results. A job
// that follows none costs nothing. Concurrent calls are allowed.
func (j *JobRow) Predecessors(ctx context.Context) ([]Predecessor, error) {
	if !j.Follows() {
		return nil, nil
	}
	return predecessorsOf(ctx, j.run.ListJobs, j.ID)
}

// endOf returns how a job has ended, and its result.
func endOf(job store.JobInfo, name string) Predecessor {
	return Predecessor{job.ID, name, job.Kind, job.State, job.Reason, job.Result}
}

// predecessorsOf reads the predecessors of a job by list.
func predecessorsOf(ctx context.Context, list func(context.Context, store.ListJobsRequest) ([]store.JobInfo, error), id int64) ([]Predecessor, error) {
	read := func(ids []int64) ([]store.JobInfo, error) {
		jobs, err := list(ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}, Limit: len(ids), Attempts: true})
		if err != nil {
			return nil, fmt.Errorf("read the predecessors of job %d: %w", id, err)
		}
		return jobs, nil
	}
	jobs, err := read([]int64{id})
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("read the predecessors of job %d: %w", id, ErrNotFound)
	}
	follows := jobs[0]
	out := make([]Predecessor, len(follows.After))
	place := make(map[int64]*Predecessor, len(out))
	ids := make([]int64, len(out))
	for i, e := range follows.After {
		out[i].ID, ids[i] = e.Job, e.Job
		place[e.Job] = &out[i]
	}
	for part := range slices.Chunk(ids, 500) {
		jobs, err := read(part)
		if err != nil {
			return nil, err
		}
		for _, job := range jobs {
			name := plan.Headers(job.Headers)[NameHeader]
			if name == "" && follows.Origin == store.OriginAfter {
				name = job.ScheduleName
			}
			*place[job.ID] = endOf(job, name)
		}
	}
	return out, nil
}
