package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// insertLinked inserts jobs, some of them with predecessors, or into a batch: in the
// caller's transaction, where it locks no predecessor, or in a transaction of our own.
func (b *Backend) insertLinked(ctx context.Context, req store.InsertRequest) (out store.InsertResult, err error) {
	links, err := store.CheckLinks(req)
	if err != nil {
		return out, fmt.Errorf("%s: %w", insertWhat, err)
	}
	if req.Tx != nil {
		q, err := querierOf(req.Tx)
		if err != nil {
			return out, fmt.Errorf("%s: %w", insertWhat, err)
		}
		tx := callersEdges{edgesTx{b, q}, b.insertionOf(q, req).wake}
		insert := func() (store.InsertResult, error) {
			return rowwise.InsertLinked(ctx, tx, req, links, req.Now, func(jobs []store.NewJob) ([]store.Inserted, error) {
				linked := req
				linked.Jobs = jobs
				return b.insertOrNone(ctx, q, linked)
			})
		}
		if store.HasKeys(links) { // predecessors that are unknown are refused after the insert
			out, err = orNone(ctx, q, insert)
		} else {
			out, err = insert()
		}
		if err != nil {
			return store.InsertResult{}, b.explainIn(insertWhat, err)
		}
		return out, nil
	}
	out, err = rowwise.InTx(b.work(ctx, programConns, insertWhat), func(tx pgx.Tx) (out store.InsertResult, err error) {
		now := req.Now
		if len(store.Predecessors(links)) > 0 {
			if now, err = b.instantOf(ctx, tx, now); err != nil {
				return out, err
			}
		}
		return b.insertLinkedIn(ctx, tx, req, links, now)
	})
	if err != nil {
		return store.InsertResult{}, err
	}
	if req.LinksLater(links) {
		b.releaseSoon(ctx, when(req.Now))
	}
	return out, nil
}

// insertLinkedIn inserts jobs in a transaction of the driver's own; links are the jobs as store.CheckLinks returned them.
func (b *Backend) insertLinkedIn(ctx context.Context, tx querier, req store.InsertRequest, links []store.NewJob, now time.Time) (store.InsertResult, error) {
	return rowwise.InsertLinked(ctx, edgesTx{b, tx}, req, links, now, func(jobs []store.NewJob) ([]store.Inserted, error) {
		return b.insertionIn(tx, now).insert(ctx, jobs)
	})
}

// instantOf returns the instant of a call.
func (b *Backend) instantOf(ctx context.Context, tx querier, asked time.Time) (now time.Time, err error) {
	err = tx.QueryRow(ctx, b.q(readClock), when(asked)).Scan(into(&now))
	return now, err
}

// releaseSoon carries out notes after a transaction that has left one. After an error the
// nodes do it.
func (b *Backend) releaseSoon(ctx context.Context, now *time.Time) {
	var at time.Time
	if now != nil {
		at = *now
	}
	_ = b.releaseDependents(ctx, at)
}

// uniqueViolation is the code of the error of a step that lets a job wait again whose key another transaction has just taken.
const uniqueViolation = "23505"

// How many rows of notes a step locks at most.
const releaseRows = 50

// errEdgesDecided is the error of a step whose edges another transaction has decided or
// opened again, because a job was retried by hand. The step begins again.
var errEdgesDecided = errors.New("another transaction has decided the edges")

// CarryOut implements store.Deferring. Cancel requests come last, because a transaction may have locked their jobs for long.
func (b *Backend) CarryOut(ctx context.Context, req store.CarryOutRequest) error {
	if err := b.releaseDependents(ctx, req.Now); err != nil || req.Ends || req.Tx != nil {
		return err
	}
	return b.settleCancels(ctx, req.Now)
}

// releaseDependents carries out notes of ended jobs. A caller's
// transaction may have locked a dependent for long. A step waits 50 ms for it; from then on
// steps leave out what is locked, and its notes are left for later.
func (b *Backend) releaseDependents(ctx context.Context, asked time.Time) error {
	const what = "release dependents"
	type step struct {
		next int64 // where the next step begins
		more bool
	}
	patient, rows := true, releaseRows
	for after := int64(0); ; {
		var tried int64
		did, err := rowwise.InTx(b.transact(ctx, nodeConns, what, b.workBegin()+impatient), func(tx pgx.Tx) (did step, err error) {
			now, err := b.instantOf(ctx, tx, asked)
			if err != nil {
				return did, err
			}
			e := &notesTx{edgesTx: edgesTx{b, tx}, rows: rows, patient: patient}
			did.next, did.more, err = rowwise.ReleaseDependents(ctx, e, after, now)
			tried = e.last // kept: the step was given up at this row
			return did, err
		})
		busy := codeOf(err) == lockNotAvailable || codeOf(err) == uniqueViolation // the step was rolled back; its notes stay, for a smaller step or another call
		switch {
		case errors.Is(err, errEdgesDecided):
		case busy && patient:
			patient = false
		case busy && rows > 1:
			rows = 1
		case busy && tried > 0:
			after = tried
		case err != nil || !did.more:
			return err
		default:
			after = did.next
		}
	}
}

// notesTx is the transaction of a step.
type notesTx struct {
	edgesTx
	rows    int
	patient bool  // waits for dependents that are locked
	last    int64 // the last row that was locked
}

// LockNotes implements rowwise.Edges.
func (t *notesTx) LockNotes(ctx context.Context, after int64, limit int) (notes []rowwise.Note, more bool, err error) {
	notes, more, err = t.lockNotes(ctx, after, limit, t.rows)
	if len(notes) > 0 {
		t.last = notes[len(notes)-1].ID
	}
	return notes, more, err
}

// LockWaiting implements rowwise.Edges.
func (t *notesTx) LockWaiting(ctx context.Context, ids []int64) (waiting []rowwise.JobWait, busy []int64, err error) {
	if t.patient {
		return t.edgesTx.LockWaiting(ctx, ids)
	}
	waiting, missing, err := t.lockWaiting(ctx, lockFreeDependents, lockFreeNotStarted, ids)
	if err != nil || len(missing) == 0 {
		return waiting, nil, err
	}
	busy, err = collect(ctx, t.tx, pgx.RowTo[int64], t.b.q(findBusyDependents), missing)
	return waiting, busy, err
}

// LeaveNotes implements rowwise.NoteLeaver.
func (t *notesTx) LeaveNotes(ctx context.Context, notes []rowwise.Note) error {
	var numbers, ids, doneTos []int64
	var schedules []*int64
	var endedAts []time.Time
	var states []int16
	var reasons []string
	for _, note := range notes {
		ids, doneTos, endedAts = append(ids, note.Ended.ID), append(doneTos, note.DoneTo), append(endedAts, note.At)
		states, reasons = append(states, int16(note.State)), append(reasons, note.Reason)
		numbers, schedules = append(numbers, note.Number), append(schedules, orNull(note.Schedule))
	}
	_, err := t.tx.Exec(ctx, t.b.q(insertLeftReleases), numbers, ids, schedules, doneTos, endedAts, states, reasons)
	return err
}

// edgesTx implements rowwise.Edges.
type edgesTx struct {
	b  *Backend
	tx querier
}

// LockPredecessors implements rowwise.Edges. It waits for transactions that end one of the
// jobs, and wakes nodes at the commit, because claims leave out what is locked.
func (t edgesTx) LockPredecessors(ctx context.Context, ids []int64, now time.Time) (found []store.Ended, err error) {
	places, err := t.b.locate(ctx, t.tx, when(now), ids)
	if err != nil {
		return nil, err
	}
	var live, finished, due []int64
	for _, id := range ids {
		switch p, is := places[id]; {
		case !is:
		case p.state.Finished():
			finished = append(finished, id)
		default:
			live = append(live, id)
			found = append(found, store.Ended{ID: id})
			if p.state == store.StateReady && !p.later {
				due = append(due, id)
			}
		}
	}
	if err := t.markReleases(ctx, live); err != nil {
		return nil, err
	}
	if err := t.wakeForLocked(ctx, due); err != nil {
		return nil, err
	}
	if len(finished) > 0 {
		ended, err := collect(ctx, t.tx, func(r pgx.CollectableRow) (e store.Ended, err error) {
			err = r.Scan(&e.ID, (*int16)(&e.State), into(&e.At), &e.Reason)
			return e, err
		}, t.b.q(findEnds), finished)
		return append(found, ended...), err
	}
	return found, nil
}

// markReleases notes that live jobs have dependents.
func (t edgesTx) markReleases(ctx context.Context, live []int64) error {
	if len(live) == 0 {
		return nil
	}
	_, err := t.tx.Exec(ctx, t.b.q(markReleases), live)
	return err
}

// wakeForLocked wakes nodes at the commit for due jobs, because claims leave out these jobs since they are locked.
func (t edgesTx) wakeForLocked(ctx context.Context, due []int64) error {
	if len(due) == 0 {
		return nil
	}
	queues, err := collect(ctx, t.tx, pgx.RowTo[string], t.b.q(findQueues), due)
	if err != nil {
		return err
	}
	return t.b.wakeQueues(ctx, t.tx, queues)
}

// KnownJobs implements rowwise.Edges.
func (t edgesTx) KnownJobs(ctx context.Context, ids []int64) ([]int64, error) {
	return collect(ctx, t.tx, pgx.RowTo[int64], t.b.q(findPredecessors), ids)
}

// InsertLinkNotes implements rowwise.Edges. It wakes no node, because the driver carries out the notes after the commit.
func (t edgesTx) InsertLinkNotes(ctx context.Context, ids []int64, now time.Time) error {
	_, err := t.insertLinkNotes(ctx, ids, now, nil)
	return err
}

// insertLinkNotes inserts notes with a wake-up, and returns what the statement returned as sent.
func (t edgesTx) insertLinkNotes(ctx context.Context, ids []int64, now time.Time, wake *string) (sent *string, err error) {
	for part := range slices.Chunk(ids, rowwise.ReleaseNotes) {
		if err := t.tx.QueryRow(ctx, t.b.q(insertLinkReleases), when(now), t.b.channel, wake, part).Scan(&sent); err != nil {
			return nil, err
		}
	}
	return sent, nil
}

// callersEdges are the edges of an insert in a caller's transaction, whose commit wakes the nodes.
type callersEdges struct {
	edgesTx
	wake func(text string) (sent *string, after func(returned *string)) // as in insertion
}

// InsertLinkNotes implements rowwise.Edges.
func (t callersEdges) InsertLinkNotes(ctx context.Context, ids []int64, now time.Time) error {
	wake, after := t.wake(wakeText(store.Wake{Kind: store.WakeCancels}))
	sent, err := t.insertLinkNotes(ctx, ids, now, wake)
	if err == nil {
		after(sent)
	}
	return err
}

// InsertEdges implements rowwise.Edges.
func (t edgesTx) InsertEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	c := columnsOf(edges)
	_, err := t.tx.Exec(ctx, t.b.q(insertEdges), c.on, c.ids, c.delays, c.ons, c.states, c.anys, c.atEnds)
	return err
}

// SaveWaits implements rowwise.Edges.
func (t edgesTx) SaveWaits(ctx context.Context, waits []rowwise.JobWait) error {
	n := len(waits)
	ids, open, runAts := make([]int64, n), make([]*int32, n), make([]*time.Time, n)
	for i, w := range waits {
		ids[i], runAts[i] = w.ID, when(w.RunAt)
		if count := int32(w.Open); count > 0 {
			open[i] = &count
		}
	}
	queues, err := collect(ctx, t.tx, pgx.RowTo[string], t.b.q(updateWaits), ids, open, runAts)
	if err != nil {
		return err
	}
	return t.b.wakeQueues(ctx, t.tx, queues)
}

// EndWaiting implements rowwise.Edges. The jobs have no schedules, so that no serial group
// is concerned.
func (t edgesTx) EndWaiting(ctx context.Context, ends []rowwise.End, now time.Time) error {
	var ids []int64
	var states []int16
	var reasons []string
	for _, end := range ends {
		ids, states, reasons = append(ids, end.ID), append(states, int16(end.State)), append(reasons, end.Reason)
	}
	return serialGroups{}.scan(ctx, t.tx, t.b.q(endJobs), when(now), ids, states, reasons)
}

// LockNotes implements rowwise.Edges.
func (t edgesTx) LockNotes(ctx context.Context, after int64, limit int) ([]rowwise.Note, bool, error) {
	return t.lockNotes(ctx, after, limit, releaseRows)
}

// lockNotes locks up to so many rows.
func (t edgesTx) lockNotes(ctx context.Context, after int64, limit, rows int) (notes []rowwise.Note, more bool, err error) {
	found := 0
	notes, err = collect(ctx, t.tx, func(r pgx.CollectableRow) (n rowwise.Note, err error) {
		err = r.Scan(&n.ID, &n.Number, &n.Place, &n.Last, &n.DoneTo, into(&n.At), &n.Ended.ID, (*int16)(&n.State), &n.Reason, &n.Schedule, &n.Held)
		if n.Last {
			found++
		}
		return n, err
	}, t.b.q(lockReleases), after, rows, limit)
	return notes, found == rows || len(notes) == limit, err
}

// OpenEdges implements rowwise.Edges.
func (t edgesTx) OpenEdges(ctx context.Context, notes []rowwise.Note, limit int) ([]rowwise.JobEdge, error) {
	return t.edgesOn(ctx, findOpenEdges, notes, limit)
}

// EdgesOn implements rowwise.Edges.
func (t edgesTx) EdgesOn(ctx context.Context, notes []rowwise.Note, limit int) ([]rowwise.JobEdge, error) {
	return t.edgesOn(ctx, findEdges, notes, limit)
}

func (t edgesTx) edgesOn(ctx context.Context, find statement, notes []rowwise.Note, limit int) ([]rowwise.JobEdge, error) {
	if len(notes) == 0 {
		return nil, nil
	}
	var on, doneTo, numbers []int64
	for _, note := range notes {
		on, doneTo, numbers = append(on, note.Ended.ID), append(doneTo, note.DoneTo), append(numbers, note.Number)
	}
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (e rowwise.JobEdge, err error) {
		var place, delay int64
		err = r.Scan(&place, &e.ID, &delay, (*int16)(&e.On), &e.Any, &e.AtEnd)
		if err == nil {
			e.Job, e.Delay = on[place-1], time.Duration(delay)*time.Microsecond
		}
		return e, err
	}, t.b.q(find), on, doneTo, numbers, limit)
}

// LockWaiting implements rowwise.Edges. It waits for other transactions.
func (t edgesTx) LockWaiting(ctx context.Context, ids []int64) (waiting []rowwise.JobWait, _ []int64, err error) {
	waiting, _, err = t.lockWaiting(ctx, lockDependents, lockNotStarted, ids)
	return waiting, nil, err
}

// lockWaiting locks jobs that wait, and jobs that were not started. It returns the jobs that
// wait, by number, and which jobs were not locked. Another transaction may let a job wait again
// while it is looked for, so that a job which is in neither table is looked up again.
func (t edgesTx) lockWaiting(ctx context.Context, lock, lockEnded statement, ids []int64) (waiting []rowwise.JobWait, missing []int64, err error) {
	found := make(map[int64]bool, len(ids))
	lockLive := func() error {
		var w rowwise.JobWait
		return each(ctx, t.tx, []any{&w.ID, &w.Open, into(&w.RunAt)}, func() {
			waiting, found[w.ID] = append(waiting, w), true
		}, t.b.q(lock), missing)
	}
	lockFinished := func() error {
		var id int64
		return each(ctx, t.tx, []any{&id}, func() { found[id] = true }, t.b.q(lockEnded), missing)
	}
	missing = ids
	for _, look := range []func() error{lockLive, lockFinished, lockLive} {
		if err := look(); err != nil {
			return nil, nil, err
		}
		missing = slices.DeleteFunc(slices.Clone(missing), func(id int64) bool { return found[id] })
		if len(missing) == 0 {
			break
		}
	}
	slices.SortFunc(waiting, func(a, b rowwise.JobWait) int { return cmp.Compare(a.ID, b.ID) })
	return waiting, missing, nil
}

// FindNotStarted implements rowwise.Edges.
func (t edgesTx) FindNotStarted(ctx context.Context, ids []int64) ([]store.FinishedJob, error) {
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (job store.FinishedJob, err error) {
		err = r.Scan(&job.ID, &job.Kind, &job.Unique)
		return job, err
	}, t.b.q(findNotStarted), ids)
}

// LockKeyHolders implements rowwise.Edges. Another transaction may take a key later; then its note is left for another call.
func (t edgesTx) LockKeyHolders(ctx context.Context, finished []int64, now time.Time) (map[store.JobKey]int64, error) {
	holders := map[store.JobKey]int64{}
	var id, holder int64
	var key store.JobKey
	err := each(ctx, t.tx, []any{&id, &key.Kind, &key.Unique, &holder}, func() { holders[key] = holder }, t.b.q(findKeyHolders), when(now), finished)
	return holders, err
}

// ReopenEdges implements rowwise.Edges.
func (t edgesTx) ReopenEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	c := columnsOf(edges)
	_, err := t.tx.Exec(ctx, t.b.q(reopenEdges), c.on, c.ids, c.notes)
	return err
}

// FindReopenings implements rowwise.Edges.
func (t edgesTx) FindReopenings(ctx context.Context, ids []int64) ([]rowwise.Reopening, error) {
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (job rowwise.Reopening, err error) {
		err = r.Scan(&job.ID, &job.Open, &job.Any, &job.AtEnd, &job.Matched, &job.Missed, into(&job.Latest))
		return job, err
	}, t.b.q(findReopenings), ids)
}

// ReopenJobs implements rowwise.Edges.
func (t edgesTx) ReopenJobs(ctx context.Context, jobs []rowwise.JobWait, now time.Time) error {
	n := len(jobs)
	ids, waits, latest := make([]int64, n), make([]int32, n), make([]*time.Time, n)
	for i, job := range jobs {
		ids[i], waits[i], latest[i] = job.ID, int32(job.Open), when(job.RunAt)
	}
	_, err := t.tx.Exec(ctx, t.b.q(reopenJobs), ids, waits, latest, when(now))
	return err
}

// SaveEdges implements rowwise.Edges.
func (t edgesTx) SaveEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	c := columnsOf(edges)
	tag, err := t.tx.Exec(ctx, t.b.q(updateEdges), c.on, c.ids, c.states, c.notes)
	if err == nil && tag.RowsAffected() < int64(len(edges)) {
		err = errEdgesDecided
	}
	return err
}

// DecidedEdges implements rowwise.Edges.
func (t edgesTx) DecidedEdges(ctx context.Context, ids []int64) ([]rowwise.Decided, error) {
	return collect(ctx, t.tx, func(r pgx.CollectableRow) (d rowwise.Decided, err error) {
		var missed store.Ended
		err = r.Scan(&d.ID, &d.Matched, &missed.ID, (*int16)(&missed.State), &missed.Reason)
		if missed.ID != 0 {
			d.Missed = &missed
		}
		return d, err
	}, t.b.q(findDecidedEdges), ids)
}

// MoveNote implements rowwise.Edges.
func (t edgesTx) MoveNote(ctx context.Context, note rowwise.Note) error {
	_, err := t.tx.Exec(ctx, t.b.q(updateRelease), note.ID, note.Place, note.DoneTo)
	return err
}

// DeleteNotes implements rowwise.Edges.
func (t edgesTx) DeleteNotes(ctx context.Context, ids []int64) error {
	_, err := t.tx.Exec(ctx, t.b.q(deleteReleases), ids)
	return err
}

// edgeColumns are edges as columns.
type edgeColumns struct {
	on, ids, delays []int64
	notes           []int64
	ons, states     []int16
	anys, atEnds    []bool
}

func columnsOf(edges []rowwise.JobEdge) (c edgeColumns) {
	for _, e := range edges {
		c.on, c.ids, c.delays = append(c.on, e.Job), append(c.ids, e.ID), append(c.delays, e.Delay.Microseconds())
		c.ons, c.states = append(c.ons, int16(e.On)), append(c.states, int16(e.State))
		c.anys, c.atEnds, c.notes = append(c.anys, e.Any), append(c.atEnds, e.AtEnd), append(c.notes, e.Note)
	}
	return c
}

// addEdges reads what jobs wait for.
func (b *Backend) addEdges(ctx context.Context, tx querier, jobs []store.JobInfo) error {
	ids, byID := rowwise.ByID(jobs)
	var id, delay int64
	var e store.JobEdge
	return each(ctx, tx, []any{&id, &e.Job, &delay, (*int16)(&e.On), (*int16)(&e.State)}, func() {
		e.Delay = time.Duration(delay) * time.Microsecond
		byID[id].After = append(byID[id].After, e)
	}, b.q(listEdges), ids)
}
