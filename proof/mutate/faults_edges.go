package main

// The faults of jobs that follow jobs.

const (
	edges = "../../store/edge.go"
	steps = "../../store/rowwise/edges.go"
)

// edgeTests are the tests that notice these faults. They run first.
const edgeTests = "^TestStore$/^(After|AfterTx|Reopen)$|^TestReleaseAfterDeath$|^TestTwoStepsDecideTheLastEdges$|BesideAnEnd$|BesideAnInsert$|^TestNotesInAnyOrder$|BesideARelease$|^TestLink"

var sharedEdgeFaults = []fault{
	{
		"a job waits again although another edge has missed", "../../store/reopen.go",
		"r.State == StateNotStarted && w.State() == StateWaiting", "r.State == StateNotStarted && w.State() <= StateNotStarted",
	},
	{"a delay is ignored", edges, "if at := p.At.Add(e.Delay); ", "if at := p.At; "},
	{"a success matches a failure", edges, "return o != OnFailure", "return true"},
	{
		"a job that was not started counts as a failure", edges,
		"case StateFailed, StateCancelled, StateDeleted:\n\t\treturn o != OnSuccess",
		"case StateFailed, StateCancelled, StateDeleted, StateNotStarted:\n\t\treturn o != OnSuccess",
	},
	{"a deleted job counts for the last job of its batch", edges, "if w.AtEnd && p.State == StateDeleted {", "if w.AtEnd && p.State == StateWaiting {"},
	{"a reason does not name the root", edges, "return p.Reason\n", "return fmt.Sprintf(\"job %d %s\", p.ID, p.State)\n"},
	{"the first of all predecessors releases", edges, "!w.Any && !w.missed && w.Open == 0:", "!w.Any && !w.missed && w.matched:"},
	{"any waits for all", edges, "case w.Any && w.matched, ", "case w.Any && w.matched && w.Open == 0, "},
	{"one missed edge decides for any", edges, "case w.Any && w.Open == 0, !w.Any && w.missed:", "case w.Open == 0, w.missed:"},
	{"a job with many predecessors is not linked", steps, "return out, tx.InsertLinkNotes(ctx, older, now)", "return out, nil"},
	{"the job that has a key gets the predecessors of another", steps, "return inserted[e.ID].Existed })", "return false })"},
	{"a job waits again although another job has its key", steps, "tx.LockKeyHolders(ctx, keyed, now)", "tx.LockKeyHolders(ctx, keyed[:0], now)"},
	{"a link counts as an end", steps, "if s.notes[0].State == store.StateReady {", "if false {"},
}

var postgresEdgeFaults = []fault{
	{"an old end decides edges that are open again", "sql/reopen_edges.sql", "since = greatest(e.since, o.note)", "since = e.since"},
	{"an end overtakes the retry before it", "sql/lock_releases.sql", "o.state <> 1 AND CASE", "false AND CASE"},
	{"a retry reaches only the next jobs", "sql/reopen_jobs.sql", "FROM gone WHERE followed HAVING", "FROM gone WHERE false HAVING"},
	{"the dependents of a dead node's jobs wait for ever", "sql/extend_lease.sql", "EXISTS (SELECT FROM {schema}.release) AS releases", "false AS releases"},
	{"a job in a program's transaction locks its predecessors", edges, "older && (r.Tx != nil || ", "older && ("},
	{
		"a job that keeps nothing is forgotten before its dependents are linked", "sql/forget_jobs.sql",
		"WHERE EXISTS (SELECT FROM {schema}.edge AS e WHERE e.on_id",
		"WHERE false AND EXISTS (SELECT FROM {schema}.edge AS e WHERE e.on_id",
	},
	{"the end of a job leaves no note", "sql/finish_jobs.sql", "FROM ended WHERE releases HAVING", "FROM ended WHERE false HAVING"},
	{"a cascade stops after one job", "sql/end_jobs.sql", "FROM ended WHERE releases HAVING", "FROM ended WHERE releases AND end_state <> 6 HAVING"},
	{"two steps decide the last edges without a lock", "sql/lock_dependents.sql", "FOR UPDATE              -- if waiting", "FOR KEY SHARE -- if waiting"},
	{"an insert does not lock the predecessors", "sql/lock_jobs.sql", "ORDER BY id FOR UPDATE", "ORDER BY id"},
}

var sqliteEdgeFaults = []fault{
	{
		"a retry reaches only the next jobs", shared + "edges.go",
		"if err := s.noteRetries(ctx, ids, now); err != nil {\n\t\treturn err\n\t}\n\treturn s.OnIDs(ctx, ids, " +
			"deleteFinishedJobs)", "return s.OnIDs(ctx, ids, deleteFinishedJobs)",
	},
	{"the dependents of a dead node's jobs wait for ever", "sql/find_release.sql", "EXISTS (SELECT 1 FROM hourbell_release) AS found", "0 AS found"},
	{"the end of a job leaves no note", "sql/mark_releases.sql", "SET releases = 1", "SET releases = 0"},
	{"a cascade stops after one job", "sql/insert_releases.sql", "WHERE j.releases = 1", "WHERE j.releases = 1 AND o.value ->> 'state' <> 6"},
	{"a deletion leaves no note", "sql/insert_deleted_releases.sql", "WHERE j.releases = 1", "WHERE j.releases = 2"},
	{
		"a job that keeps nothing is forgotten before its dependents are linked", "sql/find_kept.sql",
		"WHERE j.releases = 0 AND EXISTS", "WHERE j.releases = 2 AND EXISTS",
	},
}

// The faults that the audit of TestDependentsAreExact notices, with real processes.
var graphFaults = []fault{
	{"a delay is ignored where nodes die", edges, "if at := p.At.Add(e.Delay); ", "if at := p.At; "},
	{"the first of all predecessors releases where nodes die", edges, "!w.Any && !w.missed && w.Open == 0:", "!w.Any && !w.missed && w.matched:"},
}
