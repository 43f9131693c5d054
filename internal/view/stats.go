package view

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

// StatsListing shows rows of statistics. Jobs of other outcomes than completed, failed and retried are one column.
func StatsListing(s hourbell.Stats, by hourbell.StatsBy) Listing[hourbell.StatsRow] {
	name := "BY"
	switch by {
	case hourbell.StatsByQueue:
		name = "QUEUE"
	case hourbell.StatsByKind:
		name = "KIND"
	case hourbell.StatsBySchedule:
		name = "SCHEDULE"
	case hourbell.StatsByOutcome:
		name = "OUTCOME"
	}
	return Listing[hourbell.StatsRow]{
		Columns: []string{
			"FROM", name, "JOBS", "PER MINUTE", "COMPLETED", "FAILED", "RETRIED", "OTHER", "DELAY P50", "DELAY P95", "DELAY P99", "RUN P50", "RUN P95", "RUN P99",
			"FIRED", "NOT FIRED", "DUE", "OLDEST", "NODES",
		},
		Minor: []string{"NODES", "OLDEST", "DUE", "NOT FIRED", "FIRED", "OTHER", "DELAY P50", "RUN P50", "RETRIED", "DELAY P99", "RUN P99"},
		Row: func(row hourbell.StatsRow) []string {
			r := NewStatsRecord(s, row)
			other := r.Ended - r.Jobs["completed"] - r.Jobs["failed"] - r.Jobs["retried"]
			cells := []string{
				plain.Stamp(r.From), plain.Dash(row.Name), count(r.Ended), fmt.Sprintf("%.1f", r.PerMinute),
				count(r.Jobs["completed"]), count(r.Jobs["failed"]), count(r.Jobs["retried"]), count(other),
			}
			for _, times := range []hourbell.StatsTimes{row.StartDelay, row.RunTime} {
				for _, d := range []time.Duration{times.P50, times.P95, times.P99} {
					text := "-"
					if times.Count > 0 {
						text = plain.Brief(d)
					}
					cells = append(cells, text)
				}
			}
			cells = append(cells, count(r.Slots["fired"]), count(r.Slots["missed"]+r.Slots["skipped"]+r.Slots["not_started"]))
			if !row.Sampled {
				return append(cells, "-", "-", "-")
			}
			nodes := "-"
			if row.Nodes > 0 {
				nodes = fmt.Sprintf("%.1f", row.Nodes)
			}
			return append(cells, fmt.Sprintf("%.1f", row.Depth), plain.Brief(row.Oldest), nodes)
		},
		Record: func(row hourbell.StatsRow) any { return NewStatsRecord(s, row) },
	}
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

// StatsRecord is a row of statistics for machines.
type StatsRecord struct {
	From       time.Time         `json:"from"`
	To         time.Time         `json:"to"`
	Name       *string           `json:"name" doc:"Of the queue, kind, schedule or outcome; null: of all."`
	Ended      int64             `json:"ended" doc:"Attempts at jobs that ended."`
	PerMinute  float64           `json:"per_minute"`
	Jobs       map[string]int64  `json:"jobs" nullable:"false" doc:"Attempts that ended, by what became of the job."`
	Slots      map[string]int64  `json:"slots" nullable:"false" doc:"Slots, by what became of them."`
	StartDelay *StatsTimesRecord `json:"start_delay" doc:"How long after they were due jobs began; null: none began."`
	RunTime    *StatsTimesRecord `json:"run_time" doc:"How long attempts took; null: none ended."`
	Due        *float64          `json:"due" doc:"How many jobs were due, on average; null: it is not known for this group."`
	Oldest     *float64          `json:"oldest_due_seconds" doc:"For how long the oldest due job had been due at most."`
	Nodes      *float64          `json:"nodes" doc:"How many nodes lived, on average; null: the row is not of the whole cluster."`
}

// StatsTimesRecord is how long something took, in seconds. The quantiles come from buckets of powers of two.
type StatsTimesRecord struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean_seconds"`
	P50   float64 `json:"p50_seconds"`
	P95   float64 `json:"p95_seconds"`
	P99   float64 `json:"p99_seconds"`
}

// NewStatsRecord returns the record of a row of statistics.
func NewStatsRecord(s hourbell.Stats, row hourbell.StatsRow) StatsRecord {
	r := StatsRecord{
		From: s.From, To: s.To, Name: orNull(row.Name), Jobs: map[string]int64{}, Slots: map[string]int64{},
		StartDelay: newStatsTimes(row.StartDelay), RunTime: newStatsTimes(row.RunTime),
	}
	if !row.At.IsZero() {
		r.From, r.To = row.At, row.At.Add(s.Span)
		if r.To.After(s.To) {
			r.To = s.To
		}
	}
	for _, word := range hourbell.StatsOutcomes() {
		r.Jobs[word] = row.Jobs[word]
		r.Ended += row.Jobs[word]
	}
	for _, word := range hourbell.StatsSlotOutcomes() {
		r.Slots[word] = row.Slots[word]
	}
	if minutes := r.To.Sub(r.From).Minutes(); minutes > 0 {
		r.PerMinute = float64(r.Ended) / minutes
	}
	if row.Sampled {
		oldest := row.Oldest.Seconds()
		r.Due, r.Oldest, r.Nodes = &row.Depth, &oldest, orNull(row.Nodes)
	}
	return r
}

func newStatsTimes(t hourbell.StatsTimes) *StatsTimesRecord {
	if t.Count == 0 {
		return nil
	}
	return &StatsTimesRecord{t.Count, t.Mean.Seconds(), t.P50.Seconds(), t.P95.Seconds(), t.P99.Seconds()}
}
