package hourbell

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// ScheduleEdge lets a schedule start after the ends of the jobs of another schedule, its
// predecessor: of its slots, of Trigger, and after its own predecessors. Jobs of backfills
// count only with BackfillRequest.Dependents.
type ScheduleEdge struct {
	// Schedule is the name of the predecessor. A schedule that does not exist yet counts
	// from the moment it is put; see ScheduleInfo.WaitsFor.
	Schedule string
	// On selects the ends: OnSuccess (default), OnFailure or OnEither. Only the end of a
	// job counts; an attempt that is tried again, or that snoozes, is no end.
	On store.On
	// Delay, in whole microseconds, counts from the end of the predecessor's job.
	Delay time.Duration
	// IgnoreCancelled means that a cancelled job has no effect; otherwise a cancellation
	// is a failure.
	IgnoreCancelled bool
}

// String returns the edge as ParseScheduleEdge reads it, without IgnoreCancelled.
func (e ScheduleEdge) String() string {
	switch {
	case e.Delay != 0:
		return fmt.Sprintf("%s:%v:%v", e.Schedule, e.On, e.Delay)
	case e.On != OnSuccess || strings.Contains(e.Schedule, ":"):
		return fmt.Sprintf("%s:%v", e.Schedule, e.On)
	}
	return e.Schedule
}

// ParseScheduleEdge reads an edge as NAME[:OUTCOME[:DELAY]], for example
// "export:failure:5m". OUTCOME is success (default), failure or either.
func ParseScheduleEdge(text string) (ScheduleEdge, error) {
	e := ScheduleEdge{Schedule: text}
	rest, last, parts := cutLast(text)
	on, isOn := store.ParseOn(last)
	switch {
	case parts && isOn:
		e.Schedule, e.On = rest, on
	case parts:
		name, outcome, three := cutLast(rest)
		if on, isOn = store.ParseOn(outcome); !three || !isOn {
			break
		}
		delay, err := time.ParseDuration(last)
		if err != nil {
			return e, &check.FieldError{
				Field: "after", Value: check.Shorten(text),
				Problem: fmt.Sprintf("has the delay %q, which is not a duration", check.Shorten(last)),
				Remedy:  "write a duration such as 5m or 25h",
			}
		}
		e.Schedule, e.On, e.Delay = name, on, delay
	}
	return e, check.Join(e.validate()...)
}

// cutLast splits a text at its last colon.
func cutLast(text string) (before, after string, found bool) {
	i := strings.LastIndex(text, ":")
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// maxPredecessors bounds Schedule.After.
const maxPredecessors = 100

// Follows reports whether the schedule follows other schedules instead of a rule.
func (s Schedule) Follows() bool { return len(s.After) > 0 }

func (e ScheduleEdge) validate() []error {
	errs := []error{check.Name("after", e.Schedule), checkDuration("after", e.Delay)}
	if e.On < OnSuccess || e.On > OnEither {
		errs = append(errs, &check.FieldError{
			Field: "after", Value: fmt.Sprint(int16(e.On)),
			Problem: "is an unknown outcome", Remedy: "use success, failure or either",
		})
	}
	return errs
}

// When returns when the schedule starts, in one line for users: its rule, or the schedules that
// it follows, such as "after export, audit:failure:5m".
func (s Schedule) When() string {
	if !s.Follows() {
		return s.Rule.String()
	}
	edges := make([]string, len(s.After))
	for i, e := range s.After {
		edges[i] = e.String()
		if e.IgnoreCancelled {
			edges[i] += " (not if cancelled)"
		}
	}
	bounds := recur.Spec{Start: s.Rule.Start, Stop: s.Rule.Stop}
	return "after " + strings.Join(edges, ", ") + bounds.String()
}

// checkWhen returns what is wrong with the rule, or with the edges that stand for a rule.
func (s Schedule) checkWhen() []error {
	if !s.Follows() {
		return []error{s.Rule.Validate()}
	}
	bounds := recur.Spec{Cron: "@yearly", Zone: s.Rule.Zone, Start: s.Rule.Start, Stop: s.Rule.Stop} // any valid rule
	errs := []error{bounds.Validate(), s.refuseWithAfter()}
	if len(s.After) > maxPredecessors {
		errs = append(errs, &check.FieldError{
			Field: "after", Value: fmt.Sprint(len(s.After)),
			Problem: "are too many schedules", Remedy: fmt.Sprintf("give at most %d", maxPredecessors),
		})
	}
	seen := map[string]bool{}
	for _, e := range s.After {
		errs = append(errs, e.validate()...)
		if seen[e.Schedule] {
			errs = append(errs, &check.FieldError{
				Field: "after", Value: check.Shorten(e.Schedule), Problem: "is given twice",
				Remedy: "give each schedule once; either is success or failure",
			})
		}
		seen[e.Schedule] = true
	}
	return errs
}

// refuseWithAfter refuses a rule, and what has a meaning only for the slots of a rule.
func (s Schedule) refuseWithAfter() error {
	const problem = "has no meaning for a schedule that starts after other schedules, which has no timetable"
	var errs []error
	for _, one := range []struct {
		field string
		given bool
	}{
		{"cron", s.Rule.Cron != ""},
		{"every", s.Rule.Every != ""},
		{"at", s.Rule.At != ""},
		{"any", len(s.Rule.Any) > 0},
		{"dialect", s.Rule.Dialect != ""},
		{"gap", s.Rule.Gap != ""},
		{"fold", s.Rule.Fold != ""},
		{"misfire", s.Misfire != MisfireSkip},
		{"misfire_cap", s.MisfireCap != 0},
		{"grace", s.Grace != 0},
		{"window", s.Window != 0},
		{"jitter", s.Jitter != 0},
		{"exclude", len(s.Exclude) > 0},
	} {
		if one.given {
			errs = append(errs, &check.FieldError{Field: one.field, Problem: problem, Remedy: "leave it out, or leave after out"})
		}
	}
	return check.Join(errs...)
}

// noTimetable returns the error of a call that needs a timetable.
func (s Schedule) noTimetable(remedy string) error {
	return &check.FieldError{
		Field: "schedule", Value: check.Shorten(s.Name), Problem: fmt.Sprintf("starts %s, and has no timetable", s.When()), Remedy: remedy,
	}
}

// edges returns the edges as the definition has them.
func (s Schedule) edges() (edges []plan.Edge) {
	for _, e := range s.After {
		edges = append(edges, plan.Edge{Schedule: e.Schedule, On: e.On, Delay: e.Delay.Truncate(time.Microsecond), IgnoreCancelled: e.IgnoreCancelled})
	}
	return edges
}

// storedEdges is the inverse of edges.
func storedEdges(edges []plan.Edge) (after []ScheduleEdge) {
	for _, e := range edges {
		after = append(after, ScheduleEdge(e))
	}
	return after
}

// addWaitsFor sets WaitsFor of schedules that were read.
func (s *ScheduleService) addWaitsFor(ctx context.Context, infos []ScheduleInfo) error {
	var names []string
	for _, info := range infos {
		for _, e := range info.After {
			names = append(names, e.Schedule)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	exists := map[string]bool{}
	for part := range slices.Chunk(names, 1000) {
		rows, err := store.List[store.Schedule](ctx, s.client.backend, store.ListRequest{Names: part, Limit: len(part)})
		if err != nil {
			return err
		}
		for _, row := range rows {
			exists[row.Name] = true
		}
	}
	for i := range infos {
		for _, e := range infos[i].After {
			if !exists[e.Schedule] {
				infos[i].WaitsFor = append(infos[i].WaitsFor, e.Schedule)
			}
		}
	}
	return nil
}

// ScheduleGraph is schedules that follow each other, as ScheduleService.Graph returns them.
type ScheduleGraph struct {
	// Schedules, by name. The edges between them are their After, which may also name
	// schedules that do not exist, or that were left out.
	Schedules []ScheduleInfo
	// More reports that the graph has schedules that were left out.
	More bool
}

// Graph returns the schedules that a schedule is connected with: its predecessors and
// dependents, their predecessors and dependents, and so on, the nearest first, at most limit
// schedules (200 if it is 0, and not more than 10,000). ErrNotFound means that no schedule has
// the name. It reads all schedules, in pages, so that pages may be of different instants.
func (s *ScheduleService) Graph(ctx context.Context, name string, limit int) (ScheduleGraph, error) {
	limit = graphLimit(limit)
	if _, err := s.Get(ctx, name); err != nil {
		return ScheduleGraph{}, err
	}
	next, err := s.connections(ctx)
	if err != nil {
		return ScheduleGraph{}, fmt.Errorf("read the graph of schedule %q: %w", name, err)
	}
	var g ScheduleGraph
	names, seen := []string{name}, map[string]bool{name: true}
	for i := 0; i < len(names); i++ {
		for _, other := range next[names[i]] {
			switch {
			case seen[other]:
			case len(names) == limit:
				g.More = true
			default:
				seen[other] = true
				names = append(names, other)
			}
		}
	}
	for part := range slices.Chunk(names, 500) {
		found, err := s.list(ctx, store.ListRequest{Names: part, Limit: len(part)})
		if err != nil {
			return ScheduleGraph{}, fmt.Errorf("read the graph of schedule %q: %w", name, err)
		}
		g.Schedules = append(g.Schedules, found...)
	}
	slices.SortFunc(g.Schedules, func(a, b ScheduleInfo) int { return cmp.Compare(a.Name, b.Name) })
	return g, nil
}

// graphLimit returns the greatest size of a graph for the limit that a caller gave.
func graphLimit(limit int) int {
	return min(max(cmp.Or(limit, 200), 1), 10_000)
}

// connections returns the predecessors and dependents of each schedule that has some.
func (s *ScheduleService) connections(ctx context.Context) (map[string][]string, error) {
	next := map[string][]string{}
	for after := ""; ; {
		page, err := s.List(ctx, ScheduleFilter{After: after, Limit: 1000})
		if err != nil || len(page) == 0 {
			return next, err
		}
		for _, one := range page {
			for _, e := range one.After {
				next[one.Name] = append(next[one.Name], e.Schedule)
				next[e.Schedule] = append(next[e.Schedule], one.Name)
			}
			after = one.Name
		}
	}
}
