package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// Failures are failed jobs of one schedule, or of one kind without a schedule, whose errors have the same first line.
type Failures struct {
	Schedule, Kind, Error string
	Count                 int
	Hours                 [24]int // how many failed in each of the last 24 hours, the last hour at the end
	Newest                store.JobInfo
}

// Searched returns the part of the error by which the jobs are found: conditions of jobs take no longer text.
func (f Failures) Searched() string { return strings.ToValidUTF8(f.Error[:min(len(f.Error), 200)], "") }

// FailureGroups groups failed jobs, which are in the order of the newest first; the largest group is first. Their hours end now.
func FailureGroups(jobs []store.JobInfo, now time.Time) (groups []Failures) {
	for _, j := range jobs {
		line, _, _ := strings.Cut(j.Reason, "\n")
		i := slices.IndexFunc(groups, func(f Failures) bool { return f.Schedule == j.ScheduleName && f.Kind == j.Kind && f.Error == line })
		if i < 0 {
			i, groups = len(groups), append(groups, Failures{Schedule: j.ScheduleName, Kind: j.Kind, Error: line, Newest: j})
		}
		groups[i].Count++
		if hour := len(groups[i].Hours) - 1 - int(now.Sub(j.FinishedAt)/time.Hour); hour >= 0 && hour < len(groups[i].Hours) {
			groups[i].Hours[hour]++
		}
	}
	slices.SortStableFunc(groups, func(a, b Failures) int { return cmp.Compare(b.Count, a.Count) })
	return groups
}

// levels are signs for parts of a whole, the smallest first.
var levels = []rune("▁▂▃▄▅▆▇█")

// Trend returns the counts of the hours as a line of signs, whose heights are parts of the greatest count; hours without failures are dots.
func (f Failures) Trend() string {
	most := slices.Max(f.Hours[:])
	var line strings.Builder
	for _, n := range f.Hours {
		sign := '·'
		if n > 0 {
			sign = levels[(n*len(levels)-1)/most]
		}
		line.WriteRune(sign)
	}
	return line.String()
}

// TrendWords returns what Trend draws, in words for readers who do not see it.
func (f Failures) TrendWords() string {
	last := f.Hours[len(f.Hours)-1]
	return fmt.Sprintf("failures of each of the last 24 hours, the present hour at the end: %s; %d in the last hour",
		strings.Trim(fmt.Sprint(f.Hours), "[]"), last)
}

// FailuresListing shows groups of failed jobs.
func FailuresListing() Listing[Failures] {
	return Listing[Failures]{
		Columns: []string{"COUNT", "LAST 24 HOURS", "SCHEDULE", "KIND", "NEWEST", "FINISHED AT", "ERROR"},
		Row: func(f Failures) []string {
			return []string{
				fmt.Sprint(f.Count), f.Trend(), plain.Dash(f.Schedule), f.Kind, fmt.Sprint(f.Newest.ID), plain.Stamp(f.Newest.FinishedAt),
				plain.Dash(plain.OneLine(f.Error)),
			}
		},
	}
}
