package main

// The faults of each driver. Each is one line that somebody could get wrong
// and that breaks a promise.

// rules is the file of what drivers share.
const rules = "../../store/rules.go"

var postgresFaults = []fault{
	{"a claim takes jobs that run", "sql/claim_jobs.sql", "AND NOT j.running AND", "AND"},
	{"a claim takes kinds nobody asked for", "sql/claim_jobs.sql", "j.kind = ANY ($4::text[])", "j.kind <> ALL ($4::text[] || 'x'::text) IS NOT NULL"},
	{"a claim compares with the node's clock", "claim.go", `batch.Queue(b.q("claim_jobs"), when(req.Now), req.Node`, `batch.Queue(b.q("claim_jobs"), when(time.Now().Add(0)), req.Node`},
	{"a claim does not hold its node", "sql/hold_node.sql", "WHERE node = $2::bigint FOR KEY SHARE", "WHERE node = $2::bigint"},
	{"a token is counted for each job alone", "sql/claim_jobs.sql", "greatest(nextval('{schema_text}.token'), token + 1)", "token + 1"},
	{"an insert commits before its caller", "jobs.go", "return querierOf(req.Tx)", "return noTx{b.pool}, nil"},
	{"an outcome counts whatever its token", "sql/finish_jobs.sql", "j.id = o.id AND j.token = o.token", "j.id = o.id"},
	{"a repeated outcome is refused", "sql/find_unrecorded.sql", "h.id = o.id AND h.token = o.token AND h.state = o.state", "h.id = o.id AND h.token = o.token AND h.state <> o.state"},
	{"firing skips the revision check", "sql/lock_firings.sql", "s.revision = f.revision AND ", ""},
	{"firing skips the mark check", "sql/lock_firings.sql", "s.mark = f.mark AND ", ""},
	{"firing does not look whether it is due", "sql/lock_firings.sql", "AND (s.next_at <= coalesce($1::timestamptz, now())) IS TRUE", "AND (coalesce($1::timestamptz, now()) IS NOT NULL)"},
	{"a slot that fired fires again after a reset", "sql/find_fired_slots.sql", "s.outcome = 0)", "s.outcome = 1)"},
	{"a node not heard lately rescues", "sql/expire_nodes.sql", "* 2 BETWEEN -asker.lease AND asker.lease", "IS NOT NULL"},
	{"a rescue takes jobs from the living", "sql/expire_nodes.sql", "seen_at + lease <= coalesce($1::timestamptz, now())", "seen_at + lease <= coalesce($1::timestamptz, now()) + interval '1 year'"},
	{"a rescue forgets on_loss", "nodes.go", "case job.onLoss == store.OnLossFail || job.attempt >= job.maxAttempts:", "case job.attempt >= job.maxAttempts:"},
	{"leaving does not refund the attempt", "nodes.go", `b.q("leave_node"), req.Now, req.Node, 1)`, `b.q("leave_node"), req.Now, req.Node, 0)`},
	{"an edit moves the mark back", rules, "if s.Mark.Before(now) {", "if s.Mark.After(now) {"},
	{"an edit drops a due slot", rules, "!s.NextAt.IsZero() && s.NextAt.After(s.Mark) && !s.NextAt.After(now)", "false"},
	{"an edit undoes a pause by hand", rules, "case paused == s.PausedDeclared:", "case false:"},
	{"a schedule's owner is not looked at", rules, "case s.living() && s.Owner != owner:", "case false:"},
	{"a lost update is not refused", rules, "case put.IfRevision != 0 && (!s.living() || s.Revision != put.IfRevision):", "case false:"},
	{"an old sync undoes a newer one", "sql/sync_owner.sql", " WHERE owner.revision <= excluded.revision", ""},
	{"pruning forgets the age", "sql/prune_jobs.sql", "h.finished_at < coalesce($1::timestamptz, now()) - $3::bigint * interval '1 microsecond'", "h.finished_at < coalesce($1::timestamptz, now()) + $3::bigint * interval '1 microsecond'"},
}

var sqliteFaults = []fault{
	{"a claim takes jobs that run", "sql/claim.sql", "WHERE state = 0 AND queue = :queue", "WHERE state IN (0, 2) AND queue = :queue"},
	{"a claim takes kinds nobody asked for", "sql/claim.sql", "AND kind IN (SELECT value FROM json_each(:kinds))", "AND json_valid(:kinds)"},
	{"now is the node's clock", "tx.go", "	if !asked.IsZero() {\n		return instant(asked), nil\n	}", "	if !asked.IsZero() {\n		return instant(time.Now()), nil\n	}"},
	{"a dead node claims", "sql/node_alive.sql", "id = :node AND ended_at IS NULL", "id = :node"},
	{"a token is counted for each job alone", "sql/claim.sql", "max((SELECT value FROM hourbell_counter WHERE name = 'token'), j.token) + due.place", "j.token + 1"},
	{"an insert commits before its caller", "tx.go", "return b.explain(ctx, doing, work(&session{tx: callers.tx, texts: b.texts}))", "defer func() { _ = callers.tx.Commit() }()\n	return b.explain(ctx, doing, work(&session{tx: callers.tx, texts: b.texts}))"},
	{"an outcome counts whatever its token", "sql/finish_check.sql", " AND j.token = o.value ->> 'token'", ""},
	{"a repeated outcome is refused", "finish.go", "recorded[k] = state == endState(outcomes[unknown[k]].Result)", "recorded[k] = state != endState(outcomes[unknown[k]].Result)"},
	{"firing skips the revision check", "fire.go", "return d.revision == f.Revision && d.mark", "return d.mark"},
	{"firing skips the mark check", "fire.go", "d.mark.Equal(instant(f.Mark)) && ", ""},
	{"firing does not look whether it is due", "sql/fire_rows.sql", " AND +s.next_at <= :now", " AND :now IS NOT NULL"},
	{"a slot that fired fires again after a reset", "sql/fire_fired.sql", "AND r.outcome = 0", "AND r.outcome = 1"},
	{"a node not heard lately rescues", "sql/expired_nodes.sql", "abs(:now - asker.seen_at) * 2 <= asker.lease", "asker.seen_at IS NOT NULL"},
	{"a rescue takes jobs from the living", "sql/expired_nodes.sql", "seen_at + lease <= :now", "seen_at + lease <= :now + 1000000000000"},
	{"a rescue forgets on_loss", "nodes.go", "case h.onLoss == store.OnLossFail || h.attempt >= h.maxAttempts:", "case h.attempt >= h.maxAttempts:"},
	{"leaving does not refund the attempt", "nodes.go", "	return 1\n}", "	return 0\n}"},
	{"an edit moves the mark back", rules, "if s.Mark.Before(now) {", "if s.Mark.After(now) {"},
	{"an edit drops a due slot", rules, "!s.NextAt.IsZero() && s.NextAt.After(s.Mark) && !s.NextAt.After(now)", "false"},
	{"an edit undoes a pause by hand", rules, "case paused == s.PausedDeclared:", "case false:"},
	{"a schedule's owner is not looked at", rules, "case s.living() && s.Owner != owner:", "case false:"},
	{"a lost update is not refused", rules, "case put.IfRevision != 0 && (!s.living() || s.Revision != put.IfRevision):", "case false:"},
	{"an old sync undoes a newer one", "schedules.go", "if req.SyncRevision < last {", "if req.SyncRevision < 0 && last < 0 {"},
	{"pruning forgets the age", "prune.go", `err := s.each(ctx, name, args{"before": micros(now.Add(-keep))`, `err := s.each(ctx, name, args{"before": micros(now.Add(keep))`},
}
