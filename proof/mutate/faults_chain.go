package main

// The faults of schedules that follow schedules.

const chains = "../../store/chain.go"

// chainTests are the tests that notice these faults. They run first.
const chainTests = "^TestStore$/^Chain$|^TestChains$|^TestPlans$"

var sharedChainFaults = []fault{
	{"ends of the same instant share a slot", chains, "slot = floor.Add(time.Microsecond)", "slot = floor"},
	{
		"an end does not remember that its predecessor was paused", chains, "Paused: predecessor.PausedFor(end.At) &&",
		"Paused: end.At.IsZero() && predecessor.PausedFor(end.At) &&",
	},
	{
		"schedules follow each other in a circle", chains, "path := cycle(edges, name, nil, done); path != nil {",
		"path := cycle(edges, name, nil, done); len(path) > 100 {",
	},
	{
		"an end makes only the first of its dependents due", rows + "chain.go",
		"if next[id].IsZero() || end.Slot.Before(next[id]) {", "if next[id].IsZero() && len(next) == 1 {",
	},
	{"an edit of a predecessor does not wait for its ends", rows + "schedules.go", "if err == nil && found {", "if err == nil && found && len(schedules) > 9 {"},
}

var postgresChainFaults = []fault{
	{"a second end of a job starts a dependent again", "sql/find_followed_ends.sql", "AND r.outcome = 0", "AND r.outcome = 9"},
	{"a job that was live before the put sets off nothing", "sql/mark_schedule_jobs.sql", "AND NOT j.releases", "AND j.releases"},
	{"a schedule that was not started sets off nothing", "sql/insert_schedule_releases.sql", "ARRAY[schedule_id]", "ARRAY[NULL::bigint]"},
	{"an end is accounted for again", "sql/close_chain_ends.sql", "e.slot <= s.mark", "e.slot > s.mark"},
	{
		"later ends wait for ever", "sql/await_chain_ends.sql", "e.schedule_id = s.id AND e.open ORDER",
		"e.schedule_id = s.id AND NOT e.open AND e.slot IS NULL ORDER",
	},
	{
		"two puts close a circle together", "sql/lock_chain.sql",
		"FROM pg_advisory_xact_lock(hashtextextended('hourbell chain {schema_text}', 0)) ", "FROM (SELECT 1) AS one ",
	},
	{"a backfilled job sets off dependents", "sql/finish_jobs.sql", "array_agg(CASE WHEN origin {sets_off} THEN schedule_id END)", "array_agg(schedule_id)"},
	{"a deleted schedule is started", "sql/lock_followers.sql", " AND d.deleted_at IS NULL", ""},
}

var sqliteChainFaults = []fault{
	{"a second end of a job starts a dependent again", "sql/find_followed_ends.sql", "AND r.outcome = 0", "AND r.outcome = 9"},
	{"a job that was live before the put sets off nothing", "sql/mark_schedule_jobs.sql", "SET releases = 1", "SET releases = 0"},
	{"a schedule that was not started sets off nothing", "sql/insert_schedule_releases.sql", "value ->> 'schedule',", "NULL,"},
	{"an end is accounted for again", "sql/close_chain_ends.sql", "e.slot <= (", "e.slot > ("},
	{"later ends wait for ever", "sql/await_chain_ends.sql", "AND e.open = 1)", "AND e.open = 2)"},
	{"the ends of a dependent are walked over", "sql/find_due_ends.sql", " INDEXED BY hourbell_chain_end_open", ""},
	{"a backfilled job sets off dependents", "sql/insert_releases.sql", "CASE WHEN j.origin {sets_off} THEN j.schedule_id END", "j.schedule_id"},
	{"a deleted schedule is started", "sql/lock_followers.sql", " AND d.deleted_at IS NULL", ""},
}
