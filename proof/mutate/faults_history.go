package main

// The faults that the audit of TestNoWorkIsLost notices, with real processes.

var postgresHistoryFaults = []fault{
	{"a zombie completes a job with any token", "sql/finish_jobs.sql", "j.id = ANY (ARRAY[o.id]) AND j.token = o.token", "j.id = ANY (ARRAY[o.id])"},
	{
		"effects are committed before the completion", "worktx.go", "	batch.Queue(pinOnce)\n",
		`	_, _ = tx.Tx.Exec(ctx, "commit"); time.Sleep(50 * time.Millisecond); batch.Queue("begin"); batch.Queue(pinOnce)` + "\n",
	},
	{
		"a node is declared dead by the age of its jobs", "sql/expire_nodes.sql", "seen_at + lease <= coalesce(:now::timestamptz, now())",
		"coalesce((SELECT min(j.started_at) FROM {schema}.job AS j WHERE j.running AND j.node = heartbeat.node), seen_at) + " +
			"lease <= coalesce(:now::timestamptz, now())",
	},
}

var sqliteHistoryFaults = []fault{
	{"a zombie completes a job with any token", "sql/lock_claims.sql", " AND j.token = o.value ->> 'token'", ""},
	{
		"effects are committed before the completion", shared + "calls.go", "	const doing = \"finish a job\"\n",
		"	const doing = \"finish a job\"\n" +
			"	if req.Commit { _ = c.Commit(ctx, doing, req.Tx); pause, stop := context.WithTimeout(ctx, store.LossDelay(1) / " +
			"5); <-pause.Done(); stop(); req.Tx = nil; return c.Finish(ctx, req) }\n",
	},
	{
		"a node is declared dead by the age of its jobs", "sql/lock_live_nodes.sql", "started_at, seen_at, ended_at",
		"started_at, coalesce((SELECT min(j.started_at) FROM hourbell_job AS j WHERE j.state = 2 AND j.node = hourbell_node.id), seen_at) AS seen_at, ended_at",
	},
}
