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

func TestCursorsFollowClaimedJobs(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	job := func(priority int16, seconds int, id int64) store.Claimed {
		return store.Claimed{JobSpec: store.JobSpec{Priority: priority}, RunAt: at(seconds), ID: id}
	}
	horizon := cursor{runAt: now.Add(-slack)}
	var s claimScan

	s.found([]store.Claimed{job(1, -60, 7), job(2, -50, 8), job(2, -40, 9)}, true, now)
	want := cursors{0: horizon, 1: {at(-40), 9}}
	if s.low != want {
		t.Errorf("after a full claim that stopped in priority 2:\ngot  %v\nwant %v", s.low, want)
	}
	s.found([]store.Claimed{job(2, -45, 3)}, true, now)
	if want[1] = (cursor{at(-45), 3}); s.low != want {
		t.Errorf("after a full scan that stopped behind the cursor:\ngot  %v\nwant %v", s.low, want)
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

func TestFullScansComeByTheClock(t *testing.T) {
	var s claimScan
	next := func() step { _, next, _ := s.begin(); return next }
	scanned := func(took time.Duration) {
		for range s.costs {
			s.recordFullScan(0, took)
		}
	}
	if next() != fullScan {
		t.Error("the first claim is no full scan")
	}
	scanned(cheapFullScan)
	if next() != claimOnly {
		t.Error("a full scan follows a full scan")
	}
	if wait, over := s.again(0); wait != 0 || over {
		t.Errorf("after a cheap full scan, the next has to wait %v", wait)
	}
	if wait, _ := s.again(3); wait <= 0 || wait > fullScanRest {
		t.Errorf("after a claim with cursors that found jobs, a full scan is due in %v", wait)
	}
	s.scanned = s.scanned.Add(-2 * fullScanRest)
	if next() != claimOnly {
		t.Error("there was no claim to compare the full scan with, and another full scan follows at once")
	}
	s.recordClaim(900, 8*time.Millisecond)
	if next() != fullScan {
		t.Error("no full scan follows a claim with cursors")
	}
}

// TestCatchUpScansReplaceExpensiveFullScans: claims do not wait for full scans that cost 10 ms.
func TestCatchUpScansReplaceExpensiveFullScans(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var s claimScan
	for range s.costs {
		s.recordFullScan(0, cheapFullScan+10*time.Millisecond)
	}
	s.found([]store.Claimed{{JobSpec: store.JobSpec{Priority: 9}, RunAt: now, ID: 5}}, false, now)
	if wait, over := s.again(0); over || wait <= 0 || wait > 200*time.Millisecond {
		t.Errorf("after a full scan of 10 ms the next catch-up scan is due in %v", wait)
	}
	s.scanned = s.scanned.Add(-200 * time.Millisecond)
	if from, next, behind := s.begin(); next != catchUpScan || from != s.low || behind != (behindScan{number: recentScans}) {
		t.Errorf("after 200 ms a claim begins at %v with step %v", from, next)
	}
	if _, next, _ := s.begin(); next != claimOnly {
		t.Error("two concurrent catch-up scans")
	}
	if wait, over := s.again(0); over || wait < time.Millisecond || wait > 10*time.Millisecond {
		t.Errorf("during a catch-up scan another claim follows after %v", wait)
	}
	late := cursor{runAt: now.Add(-time.Hour), id: 3}
	s.caughtUp(behindScan{number: recentScans}, map[int16]cursor{2: late}, cheapFullScan+10*time.Millisecond, true)
	if _, over := s.again(0); over {
		t.Error("a catch-up scan found a job, and no claim follows")
	}
	want := s.low
	want[1] = cursor{runAt: late.runAt, id: 2}
	if from, _, _ := s.begin(); from != want {
		t.Errorf("after a catch-up scan that found %v a claim begins at %v", late, from)
	}
	if from, _, _ := s.begin(); from != s.low {
		t.Errorf("two claims begin at a job that a catch-up scan found once: %v", from)
	}
	s.caughtUp(behindScan{number: recentScans}, nil, cheapFullScan+10*time.Millisecond, true)
	if wait, over := s.again(0); wait != 0 || !over {
		t.Error("a catch-up scan found nothing, and claims go on")
	}
	costsBefore := s.costs
	s.costs = costs{time.Second, time.Second, time.Second}
	if wait, over := s.again(0); over || wait < 100*time.Millisecond || wait > time.Second {
		t.Errorf("a catch-up scan found nothing, catch-up scans are rare, and a claim for the next recent scan follows in %v", wait)
	}
	s.costs = costsBefore
	s.found([]store.Claimed{{JobSpec: store.JobSpec{Priority: 9}, RunAt: now, ID: 6}}, false, now)
	if wait, over := s.again(1); over || wait <= 0 {
		t.Error("a claim has found a job since, and no catch-up scan follows")
	}
}

// TestRecentScansReachBackGeometrically: while full scans are expensive, a claim goes
// with a scan of the longest reach that is due.
// TestAScanWithoutAConnectionIsNotCheap: a scan that the pool gave no connection
// changes no cost, so that no expensive scan follows in its place.
func TestAScanWithoutAConnectionIsNotCheap(t *testing.T) {
	s := &claimScan{}
	s.costs = costs{time.Second, time.Second, time.Second}
	s.scanned = time.Now().Add(-time.Minute)
	if _, next, _ := s.begin(); next != catchUpScan {
		t.Fatalf("after a minute comes step %v, want a catch-up scan", next)
	}
	for range 3 {
		s.caughtUp(behindScan{number: recentScans}, nil, 0, false)
	}
	if s.cost() != time.Second || s.rest() <= 19*time.Second {
		t.Errorf("scans without a connection: the cost is %v and the next scan is due in %v", s.cost(), s.rest())
	}
	s.caughtUp(behindScan{number: 0}, nil, 0, false)
	if s.recents[0].measured {
		t.Error("a recent scan without a connection has a cost")
	}
}

func TestRecentScansReachBackGeometrically(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const second = time.Second
	for _, c := range []struct {
		name    string
		since   time.Duration    // the last scan, of all
		began   [5]time.Duration // how long ago each recent scan began, if later
		costs   [5]time.Duration
		backlog time.Duration // how far the cursors are behind the clock
		full    time.Duration // cost of a full scan
		want    time.Duration // how far back the scan reaches; 0: there is none
		again   time.Duration // until the next claim
	}{
		{name: "a quarter of the shortest reach has not passed", since: 200 * time.Millisecond, full: 5 * second, again: 800 * time.Millisecond},
		{name: "it has", since: 300 * time.Millisecond, full: 5 * second, want: second},
		{name: "a second", since: 1100 * time.Millisecond, full: 5 * second, want: 4 * second},
		{name: "4 seconds", since: 5 * second, full: 5 * second, want: 16 * second},
		{name: "16 seconds", since: 17 * second, full: 5 * second, want: 64 * second},
		{name: "64 seconds", since: 65 * second, full: 5 * second, want: 256 * second},
		{name: "a longer reach was scanned", since: 70 * second, began: [5]time.Duration{1: 300 * time.Millisecond, 2: 300 * time.Millisecond, 3: 300 * time.Millisecond, 4: 300 * time.Millisecond}, full: 5 * second, want: second},
		{name: "full scans are cheap", since: 300 * second, full: cheapFullScan},
		{name: "catch-up scans come once in a second", since: 900 * time.Millisecond, full: 50 * time.Millisecond, again: 100 * time.Millisecond},
		{name: "the share of the time", since: 1100 * time.Millisecond, costs: [5]time.Duration{time.Millisecond, 15 * time.Millisecond}, full: 5 * second, want: second},
		{name: "all reaches rest", since: 1100 * time.Millisecond, costs: [5]time.Duration{20 * time.Millisecond, 15 * time.Millisecond}, full: 5 * second, again: 400 * time.Millisecond},
		{name: "a backlog of 10 seconds is claimed", since: 2 * second, backlog: 10 * second, full: 5 * second, again: 2 * second},
		{name: "the same, and 16 seconds are due", since: 5 * second, backlog: 10 * second, full: 5 * second, want: 16 * second},
		{name: "a backlog of 5 minutes is claimed", since: 80 * second, backlog: 300 * second, full: 5 * second, again: 20 * second},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := claimScan{now: now, compared: true, costs: costs{c.full, c.full, c.full}, scanned: time.Now().Add(-c.since)}
			if c.full <= cheapFullScan {
				s.scanned = time.Now() // no full scan is due
			}
			for i := range s.recents {
				s.recents[i] = recentScan{began: time.Now().Add(-c.since), costs: costs{c.costs[i], c.costs[i], c.costs[i]}, measured: true}
				if c.began[i] > 0 {
					s.recents[i].began = time.Now().Add(-c.began[i])
				}
			}
			for i := range s.low {
				s.low[i] = cursor{runAt: now.Add(-slack - c.backlog)}
			}
			from, next, behind := s.begin()
			if from != s.low {
				t.Errorf("the claim begins at %v and not at the cursors", from)
			}
			if got := now.Sub(behind.after); c.want == 0 && next != claimOnly || c.want > 0 && (next != catchUpScan || got != c.want) {
				t.Fatalf("step %v reaches back %v, want %v", next, got, c.want)
			}
			if wait, over := s.again(0); c.again > 0 && (over || wait > c.again || wait < c.again-150*time.Millisecond) {
				t.Errorf("the next claim is due in %v, want %v", wait, c.again)
			}
			if c.want == 0 {
				return
			}
			if _, next, _ := s.begin(); next != claimOnly {
				t.Error("a second recent scan is made concurrently")
			}
			s.caughtUp(behind, map[int16]cursor{3: {now.Add(-c.want / 2), 7}}, 2*time.Millisecond, true)
			if wait, over := s.again(0); over || wait > time.Millisecond {
				t.Errorf("a recent scan found a job, and the next claim is due in %v", wait)
			}
			want := cursor{now.Add(-c.want / 2), 6}
			if want.after(s.low[2]) {
				want = s.low[2]
			}
			if from, _, _ := s.begin(); from[2] != want {
				t.Errorf("the next claim begins at %v, want %v", from[2], want)
			}
		})
	}
}

func TestCostOfAFullScan(t *testing.T) {
	for _, c := range []struct {
		usual usual
		jobs  int
		took  time.Duration
		want  time.Duration
	}{
		{usual{1000, 8 * time.Millisecond}, 1000, 10 * time.Millisecond, 2 * time.Millisecond},
		{usual{1000, 8 * time.Millisecond}, 1000, 7 * time.Millisecond, 0},
		{usual{1000, 8 * time.Millisecond}, 500, 50 * time.Millisecond, 46 * time.Millisecond},
		{usual{1, time.Millisecond}, 1000, 15 * time.Millisecond, 0},
		{usual{}, 1000, 10 * time.Millisecond, 0},
		{usual{}, 0, 10 * time.Millisecond, 9 * time.Millisecond},
		{usual{0, 8 * time.Millisecond}, 0, 10 * time.Millisecond, 2 * time.Millisecond}, // a busy machine
	} {
		s := claimScan{usual: c.usual}
		for range s.costs {
			s.recordFullScan(c.jobs, c.took)
		}
		if got := s.cost(); got != c.want {
			t.Errorf("a full scan of %v for %d jobs, after a claim %+v, cost %v, want %v", c.took, c.jobs, c.usual, got, c.want)
		}
	}
}

// TestAJobBehindTheCursorIsFound: a transaction that began long ago commits its
// job after claims have passed its position.
func TestAJobBehindTheCursorIsFound(t *testing.T) {
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
	scan := b.scans.of(node, "q", false)
	for range scan.costs {
		scan.recordFullScan(0, 5*time.Millisecond+cheapFullScan) // so that the next catch-up scan is due in 100 ms
	}
	must(t, tx.Commit(ctx))
	req := store.ClaimRequest{Part: true, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10}
	found := false
	claim := func() store.ClaimResult {
		res, err := b.Claim(ctx, req)
		must(t, err)
		found = found || len(res.Jobs) > 0
		if !found && res.Again > 100*time.Millisecond {
			t.Fatalf("a claim with cursors wants to be repeated in %v", res.Again)
		}
		return res
	}
	if res := claim(); len(res.Jobs) != 0 || res.Again == 0 {
		t.Fatalf("a claim with cursors: %d jobs, again in %v", len(res.Jobs), res.Again)
	}
	res := claim()
	for tries := 0; len(res.Jobs) == 0; tries++ {
		if res.Again == 0 || tries == 1000 {
			t.Fatalf("claim %d does not want to be repeated", tries)
		}
		time.Sleep(res.Again)
		res = claim()
	}
	if len(res.Jobs) != 1 || res.Jobs[0].ID != late.Jobs[0].ID {
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

// TestAJobOfALateCommitIsFoundBehindAForeignBacklog: 200,000 due jobs of a kind that
// no node runs make full scans expensive. Jobs whose transactions were open for 0.3
// and for 6 seconds are found all the same, long before the next catch-up scan.
func TestAJobOfALateCommitIsFoundBehindAForeignBacklog(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	node := register(t, b)
	ctx := t.Context()
	execute(t, withSchema(`
		insert into {schema}.job (created_at, timeout_ns, max_attempts, on_loss, origin, kind, args, queue, priority, run_at)
		select now(), 0, 25, 0, 0, 'foreign', '{}', 'q', 5, clock_timestamp() - interval '1 hour' + i * interval '1 microsecond' from generate_series(1, 200000) i`, b.schema))
	execute(t, withSchema("vacuum analyze {schema}.job", b.schema))
	req := store.ClaimRequest{Part: true, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10}
	_, err := b.Claim(ctx, req)
	must(t, err)
	scan := b.scans.of(node, "q", false)
	for range scan.costs {
		scan.recordFullScan(0, time.Minute) // so that the next catch-up scan is due in 20 minutes
	}
	deadline := time.Now().Add(2 * time.Minute)
	// claim claims until a condition holds, as a node does.
	claim := func(until func([]store.Claimed) bool) {
		for {
			res, err := b.Claim(ctx, req)
			must(t, err)
			if until(res.Jobs) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal("a committed job was not claimed within two minutes")
			}
			if len(res.Jobs) == 0 && (res.Again == 0 || res.Again > 30*time.Second) {
				t.Fatalf("a claim wants to be repeated in %v", res.Again)
			}
			time.Sleep(min(res.Again, 100*time.Millisecond))
		}
	}
	for _, open := range []time.Duration{300 * time.Millisecond, 6 * time.Second} {
		tx, err := b.pool.Begin(ctx)
		must(t, err)
		defer tx.Rollback(context.WithoutCancel(ctx))
		late, err := b.Insert(ctx, store.InsertRequest{Tx: Tx(tx), Jobs: noop(1)})
		must(t, err)
		inserted := time.Now()
		claim(func([]store.Claimed) bool { return time.Since(inserted) > open })
		must(t, tx.Commit(ctx))
		committed := time.Now()
		claim(func(jobs []store.Claimed) bool {
			if len(jobs) > 0 && (len(jobs) != 1 || jobs[0].ID != late.Jobs[0].ID) {
				t.Fatalf("claimed: %+v", jobs)
			}
			return len(jobs) == 1
		})
		t.Logf("a job of a transaction that was open for %v was claimed %v after the commit", open, time.Since(committed).Round(time.Millisecond))
	}
}

// TestAHeldSnapshotDoesNotSlowClaims counts the pages a claim touches while a
// snapshot keeps the entries of 20,000 jobs that have ended.
func TestAHeldSnapshotDoesNotSlowClaims(t *testing.T) {
	for name, dueFor := range map[string]time.Duration{"by priority": 0, "aged": time.Microsecond} {
		t.Run(name, func(t *testing.T) { claimUnderASnapshot(t, dueFor) })
	}
}

func claimUnderASnapshot(t *testing.T, dueFor time.Duration) {
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
		res, err := b.Claim(ctx, store.ClaimRequest{Part: true, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: batch, DueFor: dueFor})
		must(t, err)
		finishAll(t, b, res.Jobs, batch)
	}
	scan := b.scans.of(node, "q", dueFor > 0)
	with, without := claimPages(t, b, dueFor, scan.low), claimPages(t, b, dueFor, cursors{})
	t.Logf("pages touched by a claim of 100: %d with cursors, %d without", with, without)
	if with > 900 { // 600, and more if an older transaction of another test holds rows
		t.Errorf("a claim of 100 jobs touched %d pages", with)
	}
	if without < with+100 { // the difference is smaller if a vacuum of the server came between
		t.Errorf("without cursors it touched %d pages, so there was nothing to skip", without)
	}
}

var pagesTouched = regexp.MustCompile(`Buffers: shared hit=(\d+)(?: read=(\d+))?`)

// claimPages counts the pages that a claim of 100 touches, and undoes it.
func claimPages(t *testing.T, b *Backend, dueFor time.Duration, from cursors) (pages int) {
	t.Helper()
	undo := errors.New("undone")
	err := b.work(t.Context(), programConns, "explain")(func(tx pgx.Tx) error {
		req := store.ClaimRequest{Part: true, Node: register(t, b), Queue: "q", Kinds: []string{"k"}, Limit: 100, DueFor: dueFor}
		name, args := claimJobs, claimArgs(req, from)
		if dueFor > 0 {
			name, args = lockDueJobs, lockDueArgs(&req, from, nil, time.Now())
		}
		plan, err := collect(t.Context(), tx, pgx.RowTo[string], "explain (analyze, buffers, timing off) "+b.q(name), args...)
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
