package hourbell

import (
	"fmt"

	"github.com/hourbell/hourbell/internal/engine"
	"github.com/hourbell/hourbell/store"
)

// Allow sets the allow-list of this client's node: the jobs of Restricted kinds
// that it runs. These are the jobs whose kind and arguments equal, byte for
// byte, the kind and arguments of one of the given schedules or of one of their
// hooks (the rules of the schedules do not matter). Allow replaces the list set
// before and takes effect at once, also while the client runs.
func (c *Client) Allow(schedules ...Schedule) {
	var jobs []engine.AllowedJob
	seen := map[string]bool{}
	add := func(kind string, args []byte, hook bool) {
		key := fmt.Sprint(hook, kind, "\x00", string(args))
		if !seen[key] && c.cfg.Workers.byKind[kind].restricted {
			seen[key] = true
			jobs = append(jobs, engine.AllowedJob{ExactJob: store.NewExactJob(kind, args), Hook: hook})
		}
	}
	for _, s := range schedules {
		add(s.Kind, s.withDefaults().Args, false)
		s.Hooks.Each(func(_ string, hook *Hook) { add(hook.Kind, orNullArgs(hook.Args), true) })
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allowed = jobs
	if c.engine != nil {
		c.engine.SetAllowList(jobs)
	}
}

func orNullArgs(args []byte) []byte {
	if len(args) == 0 {
		return []byte("null")
	}
	return args
}
