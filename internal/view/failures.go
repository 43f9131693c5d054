package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// Failures are failed jobs of one schedule, or of one kind without a schedule, whose errors have the same first line.
type Failures struct {
	Schedule, Kind, Error string
	Count                 int
	Newest                store.JobInfo
}

// Searched returns the part of the error by which the jobs are found: conditions of jobs take no longer text.
func (f Failures) Searched() string { return strings.ToValidUTF8(f.Error[:min(len(f.Error), 200)], "") }

// FailureGroups groups failed jobs, which are in the order of the newest first; the largest group is first.
func FailureGroups(jobs []store.JobInfo) (groups []Failures) {
	for _, j := range jobs {
		line, _, _ := strings.Cut(j.Reason, "\n")
		i := slices.IndexFunc(groups, func(f Failures) bool { return f.Schedule == j.ScheduleName && f.Kind == j.Kind && f.Error == line })
		if i < 0 {
			i, groups = len(groups), append(groups, Failures{Schedule: j.ScheduleName, Kind: j.Kind, Error: line, Newest: j})
		}
		groups[i].Count++
	}
	slices.SortStableFunc(groups, func(a, b Failures) int { return cmp.Compare(b.Count, a.Count) })
	return groups
}

// FailuresListing shows groups of failed jobs.
func FailuresListing() Listing[Failures] {
	return Listing[Failures]{
		Columns: []string{"COUNT", "SCHEDULE", "KIND", "NEWEST", "FINISHED AT", "ERROR"},
		Row: func(f Failures) []string {
			return []string{
				fmt.Sprint(f.Count), plain.Dash(f.Schedule), f.Kind, fmt.Sprint(f.Newest.ID), plain.Stamp(f.Newest.FinishedAt), plain.Dash(plain.OneLine(f.Error)),
			}
		},
	}
}
