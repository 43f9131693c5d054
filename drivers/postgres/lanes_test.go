package postgres

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestFirstPermitsComeWithTheClaim counts the updates of jobs whose keys are limited. A claim updates each job once, also a job that
// gets its permit in the transaction of the claim. Jobs behind the claimed jobs that get a permit in the same step can be claimed afterwards.
func TestFirstPermitsComeWithTheClaim(t *testing.T) {
	const limit = 20
	b := fresh(t)
	_, err := b.Put(t.Context(), store.PutRequest{Limits: []store.PutLimit{{Limit: store.Limit{Name: "l", ByKey: true, Concurrency: 1}}}})
	must(t, err)
	execute(t, withSchema(`
		create table {schema}.updated (id bigint);
		create function {schema}.note_update() returns trigger language plpgsql as $$ begin insert into {schema}.updated values (new.id); return null; end $$;
		create trigger note_update after update on {schema}.job for each row execute function {schema}.note_update()`, b.schema))
	jobs := noop(2 * limit)
	for i := range jobs {
		jobs[i].Key = fmt.Sprint("key ", i)
	}
	_, err = b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
	must(t, err)
	node := register(t, b)
	if got := claimN(t, b, node, limit); len(got) != limit {
		t.Fatalf("%d jobs are claimed, want %d", len(got), limit)
	}
	if n := count(t, b, "select count(*) - count(distinct id) from {schema}.updated"); n != 0 {
		t.Errorf("%d jobs were updated again", n)
	}
	if n := count(t, b, "select count(*) from {schema}.job where running and permits is not null"); n != limit {
		t.Errorf("%d claimed jobs hold a permit, want %d", n, limit)
	}
	if held, used := count(t, b, "select count(*) from {schema}.job where permits is not null"), count(t, b, "select sum(used) from {schema}.lane"); held != used {
		t.Errorf("%d jobs hold a permit, and the lanes count %d", held, used)
	}
	if got := claimN(t, b, node, 2*limit); len(got) != limit {
		t.Errorf("%d jobs are claimed then, want %d", len(got), limit)
	}
}

// TestClaimsWhoseCommitFails makes claims of a queue whose keys are limited while the commit of each such claim fails, because it cannot
// get a lock in time. The claims return no jobs, and all jobs are claimed when commits succeed again.
func TestClaimsWhoseCommitFails(t *testing.T) {
	b := fresh(t)
	_, err := b.Put(t.Context(), store.PutRequest{Limits: []store.PutLimit{{Limit: store.Limit{Name: "l", ByKey: true, Concurrency: 1}}}})
	must(t, err)
	jobs := noop(3)
	for i := range jobs {
		jobs[i].Key = fmt.Sprint("key ", i)
	}
	_, err = b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
	must(t, err)
	node := register(t, b)
	execute(t, withSchema(`
		create function {schema}.refuse() returns trigger language plpgsql as $$ begin raise 'busy' using errcode = '55P03'; end $$;
		create constraint trigger refuse after update on {schema}.job deferrable initially deferred for each row
			when (new.running) execute function {schema}.refuse()`, b.schema))
	for range 3 {
		if got := claimN(t, b, node, 5); len(got) > 0 {
			t.Fatalf("%d jobs are claimed by a transaction that was rolled back", len(got))
		}
	}
	if n := count(t, b, "select count(*) from {schema}.job where running or permits is not null"); n != 0 {
		t.Fatalf("%d jobs run or hold a permit", n)
	}
	execute(t, withSchema("drop trigger refuse on {schema}.job", b.schema))
	if got := claimN(t, b, node, 5); len(got) != len(jobs) {
		t.Errorf("%d jobs are claimed in the end, want %d", len(got), len(jobs))
	}
}

// TestStepsGoOnWhereTheyLeftOff checks where the steps before a claim begin after a claim that has left off, and that they begin at the
// start again in time, however often they leave off.
func TestStepsGoOnWhereTheyLeftOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(id int64) (c cursors) {
			for i := range c {
				c[i].id = id
			}
			return c
		}
		var q gatedQueues
		req := store.ClaimRequest{Node: 1, Queue: "q", Kinds: []string{"k"}}
		begins := func(what string, change func(*store.ClaimRequest), from, want int64) {
			t.Helper()
			r := req
			change(&r)
			if got, _ := q.resume(&r, at(from)); got != at(want) {
				t.Errorf("%s: the steps begin at job %d, want %d", what, got[0].id, want)
			}
			q.leave(&req, at(5), at(9), time.Millisecond)
		}
		same := func(*store.ClaimRequest) {}
		begins("the first claim", same, 5, 5)
		begins("the next", same, 5, 9)
		begins("a claim whose cursor is farther", same, 7, 9)
		begins("a claim whose cursor is farthest", same, 11, 11)
		begins("a claim whose cursor is before", same, 4, 4)
		begins("a full scan", same, 0, 0)
		begins("another node", func(r *store.ClaimRequest) { r.Node = 2 }, 5, 5)
		begins("other kinds", func(r *store.ClaimRequest) { r.Kinds = []string{"l"} }, 5, 5)
		begins("another queue", func(r *store.ClaimRequest) { r.Queue = "r" }, 5, 5)
		begins("suspects", func(r *store.ClaimRequest) { r.Suspects = true }, 5, 5)
		begins("aged jobs", func(r *store.ClaimRequest) { r.DueFor = time.Second }, 5, 5)
		for range 3 {
			time.Sleep(leftOffRest / 3)
			begins("soon after", same, 5, 9)
		}
		time.Sleep(leftOffRest / 3)
		begins("a second after the first", same, 5, 5)
	})
}
