package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func addAfter(c *cobra.Command, after *[]string) {
	c.Flags().StringArrayVar(after, "after", nil,
		"ID[:success|failure|either[:DELAY]]: run it after the end of that job (success), and no sooner than DELAY after the "+
			"end; repeatable: after all of these jobs")
}

// warnLateJobs warns about edges of new jobs that count failures long after the first failed attempt. A failure to read the
// jobs is ignored, because they were enqueued.
func (p *program) warnLateJobs(ctx context.Context, client *hourbell.Client, ids ...int64) {
	waiting, err := client.Jobs.List(ctx, hourbell.JobFilter{IDs: ids, Limit: len(ids), Details: true})
	if err != nil {
		return
	}
	seen := map[int64]bool{}
	for _, job := range waiting {
		for _, edge := range job.After {
			if seen[edge.Job] || edge.On == store.OnSuccess || edge.State != store.EdgeOpen || len(seen) == mostLate {
				continue
			}
			seen[edge.Job] = true
			if of, err := client.Jobs.Get(ctx, edge.Job); err == nil {
				p.warnLateFailure(view.LateJobFailure(edge.On, of))
			}
		}
	}
}

// mostLate is how many predecessors of new jobs are looked at for warnings.
const mostLate = 20

// parseAfter reads the values of --after.
func parseAfter(values []string) (options []hourbell.Option, err error) {
	for _, value := range values {
		refused := func(problem string) error {
			return &check.FieldError{
				Field: "after", Value: check.Shorten(value), Problem: problem,
				Remedy: "write ID, ID:OUTCOME or ID:OUTCOME:DELAY, such as 17:failure:5m; outcomes are success, failure and either",
			}
		}
		parts := strings.SplitN(value, ":", 3)
		id, err := strconv.ParseInt(parts[0], 10, 64)
		if err != nil || id < 1 {
			return nil, refused("does not begin with the number of a job")
		}
		on, delay := store.OnSuccess, time.Duration(0)
		if len(parts) > 1 {
			var known bool
			if on, known = store.ParseOn(parts[1]); !known {
				return nil, refused("has an unknown outcome")
			}
		}
		if len(parts) > 2 {
			if delay, err = time.ParseDuration(parts[2]); err != nil || delay < 0 {
				return nil, refused("has a delay that is no duration from 0")
			}
		}
		options = append(options, hourbell.After(id, on, delay))
	}
	return options, nil
}
