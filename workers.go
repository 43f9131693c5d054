package hourbell

import (
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/engine"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

// MaxRunning limits how many jobs of this kind run at once on a node, over all
// queues: 1 to 10,000. 0, the default, means no bound but the workers of the queues.
// Client.SetMaxRunning changes it while the client runs.
func MaxRunning(n int) WorkerOption { return func(w *worker) { w.maxRunning = n } }

// limitsOfNode are what SetWorkers, SetMaxRunning and SetAgeing have set. The zero value is ready.
type limitsOfNode struct {
	workers    map[string]int           // by queue
	maxRunning map[string]int           // by kind
	ageing     map[string]time.Duration // by queue
}

// apply passes what was set to the engine of a client that starts.
func (l *limitsOfNode) apply(e *engine.Engine) {
	for queue, n := range l.workers {
		e.SetWorkers(queue, n)
	}
	for kind, n := range l.maxRunning {
		e.SetMaxRunning(kind, n)
	}
	for queue, bound := range l.ageing {
		e.SetAgeing(queue, bound)
	}
}

// SetWorkers changes how many jobs of a queue run at once on this node: 0 to 10,000,
// at once if the client runs. The queue must be one of Config.Queues. When there are
// fewer workers, jobs that run go on, and jobs that were claimed and have not begun
// are handed back. With 0 the node claims no jobs of the queue.
func (c *Client) SetWorkers(queue string, n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n < 0 || n > maxWidth {
		return fmt.Errorf("set workers: %w", &check.FieldError{
			Field: "workers of queue " + check.Shorten(queue), Value: fmt.Sprint(n), Problem: "is out of range", Remedy: fmt.Sprintf("use 0 to %d", maxWidth),
		})
	}
	if err := c.cfg.checkServed(queue); err != nil {
		return fmt.Errorf("set workers: %w", err)
	}
	if c.changed.workers == nil {
		c.changed.workers = map[string]int{}
	}
	c.changed.workers[queue] = n
	if c.engine != nil {
		c.engine.SetWorkers(queue, n)
	}
	return nil
}

// SetMaxRunning changes how many jobs of a kind run at once on this node, over all
// queues: 1 to 10,000, or 0 for no bound, at once if the client runs. The kind must be
// one that Config.Workers has. Jobs that run go on.
func (c *Client) SetMaxRunning(kind string, n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := checkMaxRunning(kind, n); err != nil {
		return fmt.Errorf("set max running: %w", err)
	}
	if _, known := c.cfg.Workers.byKind[kind]; !known {
		return fmt.Errorf("set max running: %w", &check.FieldError{
			Field: "kind", Value: check.Shorten(kind), Problem: "has no worker in this program",
			Remedy: "name a registered kind: " + check.Shorten(fmt.Sprint(c.cfg.Workers.Kinds())),
		})
	}
	if c.changed.maxRunning == nil {
		c.changed.maxRunning = map[string]int{}
	}
	c.changed.maxRunning[kind] = n
	if c.engine != nil {
		c.engine.SetMaxRunning(kind, n)
	}
	return nil
}

// SetAgeing changes after which time a due job of a queue starts before jobs that are
// younger, whatever their priority (Config.Ageing): 1 s to MaxDuration, or 0 for none,
// at once if the client runs. The queue must be one of Config.Queues.
func (c *Client) SetAgeing(queue string, bound time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.cfg.checkAgeing(queue, bound); err != nil {
		return fmt.Errorf("set ageing: %w", err)
	}
	if c.changed.ageing == nil {
		c.changed.ageing = map[string]time.Duration{}
	}
	c.changed.ageing[queue] = bound
	if c.engine != nil {
		c.engine.SetAgeing(queue, bound)
	}
	return nil
}

// checkServed checks that the node works on a queue.
func (c *Config) checkServed(queue string) error {
	if _, served := c.Queues[queue]; !served {
		return &check.FieldError{
			Field: "queue", Value: check.Shorten(queue), Problem: "is not served by this node",
			Remedy: "name a queue of Config.Queues, or of --queues",
		}
	}
	return nil
}

// checkAgeing checks an entry of Config.Ageing.
func (c *Config) checkAgeing(queue string, bound time.Duration) error {
	if err := c.checkServed(queue); err != nil || bound == 0 {
		return err
	}
	return between("ageing of queue "+check.Shorten(queue), bound, time.Second, MaxDuration)
}

// checkMaxRunning checks a bound of a kind.
func checkMaxRunning(kind string, n int) error {
	if n < 0 || n > maxWidth {
		return &check.FieldError{
			Field: "max running of kind " + check.Shorten(kind), Value: fmt.Sprint(n), Problem: "is out of range",
			Remedy: fmt.Sprintf("use 1 to %d, or 0 for no bound", maxWidth),
		}
	}
	return nil
}

// maxRunning returns the bounds of the kinds that have bounds.
func (w *Workers) maxRunning() map[string]int {
	most := map[string]int{}
	for kind, entry := range w.byKind {
		if entry.maxRunning > 0 {
			most[kind] = entry.maxRunning
		}
	}
	return most
}

// returnEvery is how often a node at its limit of memory returns memory to the operating system.
const returnEvery = 5 * time.Second

// MaxMemory returns an admission (Config.Admission) that refuses while this process
// holds more than so many bytes of memory. It counts the memory that the Go runtime has from
// the operating system and has not returned, as the limit GOMEMLIMIT does; memory of
// other processes, such as external commands, and of C code does not count. While it
// refuses, it collects garbage and returns memory, every 5 s at most, so that the
// memory of jobs that have ended does not count for long. bytes should be well below
// what the process may use, because jobs that run go on and may need more.
func MaxMemory(bytes uint64) func() bool {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	var returning atomic.Bool
	var returned time.Time
	return func() bool {
		now := slices.Clone(samples) // the function may belong to several clients
		metrics.Read(now)
		if now[0].Value.Uint64()-now[1].Value.Uint64() <= bytes {
			return true
		}
		if returning.CompareAndSwap(false, true) {
			if time.Since(returned) < returnEvery {
				returning.Store(false)
				return false
			}
			go func() {
				debug.FreeOSMemory()
				returned = time.Now()
				returning.Store(false)
			}()
		}
		return false
	}
}

// Allow sets the allow-list of this client's node: the jobs that the program
// itself declares. These are the jobs whose kind and arguments equal, byte for
// byte, the kind and arguments of one of the given schedules or of one of their
// hooks (the rules of the schedules do not matter). Of Restricted kinds the node
// runs no other jobs, and JobRow.Declared reports to workers whether a job is
// on the list. Allow replaces the list set
// before and takes effect at once, also while the client runs. The arguments do
// not pass Config.EnqueueMiddleware: give them as they are stored. If one of these
// jobs is not valid, Allow returns an error and the list does not change.
func (c *Client) Allow(schedules ...Schedule) error {
	var errs []error
	var jobs []work.AllowedJob
	seen := map[string]bool{}
	add := func(before string, job Args, hook bool) {
		if job == nil {
			return
		}
		raw, err := encodeArgs(before, job)
		if err != nil {
			errs = append(errs, err)
			return
		}
		key := fmt.Sprint(hook, raw.Name, "\x00", string(raw.JSON))
		if _, known := c.cfg.Workers.byKind[raw.Name]; known && !seen[key] {
			seen[key] = true
			jobs = append(jobs, work.AllowedJob{ExactJob: store.NewExactJob(raw.Name, raw.JSON), Hook: hook})
		}
	}
	for _, s := range schedules {
		add("", s.Job, false)
		s.Hooks.Each(func(name string, job Args) { add(name+" ", job, true) })
	}
	if err := check.Join(errs...); err != nil {
		return fmt.Errorf("allow: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allowed = jobs
	if c.engine != nil {
		c.engine.SetAllowList(jobs)
	}
	return nil
}
