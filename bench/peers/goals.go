package main

// goal is what the project wants of a figure, absolutely or beside others.
type goal struct {
	text   string
	cell   string
	row    string
	metric string
	// beside are rows; the best of them in each round is what row is divided
	// by. Empty: the figure itself counts.
	beside []string
	beyond string  // a row of which the figure is what there is anyway; empty: none
	least  float64 // 0: there is none
	most   float64 // 0: there is none
}

const rate = "jobs/s"

var peersOnPostgres = []string{"river", "gue", "graphile-worker", "pg-boss"}

var goals = []goal{
	{text: "drain, beside river", cell: "drain", row: "hourbell", metric: rate, beside: []string{"river"}, least: 4},
	{text: "drain, beside graphile-worker", cell: "drain", row: "hourbell", metric: rate, beside: []string{"graphile-worker"}, least: 2.5},
	{text: "drain, beside the best peer", cell: "drain", row: "hourbell", metric: rate, beside: peersOnPostgres, least: 2.5},
	{text: "drain, beside the bare UPDATE + DELETE", cell: "drain", row: "hourbell", metric: rate, beside: []string{bareDelete}, least: 0.9},
	{text: "drain by two processes, beside one", cell: "drain", row: "hourbell, two processes", metric: rate, beside: []string{"hourbell"}, least: 0.9},
	{text: "drain under an old snapshot, beside without", cell: "snapshot", row: "hourbell", metric: rate, beside: []string{undisturbed}, least: 0.85},
	{text: "drain under an old snapshot, beside the best peer", cell: "snapshot", row: "hourbell", metric: rate, beside: peersOnPostgres, least: 4},
	{text: "drain out of a large backlog, beside 100,000", cell: "backlog", row: "hourbell, backlog", metric: rate, beside: []string{"hourbell, 100,000"}, least: 0.85},
	{text: "the same of four priorities, beside 100,000 of one", cell: "backlog", row: "hourbell, backlog of four priorities", metric: rate, beside: []string{"hourbell, 100,000"}, least: 0.72},
	{text: "the same with run_at scattered, beside 100,000 in order", cell: "backlog", row: "hourbell, backlog with run_at scattered", metric: rate, beside: []string{"hourbell, 100,000"}, least: 0.35},
	{text: "drain of jobs with unique keys, beside without", cell: "drain", row: "hourbell, with unique keys", metric: rate, beside: []string{"hourbell"}, least: 0.9},
	{text: "drain with a network of 1 ms, beside without", cell: farCell("drain"), row: "hourbell", metric: rate, beside: []string{loopback}, least: 0.9},
	{text: "insert with unique keys in callers' transactions, beside without", cell: "insert", row: "hourbell, in the caller's transaction, with unique keys", metric: rate, beside: []string{"hourbell, in the caller's transaction"}, least: 0.9},
	{text: "insert one by one, beside bare", cell: "insert", row: "hourbell", metric: rate, beside: []string{bareInsert}, least: 0.95},
	{text: "insert in callers' transactions, beside bare with pg_notify", cell: "insert", row: "hourbell, in the caller's transaction", metric: rate, beside: []string{bareNotify}, least: 0.95},
	{text: "insert 1,000 a call, beside bare unnest", cell: "insert-many", row: "hourbell", metric: rate, beside: []string{bareUnnest}, least: 0.8},
	{text: "burst of 100 goroutines, beside bare inserts", cell: "burst", row: "hourbell, 100 goroutines", metric: rate, beside: []string{bareInsert}, least: 5},
	{text: "burst of 1,000 goroutines, beside bare inserts", cell: "burst", row: "hourbell, 1,000 goroutines", metric: rate, beside: []string{bareInsert}, least: 5},
	{text: "enqueue to start at 50/s, p50", cell: "latency", row: "hourbell", metric: "p50 ms", most: 2},
	{text: "enqueue to start at 50/s with a network of 1 ms, p50", cell: farCell("latency"), row: "hourbell", metric: "p50 ms", most: 3.5},
	{text: "enqueue to start at 50/s, p99", cell: "latency", row: "hourbell", metric: "p99 ms", most: 6},
	{text: "enqueue to start at 50,000/s, p99", cell: "latency-busy", row: "hourbell", metric: "p99 ms", most: 20},
	{text: "idle node, transactions a second beyond those of nobody", cell: "idle", row: "hourbell", metric: "tx/s", beyond: nobody, most: 0.5},
	{text: "1,000 schedules due at once, p99", cell: "schedules", row: "hourbell, 1,000 due", metric: "p99 ms", most: 20},
	{text: "20,000 schedules due at once, p99", cell: "schedules", row: "hourbell, 20,000 due", metric: "p99 ms", most: 500},
	{text: "SQLite drain, NORMAL", cell: "sqlite-drain", row: "hourbell NORMAL", metric: rate, least: 40_000},
	{text: "SQLite drain, FULL", cell: "sqlite-drain", row: "hourbell FULL", metric: rate, least: 40_000},
	{text: "SQLite drain, NORMAL, beside river", cell: "sqlite-drain", row: "hourbell NORMAL", metric: rate, beside: []string{"river NORMAL"}, least: 8},
	{text: "SQLite drain, FULL, beside river", cell: "sqlite-drain", row: "hourbell FULL", metric: rate, beside: []string{"river FULL"}, least: 8},
	{text: "SQLite enqueue, NORMAL, beside backlite", cell: "sqlite-insert", row: "hourbell NORMAL", metric: rate, beside: []string{"backlite NORMAL"}, least: 1},
	{text: "SQLite enqueue, FULL, beside backlite", cell: "sqlite-insert", row: "hourbell FULL", metric: rate, beside: []string{"backlite FULL"}, least: 1},
	{text: "SQLite burst of 100 goroutines, NORMAL, beside backlite", cell: "sqlite-insert", row: "hourbell NORMAL, 100 goroutines", metric: rate, beside: []string{"backlite NORMAL"}, least: 5},
	{text: "SQLite burst of 100 goroutines, FULL, beside backlite", cell: "sqlite-insert", row: "hourbell FULL, 100 goroutines", metric: rate, beside: []string{"backlite FULL"}, least: 5},
	{text: "SQLite burst of 1,000 goroutines, NORMAL, beside backlite", cell: "sqlite-insert", row: "hourbell NORMAL, 1,000 goroutines", metric: rate, beside: []string{"backlite NORMAL"}, least: 5},
	{text: "SQLite burst of 1,000 goroutines, FULL, beside backlite", cell: "sqlite-insert", row: "hourbell FULL, 1,000 goroutines", metric: rate, beside: []string{"backlite FULL"}, least: 5},
	{text: "100,000 waiting jobs cost a node, as a factor of its memory", cell: "memory", row: "hourbell, 100,000 jobs wait", metric: "MB", beside: []string{"hourbell, no jobs"}, most: 1.1},
	{text: "2,000 running jobs, MB", cell: "memory", row: "hourbell, 2,000 jobs run", metric: "MB", most: 100},
}

// reached says whether a figure is as the goal wants it.
func (g goal) reached(value float64) bool {
	return (g.least == 0 || value >= g.least) && (g.most == 0 || value <= g.most)
}
