package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

var feedTests = []scenario{
	{"EndsOfJobs", feedEnds},
	{"NotStarted", feedNotStarted},
	{"Attempts", feedAttempts},
	{"Losses", feedLosses},
	{"Slots", feedSlots},
	{"Recovery", feedRecovery},
	{"RefusedDoesNothing", feedRefused},
	{"WithTheTransaction", feedTx},
	{"ForgottenJobs", feedForgotten},
	{"Pages", feedPages},
	{"Newest", feedNewest},
	{"Prune", feedPrune},
	{"Off", feedOff},
	{"OpenTransaction", feedOpenTransaction},
	{"FollowedWhileOthersWrite", feedFollowed},
}

// feedFrom reads all events after a cursor, and waits until none is held back.
func (e *env) feedFrom(after store.EventCursor, limit int) (events []store.Event, next store.EventCursor, gap bool) {
	e.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		page, err := e.b.ListEvents(e.ctx, store.ListEventsRequest{After: after, Limit: limit})
		e.must(err)
		if len(page.Events) > limit {
			e.t.Fatalf("a page of at most %d events has %d", limit, len(page.Events))
		}
		events, after, gap = append(events, page.Events...), page.Next, gap || page.Gap
		if !page.More && page.Held.IsZero() {
			return events, after, gap
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("events are held back since %v", page.Held)
		}
	}
}

// told returns what events say, without cursors, in the order of types and subjects.
func told(events []store.Event) []store.Event {
	events = slices.Clone(events)
	for i := range events {
		events[i].Cursor = store.EventCursor{}
	}
	slices.SortStableFunc(events, func(a, b store.Event) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Job, b.Job),
			cmp.Compare(a.Schedule, b.Schedule), a.Slot.Compare(b.Slot), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Count, b.Count))
	})
	return events
}

// feed returns all events, without cursors.
func (e *env) feed() []store.Event {
	e.t.Helper()
	events, _, _ := e.feedFrom(store.EventCursor{}, 100)
	return told(events)
}

// about returns an event of a job that is stored now.
func (e *env) about(t store.EventType, job int64, reason string) store.Event {
	return store.Event{At: e.now, Type: t, Job: job, Reason: reason}
}

func feedEnds(e *env) {
	n := e.node("n")
	var want []store.Event
	e.insertN(4)
	jobs := e.claim(n, 4)
	failed, cancelled := outcome(jobs[1], store.Failed), outcome(jobs[2], store.Cancelled)
	failed.Error, cancelled.Error = "no such host", "not needed"
	e.finish(outcome(jobs[0], store.Completed), failed, cancelled, outcome(jobs[3], store.Completed))
	want = append(want, e.about(store.EventCompleted, jobs[0].ID, ""), e.about(store.EventCompleted, jobs[3].ID, ""),
		e.about(store.EventFailed, jobs[1].ID, "no such host"), e.about(store.EventCancelled, jobs[2].ID, "not needed"))
	e.tick(time.Second)
	ready := e.insertOne(newJob())
	e.cancelReason(ready, "by hand")
	want = append(want, e.about(store.EventCancelled, ready, "by hand"))
	e.tick(time.Second)
	long := e.running(n)
	o := outcome(long, store.Failed)
	o.Error = strings.Repeat("ä", store.MaxEventReason+1)
	e.finishWell(o)
	want = append(want, e.about(store.EventFailed, long.ID, strings.Repeat("ä", store.MaxEventReason)))
	e.want(e.feed(), want, "each end of a job must be an event")
}

func feedNotStarted(e *env) {
	n := e.node("n")
	p := e.insertOne(newJob())
	d := e.insertOne(follows(store.Edge{Job: p}))
	e.end(n, p, store.Failed)
	failed := e.job(p)
	e.want(e.feed(), []store.Event{
		{At: e.now, Type: store.EventFailed, Job: p, Reason: failed.Reason},
		e.about(store.EventNotStarted, d, fmt.Sprintf("job %d failed", p)),
	}, "the end of a predecessor and a job that is not started must be events")
}

func feedAttempts(e *env) {
	n := e.node("n")
	c := e.running(n)
	o := retryIn(c, time.Second)
	o.Error = "busy"
	e.finishWell(o)
	e.finishWell(o)
	want := []store.Event{e.about(store.EventRetried, c.ID, "busy")}
	e.want(e.feed(), want, "an attempt that is tried again must be an event, once")
	e.tick(time.Minute)
	again := outcome(e.claimOne(n), store.Release)
	again.Error = "the node stops"
	e.finishWell(again)
	snoozed := outcome(e.claimOne(n), store.Snooze)
	snoozed.Delay = time.Second
	e.finishWell(snoozed)
	e.want(e.feed(), want, "an attempt that was refunded must be no event")
}

func feedLosses(e *env) {
	dead, alive := e.node("dead"), e.nodeFor("alive", time.Hour)
	e.insert(newJob(), with(func(j *store.NewJob) { j.OnLoss = store.OnLossFail }))
	jobs := e.claim(dead, 2)
	e.tick(time.Minute)
	e.heartbeat(alive)
	e.rescue(alive)
	lost := "lost: its node dead died while it ran, or when it was about to begin"
	e.want(e.feed(), []store.Event{
		e.about(store.EventFailed, jobs[1].ID, store.LostReason),
		e.about(store.EventLost, jobs[0].ID, lost), e.about(store.EventLost, jobs[1].ID, lost),
	}, "each attempt that is lost must be an event, and the end of a job too")
}

func feedSlots(e *env) {
	row := e.due("s")
	skipped := missed(0, 0)
	skipped.Outcome, skipped.Reason = store.SlotSkipped, "paused"
	e.account("s", missed(3, 5), skipped)
	longer := missed(6, 8)
	longer.Extend = true
	at := e.now
	e.tick(time.Second)
	row.NextAt = e.schedule("s").NextAt
	e.now = row.NextAt
	e.account("s", longer)
	of := func(t store.EventType, r store.SlotRecord, at time.Time) store.Event {
		return store.Event{At: at, Type: t, Schedule: row.ID, ScheduleName: "s", Slot: r.Slot, Count: r.Count, Reason: r.Reason}
	}
	e.changeSchedules(store.DeleteSchedules, "s")
	e.want(e.feed(), told([]store.Event{
		of(store.EventMissed, missed(3, 5), at), of(store.EventSkipped, skipped, at), of(store.EventMissed, longer, e.now),
	}), "missed and skipped slots must be events, also when they extend a record, and name a deleted schedule")
}

func feedRecovery(e *env) {
	n := e.node("n")
	s := e.put("s", "{}").ID
	e.endsWith(n, store.Completed, recovers(s, "well"))
	e.endsWith(n, store.Failed, fails(s, "bad"))
	e.tick(time.Second)
	e.endsWith(n, store.Completed, recovers(s, "well"))
	e.endsWith(n, store.Completed, recovers(s, "well"))
	events := slices.DeleteFunc(e.feed(), func(one store.Event) bool { return one.Type != store.EventRecovery })
	e.want(events, []store.Event{{At: e.now, Type: store.EventRecovery, Schedule: s, ScheduleName: "s"}}, "a recovery must be an event, once")
}

func feedRefused(e *env) {
	old, present := e.taken()
	before := e.feed()
	for _, result := range []store.Result{store.Completed, store.Failed, store.Retry} {
		e.want(len(e.finish(outcome(old, result))), 1, "an outcome of a lost claim must be refused")
	}
	e.want(e.feed(), before, "an outcome that is refused must be no event")
	e.finishWell(outcome(present, store.Completed))
	after := e.feed()
	e.want(len(after), len(before)+1, "an outcome must be one event")
	e.finishWell(outcome(present, store.Completed))
	e.want(e.feed(), after, "a repeated outcome must be no further event")
}

func feedTx(e *env) {
	n := e.node("n")
	c := e.running(n)
	tx := e.begin()
	e.finishTx(tx, outcome(c, store.Completed))
	e.must(tx.Rollback())
	e.want(len(e.feed()), 0, "a completion that is rolled back must be no event")
	tx = e.begin()
	e.finishTx(tx, outcome(c, store.Completed))
	e.must(tx.Commit())
	e.want(e.feed(), []store.Event{e.about(store.EventCompleted, c.ID, "")}, "a completion must be an event when it is committed")
	c = e.running(n)
	tx = e.begin()
	_, err := e.finishCommit(tx, c)
	e.must(err)
	e.want(len(e.feed()), 2, "a completion that is committed with its transaction must be an event")
}

func feedForgotten(e *env) {
	c := e.running(e.node("n"))
	o := outcome(c, store.Completed)
	o.Keep = store.Forget
	e.finishWell(o)
	e.want(e.feed(), []store.Event{e.about(store.EventCompleted, c.ID, "")}, "the end of a job that leaves no row must be an event")
}

// endTogether completes jobs in one call, and returns them by number.
func (e *env) endTogether(node int64, n int) []int64 {
	e.t.Helper()
	e.insertN(n)
	jobs := e.claim(node, n)
	var outcomes []store.Outcome
	for _, job := range jobs {
		outcomes = append(outcomes, outcome(job, store.Completed))
	}
	e.want(len(e.finish(outcomes...)), 0, "none may be refused")
	return slices.Sorted(slices.Values(claimedIDs(jobs)))
}

func subjects(events []store.Event) (ids []int64) {
	for _, one := range events {
		ids = append(ids, one.Job)
	}
	slices.Sort(ids)
	return ids
}

func feedPages(e *env) {
	n := e.node("n")
	all := e.endTogether(n, 30)
	all = append(all, e.endTogether(n, 1)...)
	all = append(all, e.endTogether(n, 7)...)
	for _, limit := range []int{1, 3, 7, 30, 38, 100} {
		events, next, gap := e.feedFrom(store.EventCursor{}, limit)
		e.want(subjects(events), all, fmt.Sprintf("pages of %d must have each event once", limit))
		e.ok(!gap, "there must be no gap")
		e.want(next, events[len(events)-1].Cursor, "the page must end with the last event")
		for i, one := range events {
			parsed, err := store.ParseEventCursor(one.Cursor.String())
			e.must(err)
			rest, _, gap := e.feedFrom(parsed, 100)
			e.ok(!gap && len(rest) == len(events)-1-i, "a reader must continue after each cursor", one.Cursor, len(rest))
		}
	}
	more, _, _ := e.feedFrom(store.EventCursor{Tx: 0, ID: 0}, 5)
	e.want(len(more), 38, "the zero cursor must be before all events")
}

func feedNewest(e *env) {
	page, err := e.b.ListEvents(e.ctx, store.ListEventsRequest{Newest: true, Limit: 5})
	e.must(err)
	e.want(len(page.Events), 0, "a new feed must be empty")
	n := e.node("n")
	e.endTogether(n, 10)
	last := e.endTogether(n, 3)
	all, next, _ := e.feedFrom(store.EventCursor{}, 100)
	page, err = e.b.ListEvents(e.ctx, store.ListEventsRequest{Newest: true, Limit: 5})
	e.must(err)
	e.want(page.Events, all[len(all)-5:], "the newest events must come in their order")
	e.want([]any{page.Next, page.More, page.Gap, page.Keep}, []any{next, false, false, store.EventKeep},
		"a reader must be able to continue after the newest event")
	e.want(subjects(page.Events[2:]), last, "the newest event must be the last")
}

// pruneFeed deletes old events until none is left.
func (e *env) pruneFeed(limit int) (rows int) {
	e.t.Helper()
	for more := true; more; {
		res, err := e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Limit: limit})
		e.must(err)
		if res.Events > limit {
			e.t.Fatalf("a prune of at most %d rows deleted %d", limit, res.Events)
		}
		rows, more = rows+res.Events, res.More
	}
	return rows
}

func feedPrune(e *env) {
	n := e.nodeFor("n", 1000*time.Hour)
	for range 5 {
		e.endTogether(n, 2)
		e.tick(time.Hour)
	}
	old, _, _ := e.feedFrom(store.EventCursor{}, 100)
	e.tick(store.EventKeep - 2*time.Hour)
	kept := e.endTogether(n, 2)
	e.ok(e.pruneFeed(1) > 0, "old events must be deleted")
	events, next, gap := e.feedFrom(store.EventCursor{}, 100)
	e.want(subjects(events), slices.Sorted(slices.Values(append(subjects(old[6:]), kept...))), "events must be kept for a day")
	e.ok(!gap, "a reader from the beginning must have no gap")
	for i, one := range old {
		rest, after, gap := e.feedFrom(one.Cursor, 100)
		e.want(gap, i < 5, fmt.Sprintf("a reader must be warned if events after its cursor have been deleted (%d)", i))
		e.want(len(rest), min(6, 11-i), "a reader with a gap must get all events that are kept")
		e.want(after, next, "a reader with a gap must continue")
	}
	e.keepEvents(time.Minute)
	e.tick(time.Hour)
	e.pruneFeed(100)
	page, err := e.b.ListEvents(e.ctx, store.ListEventsRequest{After: old[0].Cursor, Limit: 10})
	e.must(err)
	e.ok(page.Gap && len(page.Events) == 0 && old[0].Cursor.Before(page.Next) && page.Keep == time.Minute, "a reader of an empty feed must be warned, too", page)
	page, err = e.b.ListEvents(e.ctx, store.ListEventsRequest{After: page.Next, Limit: 10})
	e.must(err)
	e.ok(!page.Gap, "a reader must be warned once")
	e.want(e.pruneFeed(100), 0, "an empty feed must have nothing to delete")
	after := e.endTogether(n, 1)
	events, _, gap = e.feedFrom(page.Next, 10)
	e.want(subjects(events), after, "a reader must go on after a gap")
	e.ok(!gap, "a reader must be warned once")
}

func feedOff(e *env) {
	n := e.node("n")
	e.endTogether(n, 1)
	_, before, _ := e.feedFrom(store.EventCursor{}, 10)
	e.keepEvents(0)
	e.endTogether(n, 20)
	lost := e.due("s")
	e.account("s", missed(3, 5))
	e.ok(lost.ID != 0, "")
	events, _, gap := e.feedFrom(before, 10)
	e.want([]any{len(events), gap}, []any{0, false}, "nothing may be stored while the feed is off")
	e.keepEvents(time.Hour)
	e.keepEvents(time.Hour)
	after := e.endTogether(n, 1)
	events, next, gap := e.feedFrom(before, 10)
	e.want(subjects(events), after, "events must be stored when the feed is on again")
	e.ok(gap, "a reader must be warned that no events were stored for a while")
	_, _, gap = e.feedFrom(next, 10)
	e.ok(!gap, "a reader must be warned once")
	e.keepEvents(0)
	e.tick(time.Microsecond)
	e.pruneFeed(10)
	e.want(len(e.feed()), 0, "the events of a feed that is off must be deleted")
}

func feedOpenTransaction(e *env) {
	if !e.RowLocks {
		e.t.Skip("in this store an open transaction that has changed a job holds up all others")
	}
	n := e.node("n")
	first, second := e.running(n), e.running(n)
	_, before, _ := e.feedFrom(store.EventCursor{}, 10)
	tx := e.begin()
	e.finishTx(tx, outcome(first, store.Completed))
	e.finishWell(outcome(second, store.Completed))
	page, err := e.b.ListEvents(e.ctx, store.ListEventsRequest{After: before, Limit: 10})
	e.must(err)
	e.ok(len(page.Events) == 1 || page.Held.Equal(e.now), "a reader must see since when events are not shown", page)
	newest, err := e.b.ListEvents(e.ctx, store.ListEventsRequest{Newest: true, Limit: 10})
	e.must(err)
	newest.Events = slices.DeleteFunc(newest.Events, func(one store.Event) bool { return !before.Before(one.Cursor) })
	e.must(tx.Commit())
	both := []int64{first.ID, second.ID}
	events, _, _ := e.feedFrom(before, 10)
	e.want(subjects(events), both, "after the commit both events must be shown")
	events, _, _ = e.feedFrom(page.Next, 10)
	e.want(subjects(append(page.Events, events...)), both, "a reader that read before the commit must get each event once")
	events, _, _ = e.feedFrom(newest.Next, 10)
	e.want(subjects(append(newest.Events, events...)), both, "a reader of the newest events must get each event once")
}

func feedFollowed(e *env) {
	const rounds, size = 20, 5
	nodes := [2]int64{e.node("a"), e.node("b")}
	e.insertN(2 * rounds * size)
	var claimed [2][]store.Claimed
	for i := range claimed {
		claimed[i] = e.claim(nodes[i], rounds*size)
	}
	done := make(chan struct{})
	var seen []int64
	var reader sync.WaitGroup
	reader.Go(func() {
		for after, last := (store.EventCursor{}), false; ; {
			select {
			case <-done:
				last = true
			default:
			}
			page, err := e.b.ListEvents(e.ctx, store.ListEventsRequest{After: after, Limit: 3})
			if err != nil {
				e.t.Error(err)
				return
			}
			seen, after = append(seen, subjects(page.Events)...), page.Next
			if last && !page.More && page.Held.IsZero() {
				return
			}
		}
	})
	e.both(func(i int, client store.Backend) {
		for r := range rounds {
			var outcomes []store.Outcome
			for _, job := range claimed[i][r*size : (r+1)*size] {
				outcomes = append(outcomes, outcome(job, store.Completed))
			}
			_, err := client.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: outcomes})
			if err != nil {
				e.t.Error(err)
			}
		}
	})
	close(done)
	reader.Wait()
	slices.Sort(seen)
	e.want(seen, slices.Sorted(slices.Values(append(claimedIDs(claimed[0]), claimedIDs(claimed[1])...))), "a reader must see each event once while others write")
}

// feedBoth compares the events since the last comparison.
func (w *world) feedBoth() {
	want, err := w.model.ListEvents(w.ctx, store.ListEventsRequest{After: w.read[1], Limit: 100_000})
	w.must(err)
	for page := want; page.More; {
		page, err = w.model.ListEvents(w.ctx, store.ListEventsRequest{After: page.Next, Limit: 100_000})
		w.must(err)
		want.Events, want.Next = append(want.Events, page.Events...), page.Next
	}
	var got []store.Event
	next := w.read[0]
	for deadline := time.Now().Add(time.Minute); ; {
		page, err := w.client.ListEvents(w.ctx, store.ListEventsRequest{After: next, Limit: 1000})
		w.must(err)
		got, next = append(got, page.Events...), page.Next
		if !page.More && (page.Held.IsZero() || time.Now().After(deadline)) {
			break
		}
	}
	w.read = [2]store.EventCursor{next, want.Next}
	for i := range got {
		got[i].Job, got[i].Schedule = w.names.jobs.model(got[i].Job), w.names.schedules.model(got[i].Schedule)
		if got[i].Type == store.EventSkipped {
			got[i].Reason = w.names.modelReason(got[i].Reason)
		}
	}
	w.compare("ListEvents", nil, told(got), told(want.Events))
}

// keepEvents sets for how long events are kept.
func (e *env) keepEvents(d time.Duration) {
	e.t.Helper()
	_, err := e.a.Put(e.ctx, store.PutRequest{Now: e.now, Feed: &store.PutFeed{Keep: d}})
	e.must(err)
}
