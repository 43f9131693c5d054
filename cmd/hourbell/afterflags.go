package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/recur"
)

// afterFlag names schedules that a schedule follows instead of a rule.
type afterFlag struct{ texts []string }

func (a *afterFlag) addTo(c *cobra.Command) {
	c.Flags().StringArrayVar(&a.texts, "after", nil, "start after the jobs of this schedule, instead of by a rule: NAME[:OUTCOME[:DELAY]]; may be repeated")
}

// read returns the edges, and what is wrong.
func (a *afterFlag) read() (edges []hourbell.ScheduleEdge, err error) {
	for _, text := range a.texts {
		edge, edgeErr := hourbell.ParseScheduleEdge(text)
		edges, err = append(edges, edge), errors.Join(err, edgeErr)
	}
	return edges, err
}

// edit replaces the rule or the edges of a schedule by the given rule or edges.
func (a *afterFlag) edit(c *cobra.Command, s *hourbell.Schedule) (err error) {
	changed := c.Flags().Changed
	switch {
	case changed("after"):
		if !changed("cron") && !changed("on-calendar") && !changed("every") && !changed("at") {
			s.Rule = recur.Spec{Zone: s.Rule.Zone, Start: s.Rule.Start, Stop: s.Rule.Stop}
		}
		s.After, err = a.read()
	case changed("cron") || changed("on-calendar") || changed("every") || changed("at"):
		s.After = nil
	}
	return err
}

// warnLateFailures warns about edges of a schedule that count failures long after the first failed attempt. A failure to
// read the other schedules is ignored, because the schedule has been put.
func (p *program) warnLateFailures(ctx context.Context, client *hourbell.Client, info hourbell.ScheduleInfo) {
	for _, edge := range info.After {
		of, err := client.Schedules.Get(ctx, edge.Schedule)
		if err == nil {
			p.warnLateFailure(view.LateFailure(edge.On, fmt.Sprintf("%q", edge.Schedule), 1, of.MaxAttempts, of.Backoff))
		}
	}
}

func (p *program) warnLateFailure(problem, remedy string) {
	if problem != "" {
		printError(p.stderr, fmt.Errorf("warning: %s; %s", problem, remedy))
	}
}

// warnWaits warns about schedules that do not exist.
func (p *program) warnWaits(info hourbell.ScheduleInfo) {
	for _, name := range info.WaitsFor {
		printError(p.stderr, fmt.Errorf("warning: schedule %q is waiting for schedule %s, which does not exist", info.Name, name))
	}
}
