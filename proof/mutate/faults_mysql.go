package main

// The faults of the driver of MySQL and MariaDB. Many break what the server does not do by itself: locks, isolation, numbers,
// transactions that are begun again.

var mysqlFaults = []fault{
	// Claims.
	{"a claim takes jobs that run", "statements.go", "(j.queue = :queue AND j.state = 0 AND", "(j.queue = :queue AND j.state IN (0, 2) AND"},
	{"a claim takes kinds that it did not ask for", "statements.go", "AND (j.kind IN (:kinds) ", "AND (j.kind NOT IN (:kinds, 'x') IS NOT NULL "},
	{
		"a claim by Exact does not look at the args", "statements.go", "CONCAT(LOWER(SHA2(j.args, 256)), j.kind) IN (:exact)",
		"j.kind IN (SELECT SUBSTR(e.e, 65) FROM (SELECT :exact AS e) AS e)",
	},
	{"two claims take one job", "sql/lock_due_jobs.sql", "FOR UPDATE SKIP LOCKED", "-- no lock"},
	{"a claim waits for jobs of open transactions", "sql/lock_due_jobs.sql", "FOR UPDATE SKIP LOCKED", "FOR UPDATE"},
	{
		"a claim takes what another claim has just taken", "sql/lock_due_jobs.sql",
		"WHERE j.priority = :priority AND j.losses < 2 AND {claimable(j)}", "WHERE j.priority = :priority",
	},
	{"a claim finds no job behind locked jobs", "claim.go", "{{0, first}, {first, claimReach}}", "{{0, first - claimWindow}}"},
	{"a dead node claims", "sql/hold_node.sql", "WHERE id = :node AND ended_at IS NULL", "WHERE id = :node"},
	{"a claim does not hold its node", "sql/hold_node.sql", "  LOCK IN SHARE MODE ", ""},
	{"a node lets another's job begin", "sql/begin_jobs.sql", " AND j.node = :node", " AND j.node + 0 * :node = j.node"},
	{"what may have begun is refunded", "sql/claim_jobs.sql", "begun = INTERVAL(id, :ids) <= :begin", "begun = INTERVAL(id, :ids) < :begin"},
	{"two jobs get one token", "sql/claim_jobs.sql", "token = :before + INTERVAL(id, :ids)", "token = :before + 1"},
	{"tokens go down", "sql/give_numbers.sql", "LAST_INSERT_ID(value + :count)", "LAST_INSERT_ID(value + :count - :count + 1)"},
	{"now is the node's clock", shared + "session.go", "		return Instant(asked), nil\n", "		return Instant(time.Now()), nil\n"},
	{"a row of losses does not end", "sql/requeue_jobs.sql", "IF(o.well, 0, ", "IF(o.well, j.losses, "},
	{"a pause does not wait for claims", "pauses.go", "b.awaitClaims(ctx, doing); err", "ctx.Err(); err"},

	{"a claim leaves the copy of a rare job as it was", "claim.go", "s.OnIDs(ctx, rares, updateRare)", "s.OnIDs(ctx, rares[:0], updateRare)"},

	// Outcomes.
	{"a job keeps its permit in a lane that has too many", "lanes.go", "rated || width > 0 && used > width", "rated || width > 0 && used < 0"},
	{"a job that waits for its next attempt is a running job in its copy", "finish.go", "NumbersOf(jobs, func(job *rowwise.Requeue)", "NumbersOf(jobs[:0], func(job *rowwise.Requeue)"},
	{"the copy of an ended job stays", "finish.go", "return s.plain[id] })", "return s.plain[id] || id > 0 })"},
	{"a lost job is not found as a suspect", "finish.go", "if job.LossCounts {", "if job.LossCounts && job.ID < 0 {"},
	{"an outcome counts with any token", "sql/lock_claims.sql", "WHERE j.token = o.token", "WHERE j.token >= 0 * o.token"},
	{"outcomes do not lock their jobs", "sql/lock_claims.sql", "\nFOR UPDATE", ""},
	{"a repeated outcome is refused", rows + "finish.go", "states[i] != o.Result.EndState()", "states[i] == o.Result.EndState()"},
	{
		"a refused outcome makes its hooks too", rows + "finish.go", "unknown = append(unknown, &outcomes[i])",
		"unknown, plan.after = append(unknown, &outcomes[i]), append(plan.after, outcomes[i].After)",
	},
	{"a cancelled job is not told", "sql/list_cancelled_claims.sql", "WHERE j.state = 2 AND", "WHERE j.state = 0 AND"},
	{"handlers serve no outcomes", "sql/lock_claims.sql", "EXISTS (SELECT 1 FROM hourbell_handler {share})", "0"},
	{"handlers of starts are not found", "sql/hold_node.sql", "EXISTS (SELECT 1 FROM hourbell_handler WHERE events & 1 <> 0)", "0"},
	{"two nodes make the hooks of one recovery", "sql/lock_failing.sql", " FOR UPDATE", ""},
	{"two concurrent ends release no waiting job", "sql/lock_waiting_jobs.sql", "LIMIT 1 FOR UPDATE", "LIMIT 1"},
	{"a waiting job starts during a running job", "sql/find_busy_groups.sql", "r.state <> 1 AND", "r.state = 7 AND"},
	{"jobs wait for backfilled ones", "sql/find_busy_groups.sql", " AND (j.origin {backfill}) = o.backfill", ""},

	// Nodes.
	{"a node that was declared dead has a lease", "sql/delete_heartbeats.sql", "WHERE node IN", "WHERE -node IN"},
	{
		"a heartbeat waits for the claims of its node", "sql/extend_lease.sql", "WHERE node = :node",
		"WHERE node = (SELECT n.id FROM hourbell_node AS n WHERE n.id = :node FOR UPDATE)",
	},
	{"a rescue waits for open transactions", "sql/lock_held_jobs.sql", "FOR UPDATE SKIP LOCKED", "FOR UPDATE"},
	{
		"jobs that were left to open transactions stay lost", "sql/update_left_nodes.sql", "CASE WHEN id IN (:left) THEN",
		"CASE WHEN id IN (:left) AND died = 7 THEN",
	},
	{"a dead node keeps its permits", "sql/delete_node_permits.sql", "WHERE node IN", "WHERE -node IN"},
	{"a node without recent heartbeats rescues", losses, "now.Sub(n.SeenAt).Abs()*2 <= n.Lease", "!n.SeenAt.IsZero()"},
	{"a rescue counts although a heartbeat has overtaken it", losses, "n.Beats == req.Beat && now", "now"},
	{"a rescue takes jobs from the living", losses, "n.ID != req.Node && !n.SeenAt.Add(n.Lease).After(now)", "n.ID != req.Node && !n.SeenAt.After(now)"},
	{"a lost job makes no hook", rows + "nodes.go", "if effect.State == store.StateFailed {", "if effect.State == store.StateCompleted {"},
	{"a late report suspends the store again", "sql/report_loss.sql", "WHERE accepted = :accepted", "WHERE accepted <> -1 - :accepted"},
	{
		"tokens start again below the tokens of a lost history", "sql/raise_tokens.sql",
		"(SELECT seen_token FROM hourbell_timeline)) + :margin", "0 * (SELECT seen_token FROM hourbell_timeline)) + 0 * :margin",
	},
	{"a stopped node holds its locks", "backend.go", "fmt.Sprint(int(idleLimit.Seconds()))", "fmt.Sprint(int(idleLimit.Hours() + 8*3600))"},

	// Limits of whole queues.
	{"exchanges of permits do not wait for each other", "sql/lock_queue_limits.sql", " FOR UPDATE", ""},
	{"claims with a rate do not wait for each other", "sql/lock_rate_lanes.sql", " FOR UPDATE", ""},
	{"a new limit does not count the jobs that run", "sql/count_running_jobs.sql", "WHERE state = 2 AND", "WHERE state = 0 AND"},

	// Transactions.
	{
		"an insert commits before its caller", "tx.go", "		for n := 1; ; n++ {\n			err := s.inSavepoint(",
		"		defer func() { _ = tx.(callersTx).tx.Commit() }()\n		for n := 1; ; n++ {\n			err := s.inSavepoint(",
	},
	{"a refused change stays in the caller's transaction", "tx.go", "\"ROLLBACK TO SAVEPOINT hourbell\"", "\"DO 1\""},
	{"transactions are not begun again", "tx.go", "case errDeadlock, errRecordChanged, errLockWaitTimeout, " +
		"errDuplicate:\n		return true", "case errDeadlock, errRecordChanged, errLockWaitTimeout, errDuplicate:\n		return " +
		"numberOf(err) == errDuplicate"},
	{
		"a key that another transaction takes is an error", "tx.go",
		"case errDeadlock, errRecordChanged, errLockWaitTimeout, errDuplicate:\n		return true",
		"case errDeadlock, errRecordChanged, errLockWaitTimeout, errDuplicate:\n		return numberOf(err) != errDuplicate",
	},
	{"rows that moved are not looked for again", "tx.go", "	return errors.Is(err, errMoved) || wasEnded(err)", "	return wasEnded(err)"},
	{"a call whose connection was ended does not begin again", "tx.go", "	return errors.Is(err, errMoved) || wasEnded(err)", "	return errors.Is(err, errMoved)"},
	{
		"own transactions lock gaps", "backend.go", "\"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED\"",
		"\"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ\"",
	},
	{
		"transactions on a program's pool lock gaps", "backend.go",
		"return open(ctx, db, &leaseConns{pool: db}, &sql.TxOptions{Isolation: sql.LevelReadCommitted})",
		"return open(ctx, db, &leaseConns{pool: db}, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})",
	},
	{"a caller's transaction decides by its snapshot", "statements.go", `= "LOCK IN SHARE MODE", "COALESCE(o.node_name`, `= "", "COALESCE(o.node_name`},
	{"a commit without an answer counts as refused", "errors.go", "return fmt.Errorf(\"%w: %w\", store.ErrUnknown, err)", "return err"},
	{"a completion that was committed counts as lost", "sql/find_claim.sql", "hourbell_history WHERE id = :id) THEN 2", "hourbell_history WHERE id = :id) THEN 3"},
	{"a look at a claim waits for its job", "sql/lock_claim.sql", " FOR UPDATE SKIP LOCKED", " FOR UPDATE"},
	{"a refused completion is committed", "tx.go", "{ _ = tx.(callersTx).tx.Rollback() }", "{ _ = tx.(callersTx).tx.Commit() }"},
	{
		"a worker is not called again after a deadlock", "worktx.go",
		"case errDeadlock, errRecordChanged, errLockWaitTimeout:\n		return true",
		"case errDeadlock, errRecordChanged, errLockWaitTimeout:\n		return false",
	},
	{"a caller's commit wakes no other process", "tx.go", "return s.wakeInTx(ctx)", "return nil"},
	{"numbers of rows are one apart", "rows.go", "first+int64(i)*step", "first+int64(i)"},
	{"texts mean other characters in some sessions", "literal.go", "case ' ', '.', ':', '@', '_', '-':", "case ' ', '.', ':', '@', '_', '-', '\\\\', 0xc3, 0xa9:"},

	// Schedules and keys.
	{"two jobs share a key", shared + "spec.go", "return TextOrNull(s.Unique) }", "return TextOrNull(s.Unique[:0]) }"},
	{"firing skips the revision check", rows + "fire.go", "return d.Revision == f.Revision && d.Mark", "return d.Mark"},
	{"firing skips the mark check", rows + "fire.go", "d.Mark.Equal(instant(f.Mark)) && ", ""},
	{"firing does not check whether it is due", "sql/lock_due_schedules.sql", " AND s.next_at <= {at(:until)}", " AND :until IS NOT NULL"},
	{"firing does not check whether it is paused", rows + "fire.go", " && d.PausedAt.Equal(instant(f.PausedAt))", ""},
	{
		"slots wait for a transaction that edits another schedule", "sql/lock_due_schedules.sql",
		"FOR UPDATE SKIP LOCKED  -- if free", "FOR UPDATE              -- if free",
	},
	{"a schedule waits until it is due by old data of its zone", rows + "fire.go", "until = now.AddDate(1_000, 0, 0)", "until = now"},
	{"an early firing ignores live jobs", rows + "fire_early.go", "is := p.early(f, now) && len(p.live[f.Schedule]) > 0", "is := false"},
	{"a slot that fired fires again after a reset", "sql/find_fired_slots.sql", "r.fired_slot = {at(o.slot)}", "r.fired_slot > {at(o.slot)}"},
	{"a calendar's change gives schedules no new revision", "sql/revise_schedules.sql", "revision + 1", "revision + 0"},
	{
		"a calendar changes while a slot is due", rows + "calendars.go",
		"if !user.NextAt.IsZero() && !user.NextAt.After(now) {", "if user.NextAt.IsZero() && user.NextAt.After(now) {",
	},
	{"an edit moves the mark back", rules, "if s.Mark.Before(now) {", "if s.Mark.After(now) {"},
	{"an edit drops a due slot", rules, "!s.NextAt.IsZero() && !s.NextAt.After(now) && s.Mark.Before(now)", "false"},
	{"an old sync undoes a newer one", owners, `case r.Host == "" && r.SyncRevision < o.Revision:`, "case false:"},
	{"events get numbers again", "sql/raise_counter.sql", "greatest(value, :value)", "greatest(value, 0 * :value)"},
	{
		"pruning forgets the age", "prune.go", `args{"state": int(state), "before": sqlrows.Micros(now.Add(-keep))`,
		`args{"state": int(state), "before": sqlrows.Micros(now.Add(keep))`,
	},
}

// Faults of locks.
var mysqlLockFaults = []fault{
	{"a token is given twice", "sql/locks/take.sql", "s.token = LAST_INSERT_ID(s.token + 1)", "s.token = LAST_INSERT_ID(s.token)"},
	{"a lock that is held is taken", "sql/locks/take.sql", " AND {utc_until(l.lock_until)} <= {now}", ""},
	{"a check of a lock holds off no other holder", "sql/locks/check.sql", "LOCK IN SHARE MODE", ""},
	{"names of locks differ by more than their case only", "sql/locks/take.sql", " AND CAST(l.name AS BINARY) = CAST(:name AS BINARY)", ""},
	{
		"a release after a step back holds the lock", "sql/locks/release.sql", "IF(:rest = 0, {until_down({now})}, ",
		"IF(:rest = 0, GREATEST({until_down({now})}, {until({utc_at(locked_at)})}), ",
	},
}

// Faults that the audit of TestNoWorkIsLost notices.
var mysqlHistoryFaults = []fault{
	{"a zombie completes a job with any token", "sql/lock_claims.sql", "WHERE j.token = o.token", "WHERE j.token >= 0 * o.token"},
	{
		"a node is declared dead by the age of its jobs", "sql/lock_live_nodes.sql", "{micros(h.seen_at)} AS seen_at,",
		"{micros(COALESCE((SELECT MIN(j.started_at) FROM hourbell_job AS j WHERE j.state = 2 AND j.node = n.id), h.seen_at))} AS seen_at,",
	},
}

// Faults of jobs that follow jobs.
var mysqlEdgeFaults = []fault{
	{"an old end decides edges that are open again", "sql/reopen_edges.sql", "e.since = greatest(coalesce(e.since, 0), o.note)", "e.since = e.since + 0 * o.note"},
	{"an end overtakes the retry before it", "sql/lock_releases.sql", "r.state <> 1 AND EXISTS", "0 AND EXISTS"},
	{
		"a retry reaches only the next jobs", shared + "edges.go",
		"	if err := s.noteRetries(ctx, ids, now); err != nil {\n		return err\n	}\n	return s.OnIDs(ctx, ids, " +
			"deleteFinishedJobs)", "	return s.OnIDs(ctx, ids, deleteFinishedJobs)",
	},
	{"the dependents of a dead node's jobs wait for ever", "sql/find_release.sql", "EXISTS (SELECT 1 FROM hourbell_release) AS found", "0 AS found"},
	{"the end of a job leaves no note", "sql/mark_releases.sql", "SET j.releases = 1", "SET j.releases = 0"},
	{"a cascade stops after one job", "sql/insert_releases.sql", "WHERE j.releases = 1", "WHERE j.releases = 1 AND o.state <> 6"},
	{"a deletion leaves no note", "sql/insert_deleted_releases.sql", "AND j.releases = 1", "AND j.releases = 2"},
	{
		"a job that keeps nothing is forgotten before its dependents are linked", "sql/find_kept.sql",
		"WHERE j.releases = 0 AND EXISTS", "WHERE j.releases = 2 AND EXISTS",
	},
	{"two steps decide the last edges without a lock", "sql/lock_dependents.sql", "FOR UPDATE SKIP LOCKED  -- if free", "-- no lock             -- if free"},
	{"an insert does not lock the predecessors", "sql/lock_predecessors.sql", "FOR UPDATE         -- if waiting", "                   -- if waiting"},
}

// Faults of schedules that follow schedules.
var mysqlChainFaults = []fault{
	{"a second end of a job starts a dependent again", "sql/find_followed_ends.sql", "r.fired_slot = e.slot", "r.fired_slot > e.slot"},
	{"a job that was live before the put sets off nothing", "sql/mark_schedule_jobs.sql", "SET j.releases = 1", "SET j.releases = 0"},
	{"a schedule that was not started sets off nothing", "sql/insert_schedule_releases.sql", "(:on_id, :schedule, ", "(:on_id, NULLIF(:schedule, :schedule), "},
	{"an end is accounted for again", "sql/close_chain_ends.sql", "e.slot <= s.mark", "e.slot > s.mark"},
	{"later ends wait for ever", "sql/await_chain_ends.sql", "AND e.open = 1)", "AND e.open = 2)"},
	{"a backfilled job sets off dependents", "sql/insert_releases.sql", "CASE WHEN j.origin {sets_off} THEN j.schedule_id END", "j.schedule_id"},
	{"a deleted schedule is started", "sql/lock_followers.sql", " AND d.deleted_at IS NULL", ""},
}

// Faults that tests of the driver outside of the suite notice.
const mysqlOwnTests = "^(TestHoldOfAnEndedJob|TestStatementsThatCommit|TestAWaitingClaimDelaysNoHeartbeat|TestABacklogDelaysNoOtherKey)$"

var mysqlOwnFaults = []fault{
	{"two jobs hold a key in its period", "unique.go", "if len(taken) > 0 {", "if len(taken) > 1_000_000 {"},
	{"a call writes in a transaction that a statement has committed", "tx.go", "	if !open {", "	if false {"},
	{"heartbeats wait for a claim that waits", "backend.go", "fmt.Sprint(int(rowWait.Seconds()))", "fmt.Sprint(int(lockWait.Seconds()))"},
	{"a backlog of one key delays other keys", "claim.go", "const mostLaneSteps = 2", "const mostLaneSteps = 2000"},
}

// Faults of limits of kinds and keys.
var mysqlLaneFaults = []fault{
	{
		"a claim leaves the copy of a job that waited in a lane", "claim.go",
		"return jobs, 0, s.OnIDs(ctx, rares, updateRare)", "if !permitted {\n\t\trares = nil\n\t}\n\treturn jobs, 0, " +
			"s.OnIDs(ctx, rares, updateRare)",
	},
	{
		"an ended job keeps its permit", shared + "finish.go", "s.Dialect.LeaveLanes(ctx, ids, false)", "s.Dialect.LeaveLanes(ctx, nil, false)",
	},
	{"a retried job keeps its permit", shared + "finish.go", "s.Dialect.LeaveLanes(ctx, again, true)", "s.Dialect.LeaveLanes(ctx, nil, true)"},
	{"a job that is moved keeps its permit", "sql/update_jobs.sql", "j.lane = NULL, j.permits = NULL,", "j.lane = NULL,"},
	{"permits are given without a lock of their lanes", "sql/lock_lanes.sql", "FOR UPDATE\nNOWAIT -- if nowait", "LIMIT 1000000 -- if nowait"},
	{"a claim takes jobs that hold no permit", "sql/macros/permitted.sql", "($1.permits IS NOT NULL OR NOT EXISTS", "(1 OR NOT EXISTS"},
	{"permits that were given back are taken twice", shared + "lanes.go", "return vacancies, s.OnIDs(ctx, ids, deleteVacancies)", "return vacancies, nil"},
}
