package postgres

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/lib/pq"

	"github.com/hourbell/hourbell/store"
)

// programTx is an open transaction of a program.
type programTx struct {
	tx       store.Tx
	commit   func() error
	rollback func() error
	exec     func(text string) error
}

// programTxs begin transactions as programs do: with pgx, with pgx's stdlib in several
// modes, and with lib/pq.
func programTxs(t *testing.T) map[string]func(t *testing.T) programTx {
	t.Helper()
	pool := newPool(t)
	begin := map[string]func(t *testing.T) programTx{"pgx": func(t *testing.T) programTx {
		tx, err := pool.Begin(t.Context())
		must(t, err)
		return programTx{
			Tx(tx), func() error { return tx.Commit(t.Context()) }, func() error { return tx.Rollback(t.Context()) },
			func(text string) error { _, err := tx.Exec(t.Context(), text); return err },
		}
	}}
	pq, err := sql.Open("postgres", urlFrom(t, serverVariable))
	must(t, err)
	t.Cleanup(func() { pq.Close() })
	for name, db := range map[string]*sql.DB{
		"lib/pq": pq, "stdlib": openSQL(t, "cache_statement"),
		"stdlib, exec": openSQL(t, "exec"), "stdlib, simple protocol": openSQL(t, "simple_protocol"),
	} {
		begin[name] = func(t *testing.T) programTx {
			tx, err := db.BeginTx(t.Context(), nil)
			must(t, err)
			return programTx{SQLTx(tx), tx.Commit, tx.Rollback, func(text string) error { _, err := tx.ExecContext(t.Context(), text); return err }}
		}
	}
	return begin
}

// TestEveryDriverRunsTheSameOperations does the same by each driver and compares what is
// stored with what a transaction of the Backend stores.
func TestEveryDriverRunsTheSameOperations(t *testing.T) {
	b := fresh(t)
	own, err := b.pool.BeginTx(t.Context(), pgx.TxOptions{})
	must(t, err)
	want := changedBy(t, b, own, func() { must(t, own.Commit(t.Context())) })
	for name, begin := range programTxs(t) {
		t.Run(name, func(t *testing.T) {
			b := fresh(t)
			program := begin(t)
			q, err := querierOf(program.tx)
			must(t, err)
			if got := changedBy(t, b, q, func() { must(t, program.commit()) }); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

// changedBy does one of each operation in one transaction, and returns in text what is
// stored afterwards.
func changedBy(t *testing.T, b *Backend, tx querier, commit func()) string {
	t.Helper()
	ctx, now, node := t.Context(), time.Date(2030, 1, 1, 0, 0, 0, 123456000, time.UTC), register(t, b)
	const name, other = `it's "{},\`, "ö"
	_, err := b.Put(ctx, store.PutRequest{Now: now, Calendars: []store.PutCalendar{{Name: name, Definition: []byte("{}")}}})
	must(t, err)
	put, err := b.PutSchedules(ctx, store.PutSchedulesRequest{Now: now.Add(-time.Hour), Schedules: []store.PutSchedule{{Name: other, Definition: []byte("{}")}}})
	must(t, err)
	rows, err := store.List[store.Schedule](ctx, b, store.ListRequest{Names: []string{other}, Limit: 1})
	must(t, err)
	_, err = b.Fire(ctx, store.FireRequest{Now: now, Firings: []store.Firing{{
		Schedule: rows[0].ID, Revision: put.Revisions[0], Mark: rows[0].Mark, NextAt: rows[0].NextAt, NewMark: now, NewNextAt: now.Add(time.Hour),
		After: &store.FollowUp{Schedule: rows[0].ID, JobFailed: true},
	}}})
	must(t, err)
	jobs := append(noop(6), oddJobs()[0])
	jobs[5].Delay = time.Hour
	jobs[0].Schedule, jobs[1].Schedule, jobs[1].Waiting, jobs[1].Slot, jobs[0].Slot = rows[0].ID, rows[0].ID, true, now, now
	inserted, err := b.Insert(ctx, store.InsertRequest{Now: now, Jobs: jobs})
	must(t, err)
	ids := inserted.IDs()
	claimed, err := b.Claim(ctx, store.ClaimRequest{Now: now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 4})
	must(t, err)
	if len(claimed.Jobs) != 4 {
		t.Fatalf("claimed %d jobs", len(claimed.Jobs))
	}

	answers := []any{}
	do := func(answer any, err error) {
		t.Helper()
		must(t, err)
		answers = append(answers, answer)
	}
	change := func(action store.JobAction, ids ...int64) {
		t.Helper()
		do(b.changeJobs(ctx, tx, store.ChangeJobsRequest{Now: now, Action: action, IDs: ids, Reason: `be"cause`}))
	}
	outcomes := []store.Outcome{
		{ID: claimed.Jobs[0].ID, Token: claimed.Jobs[0].Token, Result: store.Failed, Error: `"x\`, Output: []byte{0, 1, '"', 255}, After: &store.FollowUp{Schedule: rows[0].ID, JobFailed: true}},
		{ID: claimed.Jobs[1].ID, Token: claimed.Jobs[1].Token, Result: store.Retry, Error: "e", Delay: time.Minute},
		{ID: claimed.Jobs[2].ID, Token: claimed.Jobs[2].Token + 1, Result: store.Completed},
	}
	finished, err := b.finish(ctx, tx, store.FinishRequest{Now: now, Outcomes: outcomes}, outcomes)
	do(finished.out, err)
	change(store.CancelJobs, claimed.Jobs[2].ID, ids[6], 1<<40)
	change(store.RetryJobs, claimed.Jobs[0].ID, ids[5], ids[6])
	change(store.DeleteJobs, claimed.Jobs[1].ID)
	do(b.putSchedules(ctx, tx, store.PutSchedulesRequest{Now: now, Owner: "o", SyncRevision: 3, Schedules: []store.PutSchedule{{Name: name, Definition: []byte(`{"a":"\"ü"}`), Calendars: []string{name}, Paused: true}}}))
	do(b.putSchedules(ctx, tx, store.PutSchedulesRequest{Now: now, Owner: "o", SyncRevision: 4, Schedules: []store.PutSchedule{{Name: name, Definition: []byte(`{}`)}}}))
	pause := store.ChangeSchedulesRequest{Now: now, Action: store.PauseSchedules, Names: []string{other, name}, Until: now.Add(time.Hour)}
	do(nil, b.changeSchedules(ctx, tx, pause))
	do(nil, b.changeSchedules(ctx, tx, store.ChangeSchedulesRequest{Now: now, Action: store.ResumeSchedules, Names: []string{name}}))
	do(nil, b.changeSchedules(ctx, tx, store.ChangeSchedulesRequest{Now: now, Action: store.DeleteSchedules, Names: []string{other}}))
	if _, err := b.putSchedules(ctx, tx, store.PutSchedulesRequest{Now: now, Owner: "o", SyncRevision: 1}); !errors.Is(err, store.ErrStale) {
		t.Errorf("an older sync: %v", err)
	}
	commit()

	stored, err := b.ListJobs(ctx, store.ListJobsRequest{Limit: 100, Attempts: true})
	must(t, err)
	all, err := store.List[store.Schedule](ctx, b, store.ListRequest{Limit: 100, Deleted: true})
	must(t, err)
	users, err := store.List[store.Schedule](ctx, b, store.ListRequest{Limit: 100, Calendar: name})
	must(t, err)
	return text(answers) + text(stored) + text(all) + text(users)
}
