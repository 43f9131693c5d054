package main

// The faults of limits of kinds and keys.

const lanes = "../../store/lane.go"

// laneTests are the tests that notice these faults. They run first.
const laneTests = "^TestStore$/^(Lanes|LaneRates|Recount)$|^TestAllot$|^TestPlans$|^TestWrongCountsAreRepaired$|^TestFirstPermitsComeWithTheClaim$|^TestClaimsWhoseCommitFails$|^TestIdleLanesAreDeleted$"

var sharedLaneFaults = []fault{
	{"a job overtakes jobs that wait and were not read", lanes, "if r.Waiting && r.Asked == 0 || r.last != nil", "if r.last != nil"},
	{"a lane gives one permit more than it has", lanes, "most = min(most, r.Width-r.Used)", "most = min(most, r.Width-r.Used+1)"},
	{"a job gets one permit of several", lanes, "&& !rooms[lane].hasPermit(j) {", "&& lane == j.Lanes[0] && !rooms[lane].hasPermit(j) {"},
	{"new jobs go before jobs of an ended limit", rows + "lanes.go", "s.more, s.unread = true, s.unread || room.Ended", "s.more, s.unread = true, s.unread"},
	{"a retry does not go first", lanes, "case j.First && !other.First:", "case false:"},
	{"permits that were given back are not free", rows + "lanes.go", "\t\t\troom.TakeBack(start)\n", "\t\t\t_ = start\n"},
	{"a permit is given back twice", rows + "lanes.go", "\t\t\troom.TakeBack(start)\n", "\t\t\troom.TakeBack(start)\n\t\t\troom.TakeBack(start)\n"},
	{"a claim does not use the starts of its jobs", rows + "lanes.go", "room.Use(used[room.ID])", "room.Use(0)"},
	{"jobs get more starts while others hold all", lanes, "r.Rate.Room(r.TAT, r.Now, r.Starts+most)-r.Starts", "r.Rate.Room(r.TAT, r.Now, r.Starts+most)"},
	{"a slow rate keeps the starts of a faster rate", rows + "limits.go", "rated && change.Write[i].ID != 0", "rated && change.Write[i].ID == 0"},
	{"a lowered limit returns the permits of some jobs only", rows + "limits.go", "if to > 0 {", "if to < 0 {"},
	{"a recount leaves wrong starts", "../../store/recount.go", "l.Used, l.Starts = held.Permits, held.Starts", "l.Used = held.Permits"},
	{"a recount leaves a wrong count", rows + "recount.go", "lanes[i].Recount(repair.Held)", "lanes[i].Recount(repair.Counted)"},
	{
		"a new limit of keys does not count the jobs that run", rows + "limits.go",
		"lanes[i].Used += counts[lanes[i].LaneKey]", "lanes[i].Used += 0 * counts[lanes[i].LaneKey]",
	},
}

var postgresLaneFaults = []fault{
	{
		"a claim outlives its rolled-back transaction", "claim_gated.go", "take := func(do func(*claimTx) error) error {\n",
		"take := func(do func(*claimTx) error) (err error) {\n\t\tdefer func() {\n\t\t\tif codeOf(err) == lockNotAvailable {\n\t\t\t\terr = nil\n\t\t\t}\n\t\t}()\n",
	},
	{"a claim that waits for locks moves the cursors past its jobs", "claim_gated.go", "out.left = busyLanes", "out.left = 0"},
	{"a claim takes jobs that hold no permit", "sql/lock_due_jobs.sql", "AND (j.permits IS NOT NULL OR j.id IN", "AND (true OR j.id IN"},
	{
		"a claimed job is not given its first permits", "sql/claim_jobs.sql",
		"coalesce(permits, (:new_permits::jsonb ->> id::text)::bigint[])",
		"coalesce(permits, nullif((:new_permits::jsonb ->> id::text)::bigint[], (:new_permits::jsonb ->> id::text)::bigint[]))",
	},
	{"a claim of jobs with keys ignores the rate of the queue", "claim.go", "req.DueFor == 0 && !req.Permits.Rated() && !b.gated", "req.DueFor == 0 && !b.gated"},
	{
		"jobs behind the claim lose the permits of the step", "claim_gated.go",
		"t.lanesTx.SaveAllotments(ctx, t.fresh, t.saveAt)", "t.lanesTx.SaveAllotments(ctx, nil, t.saveAt)",
	},
	{
		"a completed job keeps its permit", "sql/finish_jobs.sql", "FROM ended, unnest(permits) AS p (lane) WHERE EXISTS",
		"FROM ended, unnest(permits) AS p (lane) WHERE NOT EXISTS",
	},
	{
		"a retried job keeps its permit", "sql/requeue_jobs.sql",
		"WHEN (SELECT bool_or(t.strict) AND NOT bool_or(t.rate > 0 OR t.concurrency > 0 AND l.used > t.concurrency * coalesce((nullif(t.weights, '')::json ->> l.key)::integer, 1)) FROM", "WHEN (SELECT bool_or(true) FROM",
	},
	{"a job that is moved keeps its permit", "sql/update_jobs.sql", "lane = NULL, permits = NULL,", "lane = NULL,"},
	{
		"a job that no living node runs keeps its permit", "sql/return_idle_permits.sql",
		"WHERE j.permits IS NOT NULL AND j.state IN (0, -1) AND NOT j.running",
		"WHERE j.permits IS NOT NULL AND j.state = 0 AND j.running",
	},
	{"a job of a paused group keeps its permit", "sql/return_paused_permits.sql", "AND {concerns(", "AND NOT {concerns("},
}

var sqliteLaneFaults = []fault{
	{"jobs of other keys wait for a backlog", "lanes.go", "!fresh.Left || !way.Last || req.Suspects {", "!fresh.Left || !way.Last || !req.Suspects {"},
	{"an ended job keeps its permit", "sql/insert_job_vacancies.sql", "AND j.permits IS NOT NULL", "AND j.permits IS NULL"},
	{"a retried job keeps its permit", "sql/requeue_jobs.sql", "WHEN (SELECT max(t.strict) AND NOT max(t.rate > 0 OR", "WHEN (SELECT max(1) AND NOT max("},
	{"a job keeps its permit in a lane that has too many", "sql/requeue_jobs.sql", "t.concurrency > 0 AND l.used >", "t.concurrency < 0 AND l.used >"},
	{"a job that is moved keeps its permit", "sql/update_jobs.sql", "lane = NULL, permits = NULL,", "lane = NULL,"},
}
