package hourbell

import (
	"fmt"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

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
