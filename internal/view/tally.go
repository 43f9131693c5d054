package view

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// Tally is how many jobs have a value.
type Tally struct {
	Value string // empty: the jobs have none
	Count int64
}

// countedBy are the values by which jobs are counted. now is the time of the store's clock.
var countedBy = map[string]func(j store.JobInfo, now time.Time) string{
	"state":    JobState,
	"kind":     func(j store.JobInfo, _ time.Time) string { return j.Kind },
	"queue":    func(j store.JobInfo, _ time.Time) string { return j.Queue },
	"schedule": func(j store.JobInfo, _ time.Time) string { return j.ScheduleName },
	"group":    func(j store.JobInfo, _ time.Time) string { return j.Group },
	"key":      func(j store.JobInfo, _ time.Time) string { return j.Key },
	"node":     func(j store.JobInfo, _ time.Time) string { return j.Node },
	"priority": func(j store.JobInfo, _ time.Time) string { return fmt.Sprint(j.Priority) },
	"batch": func(j store.JobInfo, _ time.Time) string {
		if j.Batch == 0 {
			return ""
		}
		return fmt.Sprint(j.Batch)
	},
}

// CountedBy returns the names of the values by which jobs are counted.
func CountedBy() []string { return slices.Sorted(maps.Keys(countedBy)) }

// CheckCountedBy checks the name of a value, if one was given. The error is a *check.FieldError.
func CheckCountedBy(name string, given bool) error {
	if _, known := countedBy[name]; known || !given {
		return nil
	}
	if name == "limit" {
		return &check.FieldError{
			Field: "by", Value: name, Problem: "is no value of a job, because several limits may hold for it",
			Remedy: "use `hourbell limits list`, which counts the jobs that run and wait under each limit",
		}
	}
	remedy := "use " + strings.Join(CountedBy(), ", ")
	return &check.FieldError{Field: "by", Value: check.Shorten(name), Problem: "is unknown", Remedy: plain.DidYouMean(plain.Nearest(name, CountedBy()), remedy)}
}

// tallyPage is how many jobs are read at a time.
const tallyPage = 1000

// ReadTally counts the jobs of a filter for each value, the most first. It reads each job. by is one of CountedBy.
func ReadTally(ctx context.Context, client *hourbell.Client, filter hourbell.JobFilter, by string) ([]Tally, error) {
	now, err := client.Now(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for filter.Limit = tallyPage; ; {
		jobs, err := client.Jobs.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, job := range jobs {
			counts[countedBy[by](job, now)]++
		}
		if len(jobs) < tallyPage {
			break
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
	var tally []Tally
	for value, count := range counts {
		tally = append(tally, Tally{value, count})
	}
	slices.SortFunc(tally, func(a, b Tally) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value)) })
	return tally, nil
}

// TallyListing shows how many jobs have each value.
func TallyListing(by string) Listing[Tally] {
	return Listing[Tally]{
		Columns: []string{strings.ToUpper(by), "COUNT"},
		Row:     func(t Tally) []string { return []string{plain.Dash(t.Value), fmt.Sprint(t.Count)} },
		Record:  func(t Tally) any { return map[string]any{by: orNull(t.Value), "count": t.Count} },
	}
}
