package main

// The faults of each driver. Each changes one line, as a plausible mistake
// could, and breaks a promise.

// rules is a file that the drivers share.
const rules = "../../store/rules.go"

// owners has the rule by which syncs and the copies of hosts come into force.
const owners = "../../store/owner.go"

// The other files with rules.
const (
	losses    = "../../store/loss.go"
	outcomes  = "../../store/outcome.go"
	changes   = "../../store/change.go"
	followUps = "../../store/followup.go"
	early     = "../../store/early.go"
)

// memories has what steps of jobs do to their rows.
const memories = "../../store/step.go"

// gates has what the gates of a claim decide.
const gates = "../../store/claim_gates.go"

// rows is the folder of what drivers of row-wise databases share.
const rows = "../../store/rowwise/"

// shared is the folder of what SQLite and MySQL have in common.
const shared = rows + "sqlrows/"

// locks is the common part of lock providers in SQL.
const locks = "../../lock/locksql/"

// sharedFaults are further faults in code that the drivers share: how overlaps
// are decided, how pauses end, and when locks are granted.
var sharedFaults = []fault{
	{"a slot fires during a running job under skip", "../../store/overlap.go", "case overlap == OverlapSkip && len(l.running) > 0:", "case false:"},
	{"more than one job waits", "../../store/overlap.go", "case overlap != OverlapReplace && len(l.waiting) > 0:", "case false:"},
	{"unstarted jobs accumulate", "../../store/overlap.go", "due := l.due(); len(due) > 0", "due := l.due(); false"},
	{"a queued job does not wait", "../../store/overlap.go", "i > 0 || f.Overlap != OverlapSkip && len(group.running)+len(group.fresh) > 0", "i > 0"},
	{"slots that fire together run concurrently", "../../store/overlap.go", "i > 0 || f.Overlap != OverlapSkip", "f.Overlap != OverlapSkip"},
	{"replace does not cancel the running job", "../../store/overlap.go", "idsOf(group.waiting), idsOf(group.running)", "idsOf(group.waiting), nil"},
	{"a pause never ends", "../../store/schedule.go", "(s.PausedUntil.IsZero() || slot.Before(s.PausedUntil))", "!s.PausedAt.After(slot)"},
	{"the mark of an early firing is not recognised", early, "if !mark.After(now) || mark.After(now.Add(MostAhead)) {", "if !now.IsZero() {"},
	{"a triggered job starts before a slot that has been decided on", early, "if job.RunAt.Before(to) {", "if job.RunAt.After(to) {"},
	{"every failure counts", followUps, "case a.JobFailed:", "case true:"},
	{"a rescue forgets on_loss", losses, "case l.OnLoss == OnLossFail || l.Attempt >= l.MaxAttempts:", "case l.Attempt >= l.MaxAttempts:"},
	{
		"leaving does not refund the attempt", losses, "case !l.Died:\n\t\treturn Effect{State: StateReady, Refund: 1}",
		"case !l.Died:\n\t\treturn Effect{State: StateReady}",
	},
	{"a rescue keeps others waiting", losses, "case l.Waits && l.Group.GivesWay():", "case false:"},
	{"what has not begun is lost", losses, "case !l.Begun:", "case false:"},
	{"a lost job starts again at once", losses, "LossCounts: true, Delay: LossDelay(oneMore(l.Losses))}", "LossCounts: true}"},
	{"a retry keeps others waiting", outcomes, "case job.Waits && job.Group.GivesWay():", "case false:"},
	{"a retry ignores a cancel request", outcomes, "case o.Result == Cancelled || job.Asked:", "case o.Result == Cancelled:"},
	{"a repeated retry delays the job", outcomes, "case !job.Running:", "case false:"},
	{"a completed job ends as failed", outcomes, "case Completed:\n\t\treturn StateCompleted", "case Completed:\n\t\treturn StateFailed"},
	{"a cancellation makes a failure hook", outcomes, "return r == Completed || r == Failed", "return true"},
	{"a signal does not end the wait of its job", memories, "if after.Open {", "if false {"},
	{"a signal does not wake its job", memories, "return r.Token == 0 && changed && stored != nil && state == StateReady", "return false"},
	{"a result replaces an earlier result", memories, "case s.Sort == StepCursor:", "case s.Sort <= StepCursor:"},
	{"a step counts under any token", memories, "case r.Token != 0 && (state != StateRunning || token != r.Token):", "case false:"},
	{"the end of forgotten children ends the wait for others", memories, "case !s.Open && s.Children().Batch == stored.Children().Batch:", "case !s.Open:"},
	{"a wait has no end", memories, "&& !s.At.Before(after.Until):", "&& s.At.After(after.Until.Add(1000*time.Hour)):"},
	{"a job lies aside although its signal has come", outcomes, "case o.Result == Snooze && job.Answered:", "case false:"},
	{"a manual retry starts a waiting job", changes, "case state == StateReady:", "case state != StateRunning:"},
	{"a running job is deleted", changes, "if state == StateRunning {", "if false {"},
	{"a lock that was lost is extended", locks + "provider.go", "if !stands {", "if false {"},
	{"a lock that is held is not refused", locks + "record.go", "case f.until.After(f.now):", "case false:"},
	{"a lost lock passes a check", locks + "inspect.go", "case err == nil && !stands:", "case err == nil && !stands && false:"},
}

var postgresFaults = []fault{
	{
		"a commit without an answer is repeated", "errors.go",
		"!errors.Is(err, store.ErrUnknown) && (passing(err) || pgconn.SafeToRetry(err))", "passing(err) || pgconn.SafeToRetry(err)",
	},
	{"a token is given twice", "sql/locks/take.sql", "SET token = s.token + 1", "SET token = s.token"},
	{"a check of a lock holds off no other transaction", "sql/locks/check.sql", "FOR SHARE OF s", ""},
	{
		"a release after a step back holds the lock", "sql/locks/release.sql",
		"CASE WHEN :rest::bigint = 0 THEN {until_down({now})}",
		"CASE WHEN :rest::bigint = 0 THEN greatest({until_down({now})}, {until({utc_at(locked_at)})})",
	},
	{"what may have begun is refunded", "sql/lock_held_jobs.sql", "coalesce(u.id = ANY (l.begun), true)", "coalesce(u.id = ANY (l.begun), false)"},
	{"an older claim says what has begun", "sql/lock_held_jobs.sql", "l.id DESC", "l.id"},
	{"a job begins after its node was declared dead", "sql/begin_jobs.sql", "FOR KEY SHARE\n", "\n"},
	{"a suspect is claimed like any other", "sql/claim_jobs.sql", "AND j.losses < 2", "AND j.losses < 9"},
	{"a row of losses does not end", "sql/requeue_jobs.sql", "CASE WHEN o.well THEN 0 ELSE", "CASE WHEN o.well THEN j.losses ELSE"},
	{"a claim takes jobs that run", "sql/macros/claimable.sql", "NOT $1.running AND ($1.kind", "($1.kind"},
	{"a claim takes kinds that it did not ask for", "sql/macros/claimable.sql", "$1.kind = ANY (:kinds::text[])", "$1.kind <> ALL (:kinds::text[] || 'x'::text) IS NOT NULL"},
	{"a claim compares with the node's clock", "claim.go", "		when(req.Now), req.Node, req.Queue", "		when(time.Now().Add(0)), req.Node, req.Queue"},
	{
		"a claim does not know a new limit of its queue", "sql/claim_jobs.sql",
		"AND l.ended_at IS NULL), 0) = :limit_revision::bigint", "AND l.ended_at IS NULL), 0) >= :limit_revision::bigint",
	},
	{"exchanges of permits do not wait for each other", "sql/lock_queue_limits.sql", " FOR NO KEY UPDATE", ""},
	{"a dead node keeps its permits", "sql/delete_node_claims.sql", "DELETE FROM {schema}.node_permit WHERE node", "DELETE FROM {schema}.node_permit WHERE -node"},
	{"claims with a rate do not wait for each other", "sql/lock_rate_lanes.sql", " FOR NO KEY UPDATE OF x", ""},
	{"a new limit does not count the jobs that run", "sql/count_running_jobs.sql", "WHERE j.running AND", "WHERE NOT j.running AND"},
	{"a low-water cursor replaces full scans", "cursors.go", "if s.rest() <= 0 && ", "if s.scanned.IsZero() && "},
	{"a full scan counts as cheap", "cursors.go", "s.cost() <= cheapFullScan {", "s.cost() > cheapFullScan {"},
	{
		"jobs of late commits wait for a catch-up scan", "cursors.go", "if s.within(number) && s.recentRest(number) <= 0 {",
		"if s.within(number) && s.recentRest(number) <= -time.Hour {",
	},
	{
		"a recent scan reads no jobs of late commits", "sql/find_behind_cursors.sql",
		"AND j.run_at > :since::timestamptz AND", "AND j.run_at > :since::timestamptz + interval '1 hour' AND",
	},
	{"a node that is gone gets jobs", "sql/claim_jobs.sql", "WHERE h.node = :node::bigint)", "WHERE h.node = :node::bigint OR true)"},
	{"a claim does not hold its node", "sql/hold_node.sql", "WHERE node = :node::bigint FOR KEY SHARE", "WHERE node = :node::bigint"},
	{"tokens grow per job only", "sql/claim_jobs.sql", "greatest(nextval('{schema_text}.token'), token + 1)", "token + 1"},
	{"an insert commits before its caller", "insert.go", "if req.Jobs, err = b.afterFired(ctx, q, req); err == nil {", "if q = b.pool; err == nil {"},
	{"a refused change stays in the caller's transaction", "within.go", "\"rollback to savepoint hourbell\"", "\"select 1\""},
	{"a caller's transaction locks jobs of schedules", "sql/find_shared_jobs.sql", "(running OR schedule_id IS NOT NULL)", "running"},
	{"slots wait for a transaction that edits another schedule", "fire.go", "set local lock_timeout = '50ms'", "set local lock_timeout = 0"},
	{"batches with the same keys wait for each other", "sql/insert_keyed_jobs.sql", "    ORDER BY kind COLLATE \"C\", unique_key COLLATE \"C\"\n", ""},
	{"two jobs share a key", "jobspec.go", "return orNull(s.Unique) }", "return orNull(s.Unique[:0]) }"},
	{"an outcome counts with any token", "sql/finish_jobs.sql", "j.id = ANY (ARRAY[o.id]) AND j.token = o.token", "j.id = ANY (ARRAY[o.id])"},
	{
		"a repeated outcome is refused", "sql/check_recorded.sql", "h.id = o.id AND h.token = o.token AND h.state = o.state",
		"h.id = o.id AND h.token = o.token AND h.state <> o.state",
	},
	{"readers pass over events of open transactions", "sql/list_events.sql", " AND e.tx < pg_snapshot_xmin(pg_current_snapshot())::text::bigint", ""},
	{"firing skips the revision check", "sql/advance_schedules.sql", "s.revision = f.revision AND ", ""},
	{"firing skips the mark check", "sql/advance_schedules.sql", "s.mark = f.mark AND ", ""},
	{
		"firing does not check whether it is due", "sql/advance_schedules.sql",
		"AND (s.next_at <= coalesce(:now::timestamptz, now()) + :ahead::bigint * interval '1 microsecond') IS TRUE",
		"AND (coalesce(:now::timestamptz, now()) IS NOT NULL)",
	},
	{
		"firing does not check whether it is paused", "sql/advance_schedules.sql",
		"AND greatest(s.paused_at, s.group_paused_at) IS NOT DISTINCT FROM f.paused_at", "AND true",
	},
	{
		"an expired decision fires", "sql/advance_schedules.sql", "<= coalesce(:until::timestamptz, 'infinity')",
		"<= coalesce(:until::timestamptz + interval '1 year', 'infinity')",
	},
	{
		"a claim leaves out jobs behind a cursor", "claim.go", "out, err := b.claim(ctx, req, cursors{})",
		"out, err := b.claim(ctx, req, b.scans.of(req.Node, req.Queue, false).low)",
	},
	{"a paused queue gives jobs", "sql/claim_jobs.sql", "OR p.subject = 1 AND {in_queue(:queue::text, p.name)})", "OR false)"},
	{"a claim takes jobs of paused kinds", "sql/macros/claimable.sql", "p.subject = 2 AND", "p.subject = -1 AND"},
	{"an early firing ignores live jobs", "sql/find_busy_schedules.sql", "AND EXISTS (", "AND false AND EXISTS ("},
	{"a schedule waits until it is due by old data of its zone", "fire_early.go", "return evenFar", "return 0"},
	{"an early firing ignores a job that becomes live", "fire_early.go", "return len(live[schedule]) > 0", "return false"},
	{"a retried job starts before a slot that has been decided on", "sql/revive_jobs.sql", "s.id = h.schedule_id AND", "s.id = -revived.schedule_id AND"},
	{"a slot that fired fires again after a reset", "sql/find_fired_slots.sql", "s.outcome = 0", "s.outcome = 1"},
	{"a node without recent heartbeats rescues", "sql/expire_nodes.sql", "* 2 BETWEEN -asker.lease AND asker.lease", "IS NOT NULL"},
	{
		"a dead node makes the store forget jobs that were left", "sql/delete_claim_batches.sql",
		" AND EXISTS (SELECT FROM {schema}.heartbeat WHERE node = :node::bigint)", "",
	},
	{"a rescue counts although a heartbeat has overtaken it", "sql/expire_nodes.sql", "asker.beats = :beat::bigint", "asker.beats >= 0 * :beat::bigint"},
	{
		"a rescue takes jobs from the living", "sql/expire_nodes.sql",
		"seen_at + lease <= coalesce(:now::timestamptz, now())",
		"seen_at + lease <= coalesce(:now::timestamptz, now()) + interval '1 year'",
	},
	{"a claim by Exact does not look at the args", "sql/macros/claimable.sql", "SELECT e.kind, e.digest FROM", "SELECT e.kind, sha256(convert_to($1.args, 'UTF8')) FROM"},
	{"a claim by Exact mixes kinds", "sql/macros/claimable.sql", "SELECT e.kind, e.digest FROM", "SELECT $1.kind, e.digest FROM"},
	{
		"a repeated outcome makes its hooks again", "finish.go", "ended[o.ID] && o.Result.FollowsUp() || f.retried[o.ID] {",
		"(ended != nil) && o.Result.FollowsUp() || f.retried[o.ID] {",
	},
	{
		"a job whose time has come is listed as scheduled", "sql/list_jobs.sql",
		"run_at > coalesce(:now::timestamptz, now())", "run_at > coalesce(:now::timestamptz, now()) - interval '1 year'",
	},
	{"a lost job makes no hook", "nodes.go", "if held[i].state == store.StateFailed {", "if held[i].state == store.StateCompleted {"},
	{"a lost firing makes hooks for missed slots", "fire.go", "FollowFirings(ctx, edgesTx{f.b, f.tx}, held)", "FollowFirings(ctx, edgesTx{f.b, f.tx}, all)"},
	{"a new handler serves no outcomes of nodes that knew of none", "sql/finish_jobs.sql", "NOT EXISTS (SELECT FROM {schema}.handler)", "true"},
	{"a new handler serves no attempts that are tried again", "sql/lock_claims.sql", "EXISTS (SELECT FROM {schema}.handler)", "false"},
	{
		"a new handler serves no starts of nodes that knew of none", "sql/begin_jobs.sql",
		"SELECT node, EXISTS (SELECT FROM {schema}.handler WHERE events & 1 <> 0)", "SELECT node, false",
	},
	{"two nodes make the hooks of one recovery", "sql/lock_failing.sql", " FOR UPDATE", ""},
	{"failing schedules are written in no order", followUps, "slices.Sorted(maps.Keys(touched))", "slices.Collect(maps.Keys(touched))"},
	{"every success is a recovery", followUps, "if a.Failing || before {", "if a.Failing || before || len(failing) == 0 {"},
	{"a deleted schedule goes on failing", "schedules.go", "case store.DeleteSchedules:\n		err = b.well", "case store.ResetSchedules:\n		err = b.well"},
	{"a resume forgets no failures", "schedules.go", `_, err = tx.Exec(ctx, b.q(resetFailures), numbersOf(changed))`, "err = nil"},
	{"the end of a schedule's job releases no waiting job", "finish.go", "!plain(o) || !o.Alone || ", "!plain(o) || "},
	{
		"the refused outcome of a job without a schedule counts", "finish.go", "err != nil || len(ended) == len(outcomes)",
		"err != nil || len(ended) <= len(outcomes)",
	},
	{"waiting jobs are not released", "finish.go", "		freed.add(in.group())\n", ""},
	{
		"a waiting job starts during a running job", "sql/release_jobs.sql",
		"j.schedule_id = w.schedule_id AND j.state + 0 <= 0", "j.schedule_id = w.schedule_id AND j.state = 7",
	},
	{"jobs wait for backfilled ones", "sql/release_jobs.sql", " AND (j.origin {backfill}) = (w.origin {backfill})", ""},
	{"two concurrent ends release no waiting job", "sql/lock_waiting_jobs.sql", "LIMIT 1 FOR UPDATE", "LIMIT 1"},
	{
		"a job that is added while the last one ends waits for ever", "serialgroup.go",
		"[]statement{lockSerialGroups, lockSerialGroupJobs}", "[]statement{lockSerialGroups}",
	},
	{"an edit moves the mark back", rules, "if s.Mark.Before(now) {", "if s.Mark.After(now) {"},
	{"an edit drops a due slot", rules, "!s.NextAt.IsZero() && !s.NextAt.After(now) && s.Mark.Before(now)", "false"},
	{"an edit drops slots before the first plan", rules, "!s.NextAt.After(now) && s.Mark.Before(now)", "!s.NextAt.After(now) && s.NextAt.After(s.Mark)"},
	{"an edit undoes a pause by hand", rules, "case paused == s.PausedDeclared:", "case false:"},
	{"a schedule's owner is not looked at", rules, "case s.living() && s.Owner != owner:", "case false:"},
	{"a lost update is not refused", "../../store/ifrevision.go", "case revision != ifRevision:", "case false:"},
	{"an old sync undoes a newer one", owners, `case r.Host == "" && r.SyncRevision < o.Revision:`, "case false:"},
	{"a copy that has not changed undoes a change", owners, "case known && !c.same(last):", "case known:"},
	{
		"the first copy of a host is a change", owners, "return !declared && (!known || o.Version.Host != \"\")",
		"return !known || !declared && o.Version.Host != \"\"",
	},
	{"a calendar changes while a slot is due", "calendars.go", "case unsettled:", "case unsettled && false:"},
	{"a calendar's change gives schedules no new revision", "sql/revise_schedules.sql", "revision + 1", "revision + 0"},
	{"a schedule comes to name a calendar that is being deleted", "sql/hold_calendars.sql", " FOR KEY SHARE", ""},
	{
		"a late report suspends the store again", "sql/report_loss.sql", "WHERE accepted = :accepted::bigint",
		"WHERE accepted IS DISTINCT FROM -:accepted::bigint - 1",
	},
	{
		"tokens start again below the tokens of a lost history", "sql/raise_sequences.sql",
		", :token::bigint) + :margin::bigint", ", 0 * :token::bigint) + 0 * :margin::bigint",
	},
	{"pruning forgets the age", "sql/prune_jobs.sql", "h.finished_at < coalesce(:now::timestamptz, now()) - :keep::bigint " +
		"* interval '1 microsecond'", "h.finished_at < coalesce(:now::timestamptz, now()) + :keep::bigint * interval '1 microsecond'"},
}

var sqliteFaults = []fault{
	{"a late report suspends the store again", "sql/report_loss.sql", "WHERE accepted = :accepted", "WHERE accepted <> -1 - :accepted"},
	{
		"tokens start again below the tokens of a lost history", "sql/raise_tokens.sql",
		"(SELECT seen_token FROM hourbell_timeline)) + :margin", "0 * (SELECT seen_token FROM hourbell_timeline)) + 0 * :margin",
	},
	{
		"a claim takes jobs that run", "sql/claim_jobs.sql", "WHERE state = 0 AND queue = :queue AND kind = :kind AND",
		"WHERE state IN (0, 2) AND queue = :queue AND kind = :kind AND",
	},
	{"a claim takes kinds that it did not ask for", "sql/claim_jobs.sql", "AND kind = :kind AND digest", "AND length(:kind) > 0 AND digest"},
	{"what may have begun is refunded", "sql/claim_jobs.sql", "begun = due.place <= :begin", "begun = due.place < :begin"},
	{"a node lets another's job begin", "sql/begin_jobs.sql", "AND node = :node", "AND node + 0 * :node = node"},
	{
		"a suspect is claimed like any other", "sql/claim_jobs.sql",
		"kind = :kind AND digest IS NULL AND priority = p.value AND losses < 2",
		"kind = :kind AND digest IS NULL AND priority = p.value AND losses < 9",
	},
	{"a row of losses does not end", "sql/requeue_jobs.sql", "iif(o.well, 0, ", "iif(o.well, j.losses, "},
	{"now is the node's clock", shared + "session.go", "		return Instant(asked), nil\n", "		return Instant(time.Now()), nil\n"},
	{"a dead node claims", "sql/hold_node.sql", "id = :node AND ended_at IS NULL", "id = :node"},
	{"tokens grow per job only", "sql/claim_jobs.sql", "max((SELECT value FROM hourbell_counter WHERE name = 'token'), j.token) + due.place", "j.token + 1"},
	{
		"an insert commits before its caller", "tx.go", "return b.explain(ctx, doing, work(s))\n	}\n}\n\n// commit commits",
		"defer func() { _ = s.tx.Commit() }()\n		return b.explain(ctx, doing, work(s))\n	}\n}\n\n// commit commits",
	},
	{"two jobs share a key", shared + "spec.go", "return TextOrNull(s.Unique) }", "return TextOrNull(s.Unique[:0]) }"},
	{"an outcome counts with any token", "sql/lock_claims.sql", " AND j.token = o.value ->> 'token'", ""},
	{"the feed forgets which events were deleted", "sql/update_gone_events.sql", "max(gone_id, :id)", "max(gone_id, :id * 0)"},
	{"what a transaction has found outlives its rollback", rows + "intx.go", "return none, err", "none = out\n\t\treturn none, err"},
	{"firing skips the revision check", rows + "fire.go", "return d.Revision == f.Revision && d.Mark", "return d.Mark"},
	{"firing skips the mark check", rows + "fire.go", "d.Mark.Equal(instant(f.Mark)) && ", ""},
	{"firing does not check whether it is paused", rows + "fire.go", " && d.PausedAt.Equal(instant(f.PausedAt))", ""},
	{"an expired decision fires", rows + "fire.go", "now.After(instant(req.Until))", "now.After(instant(req.Until).AddDate(1, 0, 0))"},
	{"firing does not check whether it is due", "sql/lock_due_schedules.sql", " AND +s.next_at <= :until", " AND :until IS NOT NULL"},
	{
		"an edit does not wait for the latest early firing", early, "if to := firedTo(mark, now); to.After(latest) {",
		"if to := firedTo(mark, now); !to.IsZero() && (latest.IsZero() || to.Before(latest)) {",
	},
	{"a schedule waits until it is due by old data of its zone", rows + "fire.go", "until = now.AddDate(1_000, 0, 0)", "until = now"},
	{"an early firing ignores live jobs", rows + "fire_early.go", "is := p.early(f, now) && len(p.live[f.Schedule]) > 0", "is := false"},
	{"a slot that fired fires again after a reset", "sql/find_fired_slots.sql", "AND r.outcome = 0", "AND r.outcome = 1"},
	{"a node without recent heartbeats rescues", losses, "now.Sub(n.SeenAt).Abs()*2 <= n.Lease", "!n.SeenAt.IsZero()"},
	{"a rescue counts although a heartbeat has overtaken it", losses, "n.Beats == req.Beat && now", "now"},
	{"a rescue takes jobs from the living", losses, "n.ID != req.Node && !n.SeenAt.Add(n.Lease).After(now)", "n.ID != req.Node && !n.SeenAt.After(now)"},
	{"a claim by Exact does not look at the args", "claim.go", "Digest: &digest}", "Digested: true}"},
	{"a paused queue gives jobs", gates, "paused = paused || InQueue(r.Queue, p.Name)", "paused = paused && InQueue(r.Queue, p.Name)"},
	{"a claim takes jobs of paused kinds", gates, "	if len(kinds) > 0 {", "	if len(kinds) > 1<<20 {"},
	{
		"a claim leaves out the jobs that it has let leave their pause", rows + "claim_due.go",
		"if !c.req.Suspects && (c.around.Pauses || c.lanes.Limited) {", "if !c.req.Suspects && c.lanes.Limited {",
	},
	{
		"a claim without permits of the newest limit takes jobs", rows + "claim_queue.go",
		"c.req = c.rates.Bound(c.req, c.now, &c.out.ClaimResult)", "_ = c.rates.Bound(c.req, c.now, &c.out.ClaimResult)",
	},
	{"a claim that does not start its jobs at once takes starts", gates, "return w.Rated && !req.Starts }", "return w.Rated && req.Starts }"},
	{"a claim by Exact finds nothing", "digest.go", "sha256.Sum256(text)", "sha256.Sum256(text[:0])"},
	{
		"a claim by kind passes over jobs that have digests", "claim.go",
		"rowwise.Stream{Kind: kind}, rowwise.Stream{Kind: kind, Digested: true})", "rowwise.Stream{Kind: kind})",
	},
	{"a retried job has no key", shared + "spec.go", "if c.Name != \"max_attempts\" {", "if c.Name != \"max_attempts\" && c.Name != \"unique_key\" {"},
	{"a repeated outcome is refused", rows + "finish.go", "states[i] != o.Result.EndState()", "states[i] == o.Result.EndState()"},
	{
		"a refused outcome makes its hooks too", rows + "finish.go", "unknown = append(unknown, &outcomes[i])",
		"unknown, plan.after = append(unknown, &outcomes[i]), append(plan.after, outcomes[i].After)",
	},
	{"a job whose time has come is listed as scheduled", "sql/list_jobs.sql", "AND j.run_at > :now", "AND j.run_at > 0"},
	{"a lost job makes no hook", rows + "nodes.go", "if effect.State == store.StateFailed {", "if effect.State == store.StateCompleted {"},
	{"every success is a recovery", followUps, "if a.Failing || before {", "if a.Failing || before || len(failing) == 0 {"},
	{"handlers serve no outcomes", "sql/lock_claims.sql", "EXISTS (SELECT 1 FROM hourbell_handler)", "0"},
	{"handlers of starts are not found", "sql/hold_node.sql", "EXISTS (SELECT 1 FROM hourbell_handler WHERE events & 1)", "0"},
	{"jobs that are not started set off no handlers", rows + "handlers.go", "job.Reason = reasons[job.ID]", "job.Origin = store.OriginHook"},
	{"a schedule fails since its last failure", rows + "followup.go", "slices.Concat(c.Begun, c.Again)", "slices.Clone(ids)"},
	{"a resume forgets no failures", shared + "schedules.go", "return s.OnIDs(ctx, schedules, ResetFailures)", "return nil"},
	{"waiting jobs are not released", rows + "finish.go", "p.freed = append(p.freed, held.Group)", "_ = p.freed"},
	{"a waiting job starts during a running job", "sql/lock_waiting_jobs.sql", "AND j.state <> 1", "AND j.state = 7"},
	{"jobs wait for backfilled ones", "sql/lock_waiting_jobs.sql", "AND j.state <> 1 AND (j.origin {backfill}) = (w.origin {backfill}))", "AND j.state <> 1)"},
	{"a schedule that comes back goes on failing", rows + "schedules.go", "append(p.back, numbersOf(p.gone)...)", "numbersOf(p.gone)"},
	{"an edit moves the mark back", rules, "if s.Mark.Before(now) {", "if s.Mark.After(now) {"},
	{"an edit drops a due slot", rules, "!s.NextAt.IsZero() && !s.NextAt.After(now) && s.Mark.Before(now)", "false"},
	{"an edit drops slots before the first plan", rules, "!s.NextAt.After(now) && s.Mark.Before(now)", "!s.NextAt.After(now) && s.NextAt.After(s.Mark)"},
	{"an edit undoes a pause by hand", rules, "case paused == s.PausedDeclared:", "case false:"},
	{"a schedule's owner is not looked at", rules, "case s.living() && s.Owner != owner:", "case false:"},
	{"a lost update is not refused", "../../store/ifrevision.go", "case revision != ifRevision:", "case false:"},
	{"an old sync undoes a newer one", owners, `case r.Host == "" && r.SyncRevision < o.Revision:`, "case false:"},
	{"a copy that has not changed undoes a change", owners, "case known && !c.same(last):", "case known:"},
	{
		"the first copy of a host is a change", owners, "return !declared && (!known || o.Version.Host != \"\")",
		"return !known || !declared && o.Version.Host != \"\"",
	},
	{
		"a calendar changes while a slot is due", rows + "calendars.go",
		"if !user.NextAt.IsZero() && !user.NextAt.After(now) {", "if user.NextAt.IsZero() && user.NextAt.After(now) {",
	},
	{"a calendar's change gives schedules no new revision", "sql/revise_schedules.sql", "revision + 1", "revision + 0"},
	{
		"pruning forgets the age", "prune.go", `return s.pruneJobsBefore(ctx, name, now.Add(-keep), limit, now)`,
		`return s.pruneJobsBefore(ctx, name, now.Add(keep), limit, now)`,
	},
}
