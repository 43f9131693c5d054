package main

import "slices"

// goal is a figure that the project wants to reach, absolute or relative to
// other rows.
type goal struct {
	text   string
	cell   string
	row    string
	metric string
	// versus are rows; the figure of row is divided by the best figure of these
	// rows in each round. Empty: the figure is not divided.
	versus []string
	least  float64 // 0: no lower bound
	most   float64 // 0: no upper bound
}

const rate = "jobs/s"

var peersOnPostgres = []string{"river", "gue", "graphile-worker", "pg-boss"}

var goals = append([]goal{
	{text: "drain, compared with river", cell: "drain", row: "hourbell", metric: rate, versus: []string{"river"}, least: 4},
	{text: "drain, compared with graphile-worker", cell: "drain", row: "hourbell", metric: rate, versus: []string{"graphile-worker"}, least: 2.5},
	{text: "drain, compared with the best peer", cell: "drain", row: "hourbell", metric: rate, versus: peersOnPostgres, least: 2.5},
	{text: "drain, compared with the bare UPDATE + DELETE", cell: "drain", row: "hourbell", metric: rate, versus: []string{bareDelete}, least: 0.9},
	{text: "drain by two processes, compared with one", cell: "drain", row: "hourbell, two processes", metric: rate, versus: []string{"hourbell"}, least: 0.9},
	{text: "drain under an old snapshot, compared with no snapshot", cell: "snapshot", row: "hourbell", metric: rate, versus: []string{undisturbed}, least: 0.85},
	{text: "drain under an old snapshot, compared with the best peer", cell: "snapshot", row: "hourbell", metric: rate, versus: peersOnPostgres, least: 4},
	{
		text: "drain out of a large backlog, compared with 100,000", cell: "backlog", row: "hourbell, backlog", metric: rate,
		versus: []string{"hourbell, 100,000"}, least: 0.85,
	},
	{
		text: "the same of four priorities, compared with 100,000 of one", cell: "backlog",
		row: "hourbell, backlog of four priorities", metric: rate, versus: []string{"hourbell, 100,000"}, least: 0.72,
	},
	{
		text: "the same with run_at scattered, compared with 100,000 in order", cell: "backlog",
		row: "hourbell, backlog with run_at scattered", metric: rate, versus: []string{"hourbell, 100,000"}, least: 0.35,
	},
	{
		text: "drain of jobs with unique keys, compared with no keys", cell: "drain", row: "hourbell, with unique keys",
		metric: rate, versus: []string{"hourbell"}, least: 0.9,
	},
	{
		text: "drain with completions in workers' transactions, compared with river", cell: "own-tx",
		row: "hourbell, RegisterTx", metric: rate, versus: []string{"river, JobCompleteTx"}, least: 1,
	},
	{text: "drain without history, compared with history", cell: "drain", row: "hourbell, history none", metric: rate, versus: []string{"hourbell"}, least: 1},
	{
		text: "drain without history, compared with the best peer that keeps none", cell: "drain",
		row: "hourbell, history none", metric: rate, versus: []string{"gue", "graphile-worker"}, least: 2.5,
	},
	{
		text: "drain through an empty middleware, compared with none", cell: "middleware", row: plainDrain + throughMiddle,
		metric: rate, versus: []string{plainDrain}, least: 0.97,
	},
	{
		text: "enqueue one by one through an empty middleware, compared with none", cell: "middleware",
		row: plainEnqueue + throughMiddle, metric: rate, versus: []string{plainEnqueue}, least: 0.97,
	},
	{
		text: "enqueue 1,000 a call through an empty middleware, compared with none", cell: "middleware",
		row: plainMany + throughMiddle, metric: rate, versus: []string{plainMany}, least: 0.97,
	},
	{text: "drain of chains of two, compared with no edges", cell: "edges", row: chainsOf2, metric: rate, versus: []string{noEdges}, least: 0.6},
	{text: "drain of chains of ten, compared with no edges", cell: "edges", row: chainsOf10, metric: rate, versus: []string{noEdges}, least: 0.45},
	{text: "drain of a job that waits for all others, compared with no edges", cell: "edges", row: fanIn, metric: rate, versus: []string{noEdges}, least: 0.8},
	{text: "drain of all others wait for one job, compared with no edges", cell: "edges", row: fanOut, metric: rate, versus: []string{noEdges}, least: 0.45},
	{
		text: "drain of a job that waits for each batch of 10,000, compared with no edges", cell: "edges", row: batches,
		metric: rate, versus: []string{noEdges}, least: 0.85,
	},
	{
		text: "drain of jobs that wait for three others each, by two processes, compared with no edges", cell: "edges",
		row: random3 + twoNodes, metric: rate, versus: []string{noEdges}, least: 0.3,
	},
	{text: "the same, longest wait for a lock", cell: "edges", row: random3 + twoNodes, metric: lockWait, most: 200},
	{
		text: "drain of chains of two, two processes compared with one", cell: "edges", row: chainsOf2 + twoNodes,
		metric: rate, versus: []string{chainsOf2}, least: 0.9,
	},
	{
		text: "drain of chains of ten, two processes compared with one", cell: "edges", row: chainsOf10 + twoNodes,
		metric: rate, versus: []string{chainsOf10}, least: 0.9,
	},
	{
		text: "drain of a job that waits for all others, two processes compared with one", cell: "edges",
		row: fanIn + twoNodes, metric: rate, versus: []string{fanIn}, least: 0.9,
	},
	{
		text: "drain of all others wait for one job, two processes compared with one", cell: "edges", row: fanOut + twoNodes,
		metric: rate, versus: []string{fanOut}, least: 0.9,
	},
	{
		text: "drain of jobs that wait for three others each, two processes compared with one", cell: "edges",
		row: random3 + twoNodes, metric: rate, versus: []string{random3}, least: 0.9,
	},
	{
		text: "drain under a queue limit that does not bind, compared with no limit", cell: "limits", row: queueWide,
		metric: rate, versus: []string{noLimit}, least: 0.95,
	},
	{text: "drain under a queue limit of 100, compared with 100 workers", cell: "limits", row: queue100, metric: rate, versus: []string{noLimit}, least: 0.9},
	{
		text: "drain of jobs with 10,000 keys, one job of each key at a time, compared with no limit", cell: "limits", row: keysOfOne,
		metric: rate, versus: []string{noLimit}, least: 0.5,
	},
	{text: "the same under an old snapshot", cell: "limits", row: keysOfOne + underHeld, metric: rate, versus: []string{noLimit + underHeld}, least: 0.25},
	{
		text: "drain of jobs with 10 keys, 1,000 jobs of each key at a time, compared with no limit", cell: "limits", row: windows,
		metric: rate, versus: []string{noLimit}, least: 0.6,
	},
	{text: "the same under an old snapshot", cell: "limits", row: windows + underHeld, metric: rate, versus: []string{noLimit + underHeld}, least: 0.3},
	{
		text: "drain of jobs with one key, 100 jobs at a time, under an old snapshot, compared with none", cell: "limits",
		row: oneKey + underHeld, metric: rate, versus: []string{oneKey}, least: 0.5,
	},
	{
		text: "drain with a network of 1 ms, compared with no network", cell: farCell("drain"), row: "hourbell", metric: rate,
		versus: []string{loopback}, least: 0.9,
	},
	{
		text: "insert with unique keys in callers' transactions, compared with no keys", cell: "insert",
		row: "hourbell, in the caller's transaction, with unique keys", metric: rate,
		versus: []string{"hourbell, in the caller's transaction"}, least: 0.9,
	},
	{text: "insert one by one, compared with bare", cell: "insert", row: "hourbell", metric: rate, versus: []string{bareInsert}, least: 0.95},
	{
		text: "insert in callers' transactions, compared with bare with pg_notify", cell: "insert",
		row: "hourbell, in the caller's transaction", metric: rate, versus: []string{bareNotify}, least: 0.95,
	},
	{
		text: "insert in callers' transactions, compared with the INSERT without a notification", cell: "callers",
		row: "hourbell", metric: rate, versus: []string{bareCaller}, least: 0.9,
	},
	{text: "the same where a flush takes 1 ms", cell: "callers", row: "hourbell" + slow, metric: rate, versus: []string{bareCaller + slow}, least: 0.9},
	{
		text: "the same beside 1,000 open transactions", cell: "callers", row: "hourbell" + manyOpen, metric: rate,
		versus: []string{bareCaller + manyOpen}, least: 0.85,
	},
	{text: "enqueue in a caller's transaction to start at 2,000/s, p99", cell: "callers-latency", row: "hourbell, 2,000 a second", metric: "p99 ms", most: 8},
	{text: "insert 1,000 a call, compared with bare unnest", cell: "insert-many", row: "hourbell", metric: rate, versus: []string{bareUnnest}, least: 0.8},
	{
		text: "burst of 100 goroutines, compared with bare inserts", cell: "burst", row: "hourbell, 100 goroutines",
		metric: rate, versus: []string{bareInsert}, least: 5,
	},
	{
		text: "burst of 1,000 goroutines, compared with bare inserts", cell: "burst", row: "hourbell, 1,000 goroutines",
		metric: rate, versus: []string{bareInsert}, least: 5,
	},
	{text: "enqueue to start at 50/s, p50", cell: "latency", row: "hourbell", metric: "p50 ms", most: 2},
	{text: "enqueue to start at 50/s with a network of 1 ms, p50", cell: farCell("latency"), row: "hourbell", metric: "p50 ms", most: 3.5},
	{text: "enqueue to start at 50/s, p99", cell: "latency", row: "hourbell", metric: "p99 ms", most: 6},
	{text: "enqueue to start at 50,000/s, p99", cell: "latency-busy", row: "hourbell", metric: "p99 ms", most: 20},
	{text: "idle node, transactions a second", cell: "idle", row: "hourbell", metric: "tx/s", most: 0.5},
	{text: "100 idle nodes, transactions a second", cell: "idle", row: "hourbell, 100 nodes", metric: "tx/s", most: 30},
	{text: "1,000 schedules due at once, p99", cell: "schedules", row: "hourbell, 1,000 due", metric: "p99 ms", most: 20},
	{text: "20,000 schedules due at once, p99", cell: "schedules", row: "hourbell, 20,000 due", metric: "p99 ms", most: 500},
	{text: "SQLite drain, NORMAL", cell: "sqlite-drain", row: "hourbell NORMAL", metric: rate, least: 40_000},
	{text: "SQLite drain, FULL", cell: "sqlite-drain", row: "hourbell FULL", metric: rate, least: 40_000},
	{text: "SQLite drain, NORMAL, compared with river", cell: "sqlite-drain", row: "hourbell NORMAL", metric: rate, versus: []string{"river NORMAL"}, least: 8},
	{text: "SQLite drain, FULL, compared with river", cell: "sqlite-drain", row: "hourbell FULL", metric: rate, versus: []string{"river FULL"}, least: 8},
	{
		text: "SQLite enqueue, NORMAL, compared with backlite", cell: "sqlite-insert", row: "hourbell NORMAL", metric: rate,
		versus: []string{"backlite NORMAL"}, least: 1,
	},
	{text: "SQLite enqueue, FULL, compared with backlite", cell: "sqlite-insert", row: "hourbell FULL", metric: rate, versus: []string{"backlite FULL"}, least: 1},
	{
		text: "SQLite burst of 100 goroutines, NORMAL, compared with backlite", cell: "sqlite-insert",
		row: "hourbell NORMAL, 100 goroutines", metric: rate, versus: []string{"backlite NORMAL"}, least: 5,
	},
	{
		text: "SQLite burst of 100 goroutines, FULL, compared with backlite", cell: "sqlite-insert",
		row: "hourbell FULL, 100 goroutines", metric: rate, versus: []string{"backlite FULL"}, least: 5,
	},
	{
		text: "SQLite burst of 1,000 goroutines, NORMAL, compared with backlite", cell: "sqlite-insert",
		row: "hourbell NORMAL, 1,000 goroutines", metric: rate, versus: []string{"backlite NORMAL"}, least: 5,
	},
	{
		text: "SQLite burst of 1,000 goroutines, FULL, compared with backlite", cell: "sqlite-insert",
		row: "hourbell FULL, 1,000 goroutines", metric: rate, versus: []string{"backlite FULL"}, least: 5,
	},
	{
		text: "100,000 waiting jobs cost a node, as a factor of its memory", cell: "memory",
		row: "hourbell, 100,000 jobs wait", metric: "MB", versus: []string{"hourbell, no jobs"}, most: 1.1,
	},
	{text: "2,000 running jobs, MB", cell: "memory", row: "hourbell, 2,000 jobs run", metric: "MB", most: 100},
}, slices.Concat(mysqlGoals(), pageGoals(), strangersGoals(), stepsGoals(), hoursGoals())...)

// reached reports whether a figure reaches the goal.
func (g goal) reached(value float64) bool {
	return (g.least == 0 || value >= g.least) && (g.most == 0 || value <= g.most)
}
