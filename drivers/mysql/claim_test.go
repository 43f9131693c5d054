package mysql

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// openClaim makes a claim in a transaction that stays open, and returns the jobs.
func openClaim(t *testing.T, b *Backend, db *sql.DB, req store.ClaimRequest) []store.Claimed {
	t.Helper()
	tokens, err := b.takeTokens(t.Context(), "claim jobs", req.Limit)
	must(t, err)
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	must(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	s := b.newSession(tx)
	s.impatient, s.firstToken = true, tokens
	open := func(do func(*session) error) error { return do(s) }
	out, err := rowwise.Claim(t.Context(), b.look(t.Context(), "claim jobs"), open, req, store.ClaimWay{Last: true, RowLocks: true})
	must(t, err)
	return out.Jobs
}

// soon is a claim that must not wait for locks.
func soon(t *testing.T, b *Backend, req store.ClaimRequest) store.ClaimResult {
	t.Helper()
	call, cancel := context.WithTimeout(t.Context(), lockWait/3)
	defer cancel()
	res, err := b.Claim(call, req)
	must(t, err)
	return res
}

// TestClaimsDoNotWaitForEachOther: while a claim is open, claims of other nodes take other jobs, with greater tokens, although limits
// concern the jobs.
func TestClaimsDoNotWaitForEachOther(t *testing.T) {
	b, db := fresh(t)
	first, second := register(t, b, time.Hour), register(t, b, time.Hour)
	insertPlain(t, b, 2)
	claim := func(node int64) store.ClaimRequest {
		return store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k", "limited"}, Limit: 1}
	}
	before := openClaim(t, b, db, claim(first))
	after := soon(t, b, claim(second)).Jobs
	if len(before) != 1 || len(after) != 1 || before[0].ID == after[0].ID || before[0].Token >= after[0].Token {
		t.Errorf("a claim took %+v, and then another %+v", before, after)
	}
}

// TestAClaimUsesNoStaleTokens: tokens that were taken for a claim are not given to a job that has got a greater token since.
func TestAClaimUsesNoStaleTokens(t *testing.T) {
	b, db := fresh(t)
	node := register(t, b, time.Hour)
	insertPlain(t, b, 1)
	stale, err := b.takeTokens(t.Context(), "claim jobs", 10)
	must(t, err)
	claimed := claimPlain(t, b, node, 1)
	_, err = b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{{ID: claimed[0].ID, Token: claimed[0].Token, Result: store.Release}}})
	must(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback()
	s := b.newSession(tx)
	s.firstToken = stale
	jobs, _, err := s.TakeJobs(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 1}, []rowwise.Stream{{Priority: 1, First: time.Now().Add(-time.Minute)}}, false, time.Now().Add(time.Minute))
	must(t, err)
	if len(jobs) != 1 || jobs[0].ID != claimed[0].ID || jobs[0].Token <= claimed[0].Token {
		t.Errorf("a job with the token %d was claimed as %+v", claimed[0].Token, jobs)
	}
}

// TestAClaimDoesNotWaitForLanes: while another transaction has locked the lane of a limit, a claim takes the jobs that the limit does not
// concern, and comes back soon for the others.
func TestAClaimDoesNotWaitForLanes(t *testing.T) {
	b, db := fresh(t)
	node := register(t, b, time.Hour)
	_, err := b.Put(t.Context(), store.PutRequest{Limits: []store.PutLimit{{Limit: store.Limit{Name: "l", Kind: "limited", Concurrency: 2}}}})
	must(t, err)
	insert := func(kind string) int64 {
		t.Helper()
		res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: kind, Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 5}}}})
		must(t, err)
		return res.IDs()[0]
	}
	claim := store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k", "limited"}, Limit: 10}
	insert("limited") // makes the lane
	if res := soon(t, b, claim); len(res.Jobs) != 1 {
		t.Fatalf("a claim took %+v", res.Jobs)
	}
	limited, plain := insert("limited"), insert("k")
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback()
	_, err = tx.ExecContext(t.Context(), "UPDATE hourbell_lane SET used = used")
	must(t, err)
	_, err = tx.ExecContext(t.Context(), "SELECT id FROM hourbell_lane FOR UPDATE")
	must(t, err)
	res := soon(t, b, claim)
	if wait := res.NextDue.Sub(res.Now); len(res.Jobs) != 1 || res.Jobs[0].ID != plain || res.NextDue.IsZero() || wait > busyLanes {
		t.Errorf("while the lane was locked, a claim took %+v, and comes back in %v", res.Jobs, wait)
	}
	must(t, tx.Rollback())
	if res := soon(t, b, claim); len(res.Jobs) != 1 || res.Jobs[0].ID != limited {
		t.Errorf("a claim took %+v, want job %d", res.Jobs, limited)
	}
}

// TestClaimsThatParkDoNotWaitForEachOther: while a transaction parks the jobs of a paused group, a claim takes other jobs.
func TestClaimsThatParkDoNotWaitForEachOther(t *testing.T) {
	b, db := fresh(t)
	node := register(t, b, time.Hour)
	pause(t, b, store.PutPause{Subject: store.SubjectGroup, Name: "g"})
	_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Group: "g", Args: []byte("{}"), Priority: 5, MaxAttempts: 5}}}})
	must(t, err)
	plain := insertPlain(t, b, 1)
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	must(t, err)
	defer tx.Rollback()
	parked, err := b.newSession(tx).ParkJobs(t.Context(), time.Now().Add(time.Minute))
	must(t, err)
	res := soon(t, b, store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10})
	if parked != 1 || len(res.Jobs) != 1 || res.Jobs[0].ID != plain[0] {
		t.Errorf("%d jobs were parked, and a claim took %+v", parked, res.Jobs)
	}
}
