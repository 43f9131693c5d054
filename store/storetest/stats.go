package storetest

import (
	"bytes"
	"time"

	"github.com/hourbell/hourbell/store"
)

var statsTests = []scenario{
	{"Add", statsAdd},
	{"Oldest", statsOldest},
	{"Prune", statsPrune},
}

// statsRow is a row for the present instant.
func (e *env) statsRow(span time.Duration, writer int64, data string) store.StatsRow {
	return store.StatsRow{Span: span, At: e.now.Truncate(span).UTC(), Writer: writer, Data: []byte(data)}
}

func (e *env) addStats(node int64, rows ...store.StatsRow) (oldest bool) {
	e.t.Helper()
	oldest, err := e.a.AddStats(e.ctx, store.AddStatsRequest{Now: e.now, Node: node, Rows: rows})
	e.must(err)
	return oldest
}

// stats returns the rows of a span between two instants.
func (e *env) stats(span time.Duration, from, to time.Time) []store.StatsRow {
	e.t.Helper()
	rows, err := store.List[store.StatsRow](e.ctx, e.b, store.ListRequest{Span: span, From: from, To: to})
	e.must(err)
	return rows
}

func statsAdd(e *env) {
	long := e.statsRow(15*time.Minute, 7, "\x00\xff'\\")
	one, two := e.statsRow(time.Minute, 7, "one"), e.statsRow(time.Minute, 8, string(bytes.Repeat([]byte{0, 1}, 50_000)))
	e.addStats(1, two, one, long)
	e.tick(time.Minute)
	next := e.statsRow(time.Minute, 7, "next")
	e.addStats(1, next)
	all := func(span time.Duration) []store.StatsRow {
		return e.stats(span, e.now.Add(-time.Hour), e.now.Add(time.Hour))
	}
	e.want(all(time.Minute), []store.StatsRow{one, two, next}, "the rows of a span by instant, then by writer")
	e.want(all(15*time.Minute), []store.StatsRow{long}, "spans are apart, and data is kept byte for byte")
	e.want(e.stats(time.Minute, one.At, next.At), []store.StatsRow{one, two}, "From is among the instants, To is not")
	one.Data = []byte("more")
	e.addStats(1, one)
	e.want(all(time.Minute), []store.StatsRow{one, two, next}, "a row replaces the row of its writer")
	e.addStats(1)
	e.want(all(time.Minute), []store.StatsRow{one, two, next}, "no rows change nothing")
}

func statsOldest(e *env) {
	e.want(e.addStats(5), false, "a node that is not registered is not the oldest")
	first, second := e.node("first"), e.node("second")
	e.want(e.addStats(first), true, "the first node is the oldest")
	e.want(e.addStats(second), false, "a younger node is not the oldest")
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: first})
	e.must(err)
	e.want(e.addStats(second), true, "the oldest of the nodes that live")
}

func statsPrune(e *env) {
	n := e.node("n")
	spans := store.StatsSpans()
	begin := e.now
	for _, span := range spans {
		e.now = begin.Truncate(span.Span)
		e.addStats(n, e.statsRow(span.Span, 1, "x"))
	}
	for _, span := range spans {
		count := func() int { return len(e.stats(span.Span, begin.Add(-24*time.Hour), begin.Add(24*time.Hour))) }
		e.now = begin.Truncate(span.Span).Add(span.Keep)
		e.addStats(n)
		e.want(count(), 1, "a row of exactly the age stays")
		e.tick(time.Microsecond)
		e.addStats(n + 1)
		e.want(count(), 1, "a node that is not the oldest deletes nothing")
		e.addStats(n)
		e.want(count(), 0, "an older row is deleted")
	}
}
