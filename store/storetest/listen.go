package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/hourbell/hourbell/store"
)

var listenTests = []scenario{
	{"WakesForOthersChanges", listenWakes},
	{"EndsWithItsContext", listenEnds},
	{"PassesNotesOfPolls", listenPolled},
	{"FlushSendsWhatIsOwed", listenFlush},
}

// ears is a running call of Listen.
type ears struct {
	wakes chan store.Wake
	ended chan error
	stop  context.CancelFunc
}

// listen listens through client b, or skips the test if the store pushes no
// wake-ups.
func (e *env) listen() *ears {
	e.t.Helper()
	return e.listenOn(e.b)
}

// listenOn listens through a client.
func (e *env) listenOn(b store.Backend) *ears {
	e.t.Helper()
	listener, ok := b.(store.Listener)
	if !ok {
		e.t.Skip("this driver pushes no wake-ups")
	}
	ctx, cancel := context.WithCancel(e.ctx)
	l := &ears{wakes: make(chan store.Wake, 1000), ended: make(chan error, 1), stop: cancel}
	e.t.Cleanup(func() { // Listen must return before the store is closed
		cancel()
		for range l.ended {
		}
	})
	go func() {
		defer close(l.ended)
		l.ended <- listener.Listen(ctx, func(w store.Wake) {
			select {
			case l.wakes <- w:
			default:
			}
		})
	}()
	select {
	case w := <-l.wakes:
		e.want(w.Kind, store.WakeAll, "Listen must begin with WakeAll")
	case err := <-l.ended:
		if errors.Is(err, store.ErrNoPush) {
			e.t.Skip("wake-ups do not get through here: ", err)
		}
		e.t.Fatalf("Listen ended at once: %v", err)
	case <-time.After(10 * time.Second):
		e.t.Fatal("Listen must call wake with WakeAll as soon as it listens")
	}
	return l
}

// wakes checks that a change made through client a wakes client b in time. A
// wake-up of kind WakeAll counts for every kind.
func (e *env) wakes(l *ears, kind store.WakeKind, what string, change func()) {
	e.t.Helper()
	for quiet := false; !quiet; { // drop earlier wake-ups
		select {
		case <-l.wakes:
		case <-time.After(150 * time.Millisecond):
			quiet = true
		}
	}
	change()
	deadline := time.After(time.Second)
	for {
		select {
		case w := <-l.wakes:
			if w.Kind == store.WakeAll || w.Kind == kind && (w.Queue == "" || w.Queue == "q") {
				return
			}
		case err := <-l.ended:
			e.t.Fatalf("Listen must go on until its context ends: %v", err)
		case <-deadline:
			e.t.Errorf("%s must wake other clients within a second", what)
			return
		}
	}
}

func listenWakes(e *env) {
	n := e.nodeFor("n", 1000*time.Hour)
	dead := e.node("dead")
	l := e.listen()
	var c store.Claimed
	e.wakes(l, store.WakeJobs, "an insert", func() { e.insertN(3) })
	tx := e.begin()
	e.insertTx(tx.Tx, newJob())
	e.wakes(l, store.WakeJobs, "the commit of a transaction with an insert", func() { e.must(tx.Commit()) })
	tx = e.begin()
	_, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: []store.NewJob{newJob()}, NotifyInTx: true})
	e.must(err)
	e.wakes(l, store.WakeJobs, "the commit of a transaction that notifies", func() { e.must(tx.Commit()) })
	if has[store.Deferring](e.b) {
		p := e.insertOne(with(func(j *store.NewJob) { j.Delay = time.Hour }))
		tx = e.begin()
		e.insertTx(tx.Tx, follows(on(p, store.OnSuccess)))
		e.wakes(l, store.WakeCancels, "the commit of a transaction with a job that follows another", func() { e.must(tx.Commit()) })
	}
	tx = e.begin()
	e.putTx(tx, "in a transaction", "{}")
	e.wakes(l, store.WakeSchedules, "the commit of a transaction with an edit", func() { e.must(tx.Commit()) })
	c = e.claimOne(n)
	tx = e.begin()
	e.changeTx(tx, store.CancelJobs, c.ID)
	e.wakes(l, store.WakeCancels, "the commit of a transaction with a cancel request", func() { e.must(tx.Commit()) })
	e.finishWell(outcome(c, store.Completed))
	e.insertOne(newJob())
	c = e.claimOne(n)
	e.wakes(l, store.WakeCancels, "a cancel request", func() { e.cancel(c.ID) })
	e.wakes(l, store.WakeCancels, "a pause of a queue", func() { e.pauseOf(store.SubjectQueue, "other", time.Time{}) })
	e.wakes(l, store.WakeJobs, "the end of a pause", func() { e.resumeOf(store.SubjectQueue, "other") })
	c = e.claimOne(n)
	e.wakes(l, store.WakeJobs, "a retry", func() { e.finishWell(outcome(c, store.Retry)) })
	c = e.claimOne(n)
	e.finishWell(outcome(c, store.Failed))
	e.wakes(l, store.WakeJobs, "a retry by hand", func() { e.changeOne(store.RetryJobs, c.ID) })
	c = e.claimOne(n)
	e.wakes(l, store.WakeJobs, "a follow-up", func() {
		o := outcome(c, store.Completed)
		o.After = &store.FollowUp{Failing: true, Jobs: []store.NewJob{newJob()}}
		e.finishWell(o)
	})
	e.claimOne(dead)
	e.tick(time.Minute)
	e.wakes(l, store.WakeJobs, "a rescue", func() { e.rescue(n) })
	e.wakes(l, store.WakeSchedules, "a new schedule", func() { e.put("s", "1") })
	e.wakes(l, store.WakeSchedules, "a changed schedule", func() { e.put("s", "every minute") })
	row := e.schedule("s")
	e.fire(firing(row, e.now, e.now.Add(time.Minute)))
	e.wakes(l, store.WakeSchedules, "a pause", func() { e.changeSchedules(store.PauseSchedules, "s") })
	e.wakes(l, store.WakeSchedules, "a resume", func() { e.changeSchedules(store.ResumeSchedules, "s") })
	e.wakes(l, store.WakeJobs, "a fired slot", func() { e.ring("s") })
	e.wakes(l, store.WakeSchedules, "a delete", func() { e.changeSchedules(store.DeleteSchedules, "s") })
}

func listenEnds(e *env) {
	l := e.listen()
	l.stop()
	select {
	case err := <-l.ended:
		e.ok(err != nil, "Listen must say why it ended")
	case <-time.After(5 * time.Second):
		e.t.Error("Listen must end with its context")
	}
}

// listenPolled checks that the note of a poll reaches every listener, also the listener of the client that
// polls, and that a poll without a note sends nothing.
func listenPolled(e *env) {
	if store.ConnectionOf(e.b).SharedPolls == 0 {
		e.t.Skip("this driver's nodes do not share polls")
	}
	n := e.node("n")
	other, own := e.listen(), e.listenOn(e.a)
	note := func(l *ears, want, what string) {
		e.t.Helper()
		deadline := time.After(5 * time.Second)
		for {
			select {
			case w := <-l.wakes:
				if w.Kind == store.WakePolled {
					e.want(w, store.Wake{Kind: store.WakePolled, Note: want}, what)
					return
				}
			case <-deadline:
				e.t.Errorf("%s must pass its note on", what)
				return
			}
		}
	}
	claim := func(text string) error {
		_, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 1, Polled: text})
		return err
	}
	e.must(claim(""))
	text := "node naïve ' queue"
	e.must(claim(text))
	note(other, text, "a claim")
	note(own, text, "a claim of the same client")
	_, err := e.a.DueSchedules(e.ctx, store.DueSchedulesRequest{Limit: 1, Polled: "schedules"})
	e.must(err)
	note(other, "schedules", "a read of due schedules")

	e.insertN(3)
	e.wakes(other, store.WakeJobs, "a polled claim that was full", func() { e.must(claim(text)) })
}

// listenFlush checks that the wake-ups of committed transactions have been sent when Flush returns.
func listenFlush(e *env) {
	flusher, ok := e.a.(store.Flusher)
	if !ok {
		e.t.Skip("this driver sends its wake-ups with their commits")
	}
	l := e.listen()
	for range 3 {
		e.wakes(l, store.WakeJobs, "Flush after the commits of transactions", func() {
			for range 5 {
				tx := e.begin()
				e.insertTx(tx.Tx, newJob())
				e.must(tx.Commit())
			}
			e.must(flusher.Flush(e.ctx))
		})
	}
	if has[store.Deferring](e.b) {
		p := e.insertOne(with(func(j *store.NewJob) { j.Delay = time.Hour }))
		for range 3 {
			e.wakes(l, store.WakeCancels, "Flush after the commits of transactions with jobs that follow others", func() {
				for range 5 {
					tx := e.begin()
					e.insertTx(tx.Tx, follows(on(p, store.OnSuccess)))
					e.must(tx.Commit())
				}
				e.must(flusher.Flush(e.ctx))
			})
		}
	}
	tx := e.begin()
	e.insertTx(tx.Tx, newJob())
	e.must(flusher.Flush(e.ctx)) // it does not wait for open transactions
	e.must(tx.Rollback())
}
