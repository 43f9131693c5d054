package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// dependentsOf inserts jobs, claims them, and inserts a job that waits for their success.
func dependentsOf(t *testing.T, b *Backend, n int) (claims []store.Claimed, dependent int64) {
	t.Helper()
	node := register(t, b)
	insertN(t, b, n)
	claims = claimN(t, b, node, n)
	return claims, insertAfter(t, b, claims...)
}

func insertAfter(t *testing.T, b *Backend, claims ...store.Claimed) int64 {
	t.Helper()
	job := noop(1)
	for _, c := range claims {
		job[0].After = append(job[0].After, store.Edge{Job: c.ID})
	}
	res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: job})
	must(t, err)
	return res.Jobs[0].ID
}

// endQuietly ends a job as a node that dies directly after the commit.
func endQuietly(t *testing.T, b *Backend, c store.Claimed) {
	t.Helper()
	endQuietlyAs(t, b, c, store.Completed)
}

func endQuietlyAs(t *testing.T, b *Backend, c store.Claimed, result store.Result) {
	t.Helper()
	must(t, b.work(t.Context(), nodeConns, "end a job")(func(tx pgx.Tx) error {
		outcomes := []store.Outcome{{ID: c.ID, Token: c.Token, Result: result}}
		did, err := b.finish(t.Context(), tx, store.FinishRequest{Outcomes: outcomes}, outcomes)
		if !did.releases {
			t.Error("the end of a job with dependents is reported")
		}
		return err
	}))
}

func wantState(t *testing.T, b *Backend, id int64, want store.State, rule string) {
	t.Helper()
	jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}, Limit: 1})
	must(t, err)
	if len(jobs) != 1 || jobs[0].State != want {
		t.Errorf("%s: %+v", rule, jobs)
	}
}

// stillWaits fails the test if something is done within a moment.
func stillWaits(t *testing.T, done <-chan error, rule string) {
	t.Helper()
	select {
	case err := <-done:
		t.Fatalf("%s: it did not wait (%v)", rule, err)
	case <-time.After(200 * time.Millisecond):
	}
}

// TestReleaseAfterDeath lets the node die between the outcome and the release.
func TestReleaseAfterDeath(t *testing.T) {
	b := fresh(t)
	claims, dependent := dependentsOf(t, b, 1)
	endQuietly(t, b, claims[0])
	wantState(t, b, dependent, store.StateWaiting, "between outcome and release")
	other := register(t, b)
	beat, err := b.Heartbeat(t.Context(), store.HeartbeatRequest{Node: other})
	must(t, err)
	if !beat.Releases {
		t.Error("a heartbeat of another node reads that there is a note")
	}
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	wantState(t, b, dependent, store.StateReady, "released by another node")
	beat, err = b.Heartbeat(t.Context(), store.HeartbeatRequest{Node: other})
	must(t, err)
	if beat.Releases {
		t.Error("the note is carried out")
	}
}

// TestTwoStepsDecideTheLastEdges lets two transactions decide one edge each: the second
// finds what the first did.
func TestTwoStepsDecideTheLastEdges(t *testing.T) {
	b := fresh(t)
	claims, dependent := dependentsOf(t, b, 2)
	endQuietly(t, b, claims[0])
	endQuietly(t, b, claims[1])
	step := func(tx pgx.Tx) error {
		_, _, err := rowwise.ReleaseDependents(t.Context(), &notesTx{edgesTx: edgesTx{b, tx}, rows: 1, patient: true}, 0, time.Now())
		return err
	}
	done := make(chan error, 1)
	must(t, b.work(t.Context(), nodeConns, "the first step")(func(tx pgx.Tx) error {
		if err := step(tx); err != nil {
			return err
		}
		go func() { done <- b.work(context.WithoutCancel(t.Context()), nodeConns, "the second step")(step) }()
		stillWaits(t, done, "the second step waits for the dependent")
		return nil
	}))
	must(t, <-done)
	wantState(t, b, dependent, store.StateReady, "both edges are decided")
	for range 2 {
		must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	}
	if claims := claimN(t, b, register(t, b), 1); claims[0].ID != dependent {
		t.Errorf("claimed %+v", claims)
	}
}

// TestInsertDuringAnEnd inserts a dependent while a transaction ends its predecessor.
func TestInsertDuringAnEnd(t *testing.T) {
	for name, commit := range map[string]bool{"commit": true, "rollback": false} {
		t.Run(name, func(t *testing.T) {
			b := fresh(t)
			node := register(t, b)
			insertN(t, b, 1)
			claim := claimN(t, b, node, 1)[0]
			tx, err := newPool(t).Begin(t.Context())
			must(t, err)
			outcome := store.Outcome{ID: claim.ID, Token: claim.Token, Result: store.Completed}
			_, err = b.Finish(t.Context(), store.FinishRequest{Tx: Tx(tx), Outcomes: []store.Outcome{outcome}})
			must(t, err)
			done := make(chan error, 1)
			var dependent int64
			go func() {
				job := noop(1)
				job[0].After = []store.Edge{{Job: claim.ID}}
				res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: job})
				if err == nil {
					dependent = res.Jobs[0].ID
				}
				done <- err
			}()
			stillWaits(t, done, "the insert waits for the end")
			if commit {
				must(t, tx.Commit(t.Context()))
				must(t, <-done)
				wantState(t, b, dependent, store.StateReady, "the end is read")
				return
			}
			must(t, tx.Rollback(t.Context()))
			must(t, <-done)
			wantState(t, b, dependent, store.StateWaiting, "there was no end")
			_, err = b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{outcome}})
			must(t, err)
			wantState(t, b, dependent, store.StateReady, "the end releases")
		})
	}
}

// TestEndDuringAnInsert ends a job while a transaction inserts its dependent: the end waits,
// and finds that it has one.
func TestEndDuringAnInsert(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	insertN(t, b, 1)
	claim := claimN(t, b, node, 1)[0]
	done := make(chan error, 1)
	var dependent int64
	must(t, b.work(t.Context(), programConns, "insert")(func(tx pgx.Tx) error {
		job := noop(1)
		job[0].After = []store.Edge{{Job: claim.ID}}
		out, err := rowwise.InsertLinked(t.Context(), edgesTx{b, tx}, store.InsertRequest{Jobs: job}, job, time.Now(), func(jobs []store.NewJob) ([]store.Inserted, error) {
			return b.insertionIn(tx, time.Time{}).insert(t.Context(), jobs)
		})
		if err != nil {
			return err
		}
		dependent = out.Jobs[0].ID
		go func() {
			_, err := b.Finish(context.WithoutCancel(t.Context()), store.FinishRequest{Outcomes: []store.Outcome{{ID: claim.ID, Token: claim.Token, Result: store.Completed, Alone: true}}})
			done <- err
		}()
		stillWaits(t, done, "the end waits for the insert")
		return nil
	}))
	must(t, <-done)
	wantState(t, b, dependent, store.StateReady, "the end finds the dependent")
}

// TestLinksAfterDeath lets the node die after the insert of a job with many predecessors, and after
// each step that links them. Predecessors end between the steps of other nodes.
func TestLinksAfterDeath(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	const n = 2*rowwise.ReleaseNotes + 500
	insertN(t, b, n)
	claims := claimN(t, b, node, n)
	job := noop(1)
	for _, c := range claims {
		job[0].After = append(job[0].After, store.Edge{Job: c.ID})
	}
	var dependent int64
	must(t, b.work(t.Context(), programConns, "insert")(func(tx pgx.Tx) error {
		out, err := rowwise.InsertLinked(t.Context(), edgesTx{b, tx}, store.InsertRequest{Jobs: job}, job, time.Now(), func(jobs []store.NewJob) ([]store.Inserted, error) {
			return b.insertionIn(tx, time.Time{}).insert(t.Context(), jobs)
		})
		if err == nil {
			dependent = out.Jobs[0].ID
		}
		if locked := count(t, b, "select count(*) from (select from {schema}.job for update skip locked) as free"); locked != n {
			t.Errorf("%d of %d predecessors are free during the insert", locked, n)
		}
		return err
	}))
	left := slices.Clone(claims)
	more := true
	for steps := 0; more; steps++ {
		beat, err := b.Heartbeat(t.Context(), store.HeartbeatRequest{Node: node})
		must(t, err)
		if steps < 3 && !beat.Releases {
			t.Error("a heartbeat reads that there are notes")
		}
		for _, place := range []int{len(left) - 1, len(left) / 2, 0} { // linked, and not linked yet
			if steps > 3 {
				break
			}
			c := left[place]
			left = slices.Delete(left, place, place+1)
			outcome := []store.Outcome{{ID: c.ID, Token: c.Token, Result: store.Completed}}
			must(t, b.work(t.Context(), nodeConns, "end a job")(func(tx pgx.Tx) error {
				_, err := b.finish(t.Context(), tx, store.FinishRequest{Outcomes: outcome}, outcome)
				return err
			}))
		}
		must(t, b.work(t.Context(), nodeConns, "a step")(func(tx pgx.Tx) (err error) {
			_, more, err = rowwise.ReleaseDependents(t.Context(), &notesTx{edgesTx: edgesTx{b, tx}, rows: 1, patient: true}, 0, time.Now())
			return err
		}))
		if steps > 20 {
			t.Fatal("the steps do not end")
		}
	}
	wantState(t, b, dependent, store.StateWaiting, "some predecessors have not ended")
	finishAll(t, b, left, len(left))
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	wantState(t, b, dependent, store.StateReady, "all predecessors have ended")
	if open := count(t, b, "select count(*) from {schema}.edge where state <> 1"); open != 0 {
		t.Errorf("%d edges are not decided", open)
	}
}

// TestLinkOfALockedPredecessor keeps a predecessor locked in a program's transaction: the enqueue of a
// job with many predecessors does not wait for it, and it is linked when the lock is gone.
func TestLinkOfALockedPredecessor(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	const n = rowwise.ReleaseNotes + 500
	insertN(t, b, n)
	claims := claimN(t, b, node, n)
	tx, err := newPool(t).Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), withSchema("select from {schema}.job where id = $1 for update", b.schema), claims[0].ID)
	must(t, err)
	began := time.Now()
	dependent := insertAfter(t, b, claims...)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the enqueue took %v", took)
	}
	if linked := count(t, b, "select count(*) from {schema}.job where releases"); linked != 500 {
		t.Errorf("%d predecessors are linked", linked)
	}
	finishAll(t, b, claims[1:], n-1)
	wantState(t, b, dependent, store.StateWaiting, "the locked predecessor has not ended")
	must(t, tx.Rollback(t.Context()))
	finishAll(t, b, claims[:1], 1)
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	wantState(t, b, dependent, store.StateReady, "all predecessors have ended")
}

// TestLockedDependent keeps a dependent locked in a program's transaction: outcomes do not
// wait for it, nor do the dependents of other jobs.
func TestLockedDependent(t *testing.T) {
	b := fresh(t)
	claims, dependent := dependentsOf(t, b, 1)
	tx, err := newPool(t).Begin(t.Context())
	must(t, err)
	_, err = b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Tx: Tx(tx), Action: store.CancelJobs, IDs: []int64{dependent}})
	must(t, err)
	insertN(t, b, 1)
	node := register(t, b)
	claims = append(claims, claimN(t, b, node, 1)...)
	other := insertAfter(t, b, claims[1])
	began := time.Now()
	for _, c := range claims {
		_, err = b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{{ID: c.ID, Token: c.Token, Result: store.Completed, Alone: true}}})
		must(t, err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the outcomes took %v", took)
	}
	wantState(t, b, other, store.StateReady, "another dependent is released")
	wantState(t, b, dependent, store.StateWaiting, "the locked dependent waits")
	must(t, tx.Rollback(t.Context()))
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	wantState(t, b, dependent, store.StateReady, "it is released when the lock is gone")
}

// TestLockedDependentsOfOneBatch keeps some dependents of jobs that end together locked, also
// some of the many dependents of one job: the other dependents do not wait for them.
func TestLockedDependentsOfOneBatch(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	const n = 5
	insertN(t, b, n)
	claims := claimN(t, b, node, n)
	var locked, free []int64
	for i, c := range claims {
		locked, free = append(locked, insertAfter(t, b, c)), append(free, insertAfter(t, b, c))
		if i%2 == 0 { // both notes with and without locked dependents
			free = append(free, locked[len(locked)-1])
			locked = locked[:len(locked)-1]
		}
	}
	many := make([]store.NewJob, rowwise.ReleaseRows+500)
	for i := range many {
		many[i] = noop(1)[0]
		many[i].After = []store.Edge{{Job: claims[n-1].ID}}
	}
	res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: many})
	must(t, err)
	for i, job := range res.Jobs {
		if i%100 == 7 {
			locked = append(locked, job.ID)
		} else {
			free = append(free, job.ID)
		}
	}
	tx, err := newPool(t).Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), withSchema("select from {schema}.job where id = any ($1) for update", b.schema), locked)
	must(t, err)
	finishAll(t, b, claims, n)
	wantStates(t, b, free, store.StateReady, "dependents that are free are released")
	wantStates(t, b, locked, store.StateWaiting, "dependents that are locked wait")
	for range 2 { // notes that were left before are left again
		must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	}
	must(t, tx.Rollback(t.Context()))
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	wantStates(t, b, locked, store.StateReady, "they are released when the locks are gone")
	if left := count(t, b, "select count(*) from {schema}.release"); left != 0 {
		t.Errorf("%d rows of notes are left", left)
	}
}

func wantStates(t *testing.T, b *Backend, ids []int64, want store.State, rule string) {
	t.Helper()
	n, err := b.CountJobs(t.Context(), store.CountJobsRequest{JobFilter: store.JobFilter{IDs: ids, States: []store.State{want}}})
	must(t, err)
	if n != int64(len(ids)) {
		t.Errorf("%s: %d of %d are %v", rule, n, len(ids), want)
	}
}

// TestNotesInAnyOrder lets a job fail, be retried by hand and complete before any of the three notes
// is carried out, and carries them out in any order. Only the first note may release the job that waits
// for the failure.
func TestNotesInAnyOrder(t *testing.T) {
	for _, order := range [][]int64{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			b := fresh(t)
			node := register(t, b)
			claims, dependent := dependentsOf(t, b, 1)
			last := insertOn(t, b, dependent, store.OnSuccess)
			failure := insertOn(t, b, claims[0].ID, store.OnFailure)
			endQuietlyAs(t, b, claims[0], store.Failed)
			retryQuietly(t, b, claims[0].ID)
			late := insertAfter(t, b, claims[0])
			endQuietly(t, b, claimN(t, b, node, 1)[0])
			if notes := count(t, b, "select count(*) from {schema}.release"); notes != 3 {
				t.Fatalf("%d notes", notes)
			}
			first := int64(count(t, b, "select min(id) from {schema}.release"))
			for _, place := range order {
				must(t, releaseOne(t.Context(), b, first+place, nil))
			}
			must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
			wantStates(t, b, []int64{dependent, late}, store.StateReady, "both are released")
			wantState(t, b, last, store.StateWaiting, "the job after one of them")
			want := store.StateNotStarted
			if slices.Index(order, 0) < slices.Index(order, 1) {
				want = store.StateReady
			}
			wantState(t, b, failure, want, "the job that waits for the failure")
			if left := count(t, b, "select count(*) from {schema}.release"); left != 0 {
				t.Errorf("%d notes are left", left)
			}
		})
	}
}

// TestRetryDuringARelease carries out a retry while a step for the first end has read the edges, and has
// not locked the dependents: the step begins again and leaves the edges open.
func TestRetryDuringARelease(t *testing.T) {
	b := fresh(t)
	claims, dependent := dependentsOf(t, b, 1)
	endQuietlyAs(t, b, claims[0], store.Failed)
	retryQuietly(t, b, claims[0].ID)
	first := int64(count(t, b, "select min(id) from {schema}.release"))
	err := releaseOne(t.Context(), b, first, func() { must(t, releaseOne(t.Context(), b, first+1, nil)) })
	if !errors.Is(err, errEdgesDecided) {
		t.Errorf("the step of the first end ended with %v", err)
	}
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	wantState(t, b, dependent, store.StateWaiting, "the job waits for the second end")
	endQuietly(t, b, claimN(t, b, register(t, b), 1)[0])
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	wantState(t, b, dependent, store.StateReady, "the second end counts")
}

// TestReopeningDuringARelease retries a predecessor of a job that was not started while a step decides
// another edge of the job: neither overlooks the other.
func TestReopeningDuringARelease(t *testing.T) {
	for _, releaseFirst := range []bool{true, false} {
		b := fresh(t)
		node := register(t, b)
		claims, dependent := dependentsOf(t, b, 2)
		endQuietlyAs(t, b, claims[0], store.Failed)
		must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
		wantState(t, b, dependent, store.StateNotStarted, "a predecessor failed")
		endQuietly(t, b, claims[1])
		retryQuietly(t, b, claims[0].ID)
		one, two := int64(count(t, b, "select min(id) from {schema}.release")), int64(count(t, b, "select max(id) from {schema}.release"))
		if !releaseFirst {
			one, two = two, one
		}
		done := make(chan error, 1)
		must(t, b.work(t.Context(), nodeConns, "the first step")(func(tx pgx.Tx) error {
			e := &notesTx{edgesTx: edgesTx{b, tx}, rows: 1, patient: true}
			if _, _, err := rowwise.ReleaseDependents(t.Context(), e, one-1, time.Now()); err != nil {
				return err
			}
			go func() { done <- releaseOne(context.WithoutCancel(t.Context()), b, two, nil) }()
			stillWaits(t, done, "the second step waits for the dependent")
			return nil
		}))
		must(t, <-done)
		wantState(t, b, dependent, store.StateWaiting, "it waits again")
		endQuietly(t, b, claimN(t, b, node, 1)[0])
		must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
		wantState(t, b, dependent, store.StateReady, "both predecessors have completed")
	}
}

// TestLockedDependentOfARetry keeps a job that was not started locked in a program's transaction: neither
// retries wait for it, nor the dependents of other jobs.
func TestLockedDependentOfARetry(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	claims, dependent := dependentsOf(t, b, 2)
	free, other := insertAfter(t, b, claims[0]), insertAfter(t, b, claims[1])
	for _, c := range claims {
		endQuietlyAs(t, b, c, store.Failed)
	}
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	tx, err := newPool(t).Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), withSchema("select from {schema}.history where id = $1 for update", b.schema), dependent)
	must(t, err)
	began := time.Now()
	_, err = b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Action: store.RetryJobs, IDs: []int64{claims[0].ID, claims[1].ID}})
	must(t, err)
	wantStates(t, b, []int64{free, other}, store.StateWaiting, "jobs that are free wait again")
	finishAll(t, b, claimN(t, b, node, 2), 2)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the retries and the outcomes took %v", took)
	}
	wantState(t, b, dependent, store.StateNotStarted, "the job that is locked")
	must(t, tx.Rollback(t.Context()))
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	wantStates(t, b, []int64{dependent, free, other}, store.StateReady, "all are released when the lock is gone")
	if left := count(t, b, "select count(*) from {schema}.release"); left != 0 {
		t.Errorf("%d notes are left", left)
	}
}

func insertOn(t *testing.T, b *Backend, id int64, on store.On) int64 {
	t.Helper()
	job := noop(1)
	job[0].After = []store.Edge{{Job: id, On: on}}
	res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: job})
	must(t, err)
	return res.Jobs[0].ID
}

// retryQuietly retries a job as a client that dies directly after the commit.
func retryQuietly(t *testing.T, b *Backend, id int64) {
	t.Helper()
	must(t, b.work(t.Context(), programConns, "retry a job")(func(tx pgx.Tx) error {
		_, err := b.changeJobs(t.Context(), tx, store.ChangeJobsRequest{Action: store.RetryJobs, IDs: []int64{id}})
		return err
	}))
}

// releaseOne carries out the notes of one row. between, if it is not nil, is called before the dependents
// are locked.
func releaseOne(ctx context.Context, b *Backend, id int64, between func()) error {
	return b.work(ctx, nodeConns, "a step")(func(tx pgx.Tx) error {
		e := &steppedTx{notesTx: &notesTx{edgesTx: edgesTx{b, tx}, rows: 1, patient: true}, id: id, between: between}
		_, _, err := rowwise.ReleaseDependents(ctx, e, id-1, time.Now())
		return err
	})
}

// steppedTx carries out the notes of the row with a number only.
type steppedTx struct {
	*notesTx
	id      int64
	between func()
}

func (s *steppedTx) LockNotes(ctx context.Context, after int64, limit int) ([]rowwise.Note, bool, error) {
	notes, _, err := s.notesTx.LockNotes(ctx, after, limit)
	return slices.DeleteFunc(notes, func(note rowwise.Note) bool { return note.ID != s.id }), false, err
}

func (s *steppedTx) LockWaiting(ctx context.Context, ids []int64) ([]rowwise.JobWait, []int64, error) {
	if s.between != nil {
		s.between()
	}
	return s.notesTx.LockWaiting(ctx, ids)
}

// count returns a number that a query reads.
func count(t *testing.T, b *Backend, query string) (n int) {
	t.Helper()
	must(t, b.pool.QueryRow(t.Context(), withSchema(query, b.schema)).Scan(&n))
	return n
}

// heldBy locks jobs in a transaction of another session, until the test calls free.
func heldBy(t *testing.T, b *Backend, ids ...int64) (free func()) {
	t.Helper()
	tx, err := newPool(t).Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), withSchema("select from {schema}.job where id = any ($1) for update", b.schema), ids)
	must(t, err)
	return func() { must(t, tx.Rollback(t.Context())) }
}

func isLocked(t *testing.T, b *Backend, id int64) bool {
	t.Helper()
	_, err := b.pool.Exec(t.Context(), withSchema("select from {schema}.job where id = $1 for update nowait", b.schema), id)
	if err != nil && codeOf(err) != lockNotAvailable {
		t.Fatal(err)
	}
	return err != nil
}

// TestStepsLockInOneOrder lets a step wait for the first of two dependents: it has not
// locked the second. Without an order of locks two steps would wait for each other. The
// job with the greater number is named first.
func TestStepsLockInOneOrder(t *testing.T) {
	b := fresh(t)
	claims, first := dependentsOf(t, b, 2)
	second := insertAfter(t, b, claims...)
	free := heldBy(t, b, first)
	done := make(chan error, 1)
	go func() {
		done <- b.work(context.WithoutCancel(t.Context()), nodeConns, "lock dependents")(func(tx pgx.Tx) error {
			_, _, err := edgesTx{b, tx}.LockWaiting(context.WithoutCancel(t.Context()), []int64{second, first})
			return err
		})
	}()
	stillWaits(t, done, "the step waits for the first dependent")
	if isLocked(t, b, second) {
		t.Error("the step has locked the second dependent before the first")
	}
	free()
	must(t, <-done)
}

// TestInsertLocksInTheOrderOfOutcomes lets an insert wait for the first of two predecessors:
// it has not locked the second, for which a batch of outcomes would wait while it holds the
// first.
func TestInsertLocksInTheOrderOfOutcomes(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	insertN(t, b, 2)
	claims := claimN(t, b, node, 2)
	slices.SortFunc(claims, func(a, b store.Claimed) int { return cmp.Compare(b.ID, a.ID) })
	free := heldBy(t, b, claims[1].ID)
	done := make(chan error, 2)
	go func() {
		job := noop(1)
		job[0].After = []store.Edge{{Job: claims[0].ID}, {Job: claims[1].ID}}
		_, err := b.Insert(context.WithoutCancel(t.Context()), store.InsertRequest{Jobs: job})
		done <- err
	}()
	stillWaits(t, done, "the insert waits for the first predecessor")
	if isLocked(t, b, claims[0].ID) {
		t.Error("the insert has locked the second predecessor before the first")
	}
	go func() {
		var outcomes []store.Outcome
		for _, c := range claims {
			outcomes = append(outcomes, store.Outcome{ID: c.ID, Token: c.Token, Result: store.Completed, Alone: true})
		}
		_, err := b.Finish(context.WithoutCancel(t.Context()), store.FinishRequest{Outcomes: outcomes})
		done <- err
	}()
	stillWaits(t, done, "the outcomes wait for the first predecessor")
	free()
	must(t, <-done)
	must(t, <-done)
	if ready := count(t, b, "select count(*) from {schema}.job where state = 0"); ready != 1 {
		t.Errorf("%d jobs are ready, not the dependent", ready)
	}
}

// TestClaimDuringAnInsert claims while a transaction has locked a due job to give it a
// dependent. The claim leaves the job out, and the commit wakes the node again.
func TestClaimDuringAnInsert(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	insertN(t, b, 1)
	id := int64(count(t, b, "select id from {schema}.job"))
	wakes, _ := listening(t, b)
	must(t, b.work(t.Context(), programConns, "insert")(func(tx pgx.Tx) error {
		if _, err := (edgesTx{b, tx}).LockPredecessors(t.Context(), []int64{id}, time.Time{}); err != nil {
			return err
		}
		if claims := claimN(t, b, node, 1); len(claims) != 0 {
			t.Errorf("claimed %+v, which is locked", claims)
		}
		return nil
	}))
	for deadline := time.After(10 * time.Second); ; {
		select {
		case w := <-wakes:
			if w.Kind == store.WakeJobs && w.Queue == "q" {
				return
			}
		case <-deadline:
			t.Fatal("nodes were not woken after the commit")
		}
	}
}

// TestStepsAreNotQuadratic bounds the rows that the plans of a step visit, with the most
// notes and dependents of a step: pinned plans that search all rows of a batch for each row
// would visit a million.
func TestStepsAreNotQuadratic(t *testing.T) {
	p := newCrowd(t)
	for name, fanOut := range map[string]bool{"fan-out": true, "fan-in": false, "pairs": false} {
		const n = rowwise.ReleaseRows - 1
		insertN(t, p.b, n)
		claims := claimN(t, p.b, p.node, n)
		var jobs []store.NewJob
		switch {
		case fanOut:
			jobs = noop(n)
			for i := range jobs {
				jobs[i].After = []store.Edge{{Job: claims[0].ID}}
			}
		case name == "pairs":
			jobs = noop(n)
			for i := range jobs {
				jobs[i].After = []store.Edge{{Job: claims[i].ID}}
			}
		default:
			jobs = noop(1)
			for _, c := range claims {
				jobs[0].After = append(jobs[0].After, store.Edge{Job: c.ID})
			}
		}
		_, err := p.b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
		must(t, err)
		plans := p.during(func() { finishAll(t, p.b, claims, n) })
		visited := plans.visited()
		t.Logf("%s: %.0f rows, %d pages for %d dependents (%s)", name, visited, plans.pages(), n, p.spent(plans))
		if visited > 40*n {
			t.Errorf("%s: the plans visit %.0f rows for %d dependents\n%s", name, visited, n, plans)
		}
		finishAll(t, p.b, claimN(t, p.b, p.node, len(jobs)), len(jobs))
	}
}
