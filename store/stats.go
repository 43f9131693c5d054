package store

import "time"

// StatsRow is what one writer has counted from At on, for a Span. Only the programs that write rows know what Data means; a store does
// not read it.
type StatsRow struct {
	Span   time.Duration // one of StatsSpans
	At     time.Time     // a multiple of the span since 1970, by the store's clock
	Writer int64         // each writer replaces its own rows only
	Data   []byte        // not empty, at most MaxStatsData bytes
}

// MaxStatsData is the greatest length of StatsRow.Data.
const MaxStatsData = 1 << 20

// StatsSpan is how long a span is, and how long its rows are kept.
type StatsSpan struct{ Span, Keep time.Duration }

// StatsSpans returns the spans of statistics, the shortest first: about a hundred rows of each span cover the last hour, day and 30 days,
// with some time to spare.
func StatsSpans() []StatsSpan {
	const day = 24 * time.Hour
	return []StatsSpan{{time.Minute, 2 * time.Hour}, {15 * time.Minute, 2 * day}, {6 * time.Hour, 32 * day}}
}

// AddStatsRequest stores statistics.
type AddStatsRequest struct {
	Now  time.Time
	Node int64      // who asks; 0: a node that is the oldest
	Rows []StatsRow // no two of them with the same span, instant and writer
}
