package main

// The faults of limits whose permits jobs hold.

const lanes = "../../store/lane.go"

// laneTests are the tests that notice these faults. They run first.
const laneTests = "^TestStore$/^(Lanes|Recount)$|^TestAdmit$|^TestPlans$|^TestWrongCountsAreRepaired$"

var sharedLaneFaults = []fault{
	{"a job overtakes jobs that wait and were not read", lanes, "if r.Waiting && r.Asked == 0 || r.last != nil", "if r.last != nil"},
	{"a lane gives one permit more than it has", lanes, "case r.Used >= r.Width:\n\t\treturn 0", "case r.Used > r.Width:\n\t\treturn 0\n\tcase r.Used == r.Width:\n\t\treturn 1"},
	{"a job gets one permit of several", lanes, "return rooms[lane].admits(job) })", "return rooms[lane].admits(job) || lane != job.Lanes[0] })"},
	{"new jobs go before jobs of an ended limit", rows + "lanes.go", "s.more, s.unread = true, s.unread || room.Ended", "s.more, s.unread = true, s.unread"},
	{"a retry does not go first", lanes, "case j.First && !other.First:", "case false:"},
	{"permits that were given back are not free", rows + "lanes.go", "room.Used -= s.freed[lane.ID]", "room.Used -= 0"},
	{"a permit is given back twice", rows + "lanes.go", "room.Used -= s.freed[lane.ID]", "room.Used -= 2 * s.freed[lane.ID]"},
	{"a recount leaves a wrong count", rows + "recount.go", "lanes[i].Recount(repair.Held)", "lanes[i].Recount(repair.Counted)"},
	{"a new limit of keys does not count the jobs that run", rows + "limits.go", "lanes[i].Used += counts[lanes[i].LaneKey]", "lanes[i].Used += 0 * counts[lanes[i].LaneKey]"},
}

var postgresLaneFaults = []fault{
	{"a claim takes jobs that hold no permit", "sql/claim_jobs.sql", "AND (j.permits IS NOT NULL OR NOT EXISTS", "AND (true OR NOT EXISTS"},
	{"a completed job keeps its permit", "sql/finish_jobs.sql", "FROM ended, unnest(permits) AS p (lane) WHERE EXISTS", "FROM ended, unnest(permits) AS p (lane) WHERE NOT EXISTS"},
	{"a retried job keeps its permit", "sql/requeue_jobs.sql", "WHERE l.id = ANY (j.permits) AND t.strict) THEN j.permits END,", "WHERE l.id = ANY (j.permits)) THEN j.permits END,"},
	{"a job that is moved keeps its permit", "sql/update_jobs.sql", "lane = NULL, permits = NULL,", "lane = NULL,"},
	{"a job that no living node runs keeps its permit", "sql/return_idle_permits.sql", "WHERE j.permits IS NOT NULL AND j.state = 0 AND NOT j.running", "WHERE j.permits IS NOT NULL AND j.state = 0 AND j.running"},
	{"a job of a paused group keeps its permit", "sql/return_paused_permits.sql", "AND {concerns(", "AND NOT {concerns("},
}

var sqliteLaneFaults = []fault{
	{"an ended job keeps its permit", "sql/insert_job_vacancies.sql", "AND j.permits IS NOT NULL", "AND j.permits IS NULL"},
	{"a retried job keeps its permit", "sql/requeue_jobs.sql", "CROSS JOIN hourbell_job_limit AS t ON t.id = l.limit_id WHERE t.strict) THEN j.permits END,", "CROSS JOIN hourbell_job_limit AS t ON t.id = l.limit_id) THEN j.permits END,"},
	{"a job that is moved keeps its permit", "sql/update_jobs.sql", "lane = NULL, permits = NULL,", "lane = NULL,"},
}
