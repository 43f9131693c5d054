package postgres

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

func TestMarksFollowWhatIsClaimed(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	job := func(priority int16, seconds int, id int64) store.Claimed {
		return store.Claimed{Priority: priority, RunAt: at(seconds), ID: id}
	}
	horizon := mark{runAt: now.Add(-slack)}
	var s scan

	s.found([]store.Claimed{job(1, -60, 7), job(2, -50, 8), job(2, -40, 9)}, true, now)
	want := marks{0: horizon, 1: {at(-40), 9}}
	if s.low != want {
		t.Errorf("after a full claim that stopped in priority 2:\ngot  %v\nwant %v", s.low, want)
	}
	s.found([]store.Claimed{job(2, -45, 3)}, true, now)
	if want[1] = (mark{at(-45), 3}); s.low != want {
		t.Errorf("after a sweep that stopped behind the mark:\ngot  %v\nwant %v", s.low, want)
	}
	s.found([]store.Claimed{job(5, 0, 20)}, false, now)
	for p := range want {
		want[p] = horizon
	}
	if s.low != want {
		t.Errorf("after a claim that got less than it asked for:\ngot  %v\nwant %v", s.low, want)
	}
	s.found(nil, false, at(-30))
	if s.low != want {
		t.Errorf("after the clock was set back:\ngot  %v\nwant %v", s.low, want)
	}
}

func TestSweepsComeByTheClock(t *testing.T) {
	var s scan
	next := func() step { _, next := s.begin(); return next }
	swept := func(took time.Duration) {
		for range s.costs {
			s.sweptIn(0, took)
		}
	}
	if next() != sweep {
		t.Error("the first claim is no sweep")
	}
	swept(cheapSweep)
	if next() != nothing {
		t.Error("a sweep follows a sweep")
	}
	if wait, over := s.again(0); wait != 0 || over {
		t.Errorf("where one sweep was cheap, the next has to wait %v", wait)
	}
	if wait, _ := s.again(3); wait <= 0 || wait > sweepRest {
		t.Errorf("after a claim with marks that found something, a sweep is due in %v", wait)
	}
	s.swept = s.swept.Add(-2 * sweepRest)
	if next() != nothing {
		t.Error("there was nothing to compare the sweep with, and another follows at once")
	}
	s.used(900, 8*time.Millisecond)
	if next() != sweep {
		t.Error("after a claim with marks no sweep follows")
	}
}

// TestLooksReplaceDearSweeps: where sweeps cost 10 ms, claims are not held up by them.
func TestLooksReplaceDearSweeps(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var s scan
	for range s.costs {
		s.sweptIn(0, cheapSweep+10*time.Millisecond)
	}
	s.found([]store.Claimed{{Priority: 9, RunAt: now, ID: 5}}, false, now)
	if wait, over := s.again(0); over || wait <= 0 || wait > 200*time.Millisecond {
		t.Errorf("after a sweep of 10 ms the next look is due in %v", wait)
	}
	s.swept = s.swept.Add(-200 * time.Millisecond)
	if from, next := s.begin(); next != look || from != s.low {
		t.Errorf("after 200 ms a claim begins at %v with step %v", from, next)
	}
	if _, next := s.begin(); next != nothing {
		t.Error("two looks at a time")
	}
	if wait, over := s.again(0); over || wait < time.Millisecond || wait > 10*time.Millisecond {
		t.Errorf("while a look is under way another claim follows after %v", wait)
	}
	late := mark{runAt: now.Add(-time.Hour), id: 3}
	s.looked(map[int16]mark{2: late}, cheapSweep+10*time.Millisecond, true)
	if _, over := s.again(0); over {
		t.Error("a look found something, and no claim follows")
	}
	want := s.low
	want[1] = mark{runAt: late.runAt, id: 2}
	if from, _ := s.begin(); from != want {
		t.Errorf("after a look that found %v a claim begins at %v", late, from)
	}
	if from, _ := s.begin(); from != s.low {
		t.Errorf("two claims begin at what a look has found once: %v", from)
	}
	s.looked(nil, cheapSweep+10*time.Millisecond, true)
	if wait, over := s.again(0); wait != 0 || !over {
		t.Error("a look found nothing, and claims go on")
	}
	s.found([]store.Claimed{{Priority: 9, RunAt: now, ID: 6}}, false, now)
	if wait, over := s.again(1); over || wait <= 0 {
		t.Error("a claim has found something since, and no look follows")
	}
}

func TestWhatASweepCosts(t *testing.T) {
	for _, c := range []struct {
		usual usual
		jobs  int
		took  time.Duration
		want  time.Duration
	}{
		{usual{1000, 8 * time.Millisecond}, 1000, 10 * time.Millisecond, 2 * time.Millisecond},
		{usual{1000, 8 * time.Millisecond}, 1000, 7 * time.Millisecond, 0},
		{usual{1000, 8 * time.Millisecond}, 500, 50 * time.Millisecond, 46 * time.Millisecond},
		{usual{1, time.Millisecond}, 1000, 15 * time.Millisecond, 4 * time.Millisecond}, // 1 s for 1,000 is not expected
		{usual{}, 1000, 10 * time.Millisecond, 0},
		{usual{}, 0, 10 * time.Millisecond, 9 * time.Millisecond},
	} {
		s := scan{usual: c.usual}
		for range s.costs {
			s.sweptIn(c.jobs, c.took)
		}
		if got := s.cost(); got != c.want {
			t.Errorf("a sweep of %v for %d jobs beside %+v cost %v, want %v", c.took, c.jobs, c.usual, got, c.want)
		}
	}
}

// TestAJobBehindTheMarkIsFound: a transaction that began long ago commits its
// job when claims have passed that place.
func TestAJobBehindTheMarkIsFound(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	ctx := t.Context()
	tx, err := b.pool.Begin(ctx)
	must(t, err)
	defer tx.Rollback(context.WithoutCancel(ctx))
	late, err := b.Insert(ctx, store.InsertRequest{Tx: Tx(tx), Jobs: noop(1)})
	must(t, err)
	time.Sleep(2 * slack)
	insertN(t, b, 10)
	time.Sleep(2 * slack)
	if got := len(claimN(t, b, node, 10)); got != 10 {
		t.Fatalf("claimed %d of 10", got)
	}
	scan := b.scans.of(node, "q")
	for range scan.costs {
		scan.sweptIn(0, 5*time.Millisecond+cheapSweep) // so that the next look is due in 100 ms
	}
	must(t, tx.Commit(ctx))
	req := store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10}
	claim := func() store.ClaimResult {
		res, err := b.Claim(ctx, req)
		must(t, err)
		if len(res.Jobs) == 0 && res.Again > 100*time.Millisecond {
			t.Fatalf("a claim with marks wants to be repeated in %v", res.Again)
		}
		return res
	}
	if res := claim(); len(res.Jobs) != 0 || res.Again == 0 {
		t.Fatalf("a claim with marks: %d jobs, again in %v", len(res.Jobs), res.Again)
	}
	res := claim()
	for tries := 0; len(res.Jobs) == 0; tries++ {
		if res.Again == 0 || tries == 1000 {
			t.Fatalf("claim %d does not want to be repeated", tries)
		}
		time.Sleep(res.Again)
		res = claim()
	}
	if len(res.Jobs) != 1 || res.Jobs[0].ID != late.IDs[0] {
		t.Fatalf("found: %+v", res.Jobs)
	}
	for tries := 0; res.Again > 0; tries++ {
		if tries == 1000 {
			t.Fatal("claims go on though nothing is left")
		}
		time.Sleep(res.Again)
		res = claim()
	}
}

// TestAHeldSnapshotDoesNotSlowClaims counts the pages a claim touches while a
// snapshot keeps the entries of 20,000 jobs that have ended.
func TestAHeldSnapshotDoesNotSlowClaims(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	ctx := t.Context()
	const dead, batch = 20_000, 1_000
	insertN(t, b, dead+batch)
	old, err := b.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	must(t, err)
	defer old.Rollback(context.WithoutCancel(ctx))
	_, err = old.Exec(ctx, "select txid_current(), count(*) from "+withSchema("{schema}.job", b.schema))
	must(t, err)
	for range dead / batch {
		finishAll(t, b, claimN(t, b, node, batch), batch)
	}
	scan := b.scans.of(node, "q")
	with, without := claimPages(t, b, scan.low), claimPages(t, b, marks{})
	t.Logf("pages touched by a claim of 100: %d with marks, %d without", with, without)
	if with > 600 {
		t.Errorf("a claim of 100 jobs touched %d pages", with)
	}
	if without < 2*with {
		t.Errorf("without marks it touched %d pages, so there was nothing to pass over", without)
	}
}

var pagesTouched = regexp.MustCompile(`Buffers: shared hit=(\d+)(?: read=(\d+))?`)

// claimPages counts the pages that a claim of 100 touches, and undoes it.
func claimPages(t *testing.T, b *Backend, from marks) (pages int) {
	t.Helper()
	lowRunAt, lowID := from.columns()
	undo := errors.New("undone")
	err := b.work(t.Context(), program, "explain", func(tx pgx.Tx) error {
		text := "explain (analyze, buffers, timing off) " + b.q("claim_jobs")
		plan, err := collect(t.Context(), tx, pgx.RowTo[string], text, nil, register(t, b), "q", []string{"k"}, 100, lowRunAt, lowID)
		if err != nil {
			return err
		}
		for _, line := range plan {
			if m := pagesTouched.FindStringSubmatch(line); m != nil && pages == 0 {
				hit, _ := strconv.Atoi(m[1])
				read, _ := strconv.Atoi("0" + m[2])
				pages = hit + read
			}
		}
		return undo
	})
	if pages == 0 {
		t.Fatalf("the plan says nothing of pages: %v", err)
	}
	return pages
}
