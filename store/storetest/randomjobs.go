package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var (
	queues = []string{"q", "r", "q@h"}
	kinds  = []string{"k", "l", "m"}
)

// someJob returns a job, in the reference's numbers.
func (w *world) someJob() store.NewJob {
	j := store.NewJob{
		JobSpec: store.JobSpec{
			Kind: pick(w, kinds...), Queue: pick(w, queues...), Args: fmt.Appendf(nil, "{ \"n\": %d}%s", w.steps, pick(w, "", " ", "\n")),
			Priority: int16(1 + w.rng.IntN(3)), MaxAttempts: int16(1 + w.rng.IntN(3)), Timeout: time.Duration(w.rng.IntN(5)) * time.Second,
		},
	}
	if w.chance(4) {
		j.OnLoss = store.OnLossFail
	}
	if w.chance(3) {
		j.Group = pick(w, groupNames...)
	}
	if w.chance(2) {
		j.Key = pick(w, jobKeys...)
	}
	if w.chance(3) {
		j.Key = pick(w, "c", "d")
	}
	if w.chance(5) {
		j.Headers = []byte(`{"trace":"ü"}`)
	}
	switch w.rng.IntN(4) {
	case 0:
		j.RunAt = w.now.Add(w.within(time.Minute) - 30*time.Second)
	case 1:
		j.Delay = w.within(time.Minute)
	}
	if id := w.someSchedule(); id != 0 && w.chance(3) {
		j.Schedule, j.Origin = id, pick(w, store.OriginTrigger, store.OriginTrigger, store.OriginBackfill, store.OriginBackfillDependents)
		j.Slot = w.now.Add(-w.within(time.Hour))
		j.Waiting = w.chance(2)
	}
	return j
}

// realJob translates a job.
func (w *world) realJob(j store.NewJob) store.NewJob {
	j.Schedule = w.names.schedules.real(j.Schedule)
	j.Args, j.Headers = clone(j.Args), clone(j.Headers)
	return j
}

// someKeyedJob returns a job with a key that another job may have.
func (w *world) someKeyedJob() store.NewJob {
	j := w.someJob()
	j.Schedule, j.Slot, j.Origin, j.Waiting = 0, time.Time{}, store.OriginEnqueue, false
	j.Unique = pick(w, "a", "b", "ü")
	if w.chance(3) {
		j.UniqueFor = w.within(time.Minute) + time.Microsecond
	}
	if w.chance(2) {
		j.OnConflict = pick(w, store.OnConflictReplace, store.OnConflictReschedule, store.OnConflictReschedule)
	}
	if w.chance(20) {
		j.OnConflict = store.OnConflictError
	}
	if w.chance(5) && j.UniqueFor == 0 {
		j.UntilStart = true
	}
	if w.chance(2) {
		j.PushAtMost = w.within(time.Minute) + time.Microsecond
	}
	return j
}

// insertBoth inserts some jobs into both stores and adds the numbers of the jobs
// that were stored to made. With keys, half of the jobs have keys.
func (w *world) insertBoth(op string, client store.Backend, realTx, modelTx store.Tx, keys bool, made pairs) {
	n := 1 + w.rng.IntN(3)
	if w.chance(40) {
		n = 30
	}
	want := store.InsertRequest{Now: w.now, Tx: modelTx, Of: "s"}
	if w.chance(3) {
		want.By = w.someone()
	}
	got := store.InsertRequest{Now: w.now, Tx: realTx, By: want.By, Of: want.Of}
	for range n {
		j := w.someJob()
		if keys && w.chance(2) {
			j = w.someKeyedJob()
		}
		j.Waiting = j.Waiting && realTx == nil
		want.Jobs = append(want.Jobs, j)
		got.Jobs = append(got.Jobs, w.realJob(j))
	}
	a, err := w.model.Insert(w.ctx, want)
	var refused, alsoRefused *store.DuplicateError
	if !errors.As(err, &refused) {
		w.must(err)
	}
	b, err := client.Insert(w.ctx, got)
	if !errors.As(err, &alsoRefused) {
		w.must(err)
	}
	if refused != nil && alsoRefused != nil {
		want := *refused
		want.ID = w.realID(made, want.ID)
		w.compare(op+" refused", got.Jobs, *alsoRefused, want)
		return
	}
	w.compare(op+" refused", want.Jobs, alsoRefused, refused)
	w.compare(op, want.Jobs, len(b.Jobs), len(a.Jobs))
	var last int64
	for i, model := range a.Jobs {
		real := b.Jobs[i]
		w.compare(op+" existed", want.Jobs, real.Existed, model.Existed)
		w.compare(op+" conflict", want.Jobs, real.Conflict, model.Conflict)
		if model.Existed {
			w.compare(op+" found", want.Jobs, real.ID, w.realID(made, model.ID))
			continue
		}
		made.add(real.ID, model.ID)
		if real.ID <= last {
			w.fail("numbers must grow in the order of the request")
		}
		last = real.ID
	}
	if realTx == nil {
		w.auditBoth(want.By)
	}
}

// realID translates the number of a job, which may be among the jobs in made.
func (w *world) realID(made pairs, model int64) int64 {
	if real, ok := made.toReal[model]; ok {
		return real
	}
	return w.names.jobs.real(model)
}

// insert inserts jobs without keys.
func (w *world) insert() { w.insertBoth("Insert", w.client, nil, nil, false, w.names.jobs) }

// insertKeyed inserts jobs that may have keys that may exist.
func (w *world) insertKeyed() {
	w.insertBoth("Insert with keys", w.client, nil, nil, true, w.names.jobs)
}

// transaction inserts in a caller's transaction and reads from outside before
// it commits or rolls back.
func (w *world) transaction() {
	theirs, err := w.real.Begin(w.ctx)
	w.must(err)
	defer func() { _ = theirs.Rollback() }() // a store with an open transaction cannot be closed, also after a failure
	ours := w.model.Begin()
	made := newPairs()
	for range 1 + w.rng.IntN(2) {
		w.insertBoth("Insert in a transaction", w.real.Clients[0], theirs.Tx, ours, false, made)
		w.insertBoth("Insert with keys in a transaction", w.real.Clients[0], theirs.Tx, ours, true, made)
	}
	if w.chance(3) {
		w.client = w.real.Clients[1]
		w.listBoth(store.ListJobsRequest{Limit: 10})
	}
	if w.chance(2) {
		w.must(theirs.Rollback())
		w.must(ours.Rollback())
		w.compare("Rollback", made, nil, nil)
		return
	}
	w.must(theirs.Commit())
	w.must(ours.Commit())
	w.compare("Commit", made, nil, nil)
	for real, model := range made.toModel {
		w.names.jobs.add(real, model)
	}
	w.compareAudit(5)
}

// someNode returns a node, mostly a living node; 0: there is none.
func (w *world) someNode() int64 {
	if len(w.nodes) == 0 {
		return 0
	}
	if w.chance(10) {
		return pick(w, w.nodes...)
	}
	return w.livingNode()
}

func (w *world) livingNode() int64 {
	nodes, err := store.List[store.NodeInfo](w.ctx, w.model, store.ListRequest{})
	w.must(err)
	var living []int64
	for _, n := range nodes {
		if n.EndedAt.IsZero() {
			living = append(living, n.ID)
		}
	}
	if len(living) == 0 {
		return 0
	}
	return pick(w, living...)
}

func (w *world) claim() {
	req := store.ClaimRequest{Now: w.now, Node: w.someNode(), Queue: pick(w, queues...), Limit: 1 + w.rng.IntN(4)}
	for _, kind := range kinds {
		if !w.chance(4) {
			req.Kinds = append(req.Kinds, kind)
		}
	}
	if w.chance(3) {
		req.Kinds, req.Exact = nil, w.someExact()
	}
	if w.chance(2) {
		req.Ahead = w.rng.IntN(req.Limit + 1)
	}
	req.Suspects, req.Starts = w.chance(4), !w.chance(5)
	if !req.Suspects && w.chance(4) {
		req.DueFor = pick(w, time.Microsecond, time.Second, time.Minute)
	}
	req.Limit = max(req.Limit, w.allDue(req))
	want, wantErr := w.model.Claim(w.ctx, req)
	sent := req
	sent.Node = w.names.nodes.real(req.Node)
	sentAt := time.Now()
	got, gotErr := w.sendClaim(sent)
	for n := 0; gotErr == nil && n < heldUp && len(want.Jobs) > 0 && asksAgain(got); n++ {
		time.Sleep(20 * time.Millisecond)
		got, gotErr = w.sendClaim(sent)
	}
	if !w.agree("Claim", req, gotErr, wantErr, true) {
		return
	}
	if from := got.StartsFrom; !from.IsZero() && (from.Before(sentAt) || from.After(time.Now())) {
		w.fail(fmt.Sprintf("Claim: the starts of a claim that was sent at %v must count from then or later, and not from %v", sentAt, from))
	}
	b := batch{id: got.Batch}
	got.Batch, got.StartsFrom = 0, time.Time{}
	if len(got.Jobs) == 0 {
		got.Jobs = nil
	}
	for i := range got.Jobs {
		if i < len(want.Jobs) {
			w.claimed(&got.Jobs[i], want.Jobs[i])
			b.refs = append(b.refs, store.ClaimRef{ID: want.Jobs[i].ID, Token: want.Jobs[i].Token})
		}
	}
	pauses, err := store.List[store.Pause](w.ctx, w.model, store.ListRequest{Now: w.now})
	w.must(err)
	limits, err := store.List[store.LimitInfo](w.ctx, w.model, store.ListRequest{Now: w.now})
	w.must(err)
	if len(pauses)+len(limits) > 0 { // when a paused job would be due is of no use to a node
		got.NextDue, want.NextDue = time.Time{}, time.Time{}
	}
	if !got.NoSuspects { // a store need not look for them
		want.NoSuspects = false
	}
	w.compare("Claim", req, got, want)
	w.remember(want.Jobs)
	if n := len(b.refs); n > 0 && w.chance(2) {
		w.beginJobs(req.Node, b.id, b.refs[w.rng.IntN(n):])
	}
	w.claims = append(w.claims, b.refs...)
	w.claims = w.claims[max(0, len(w.claims)-300):]
	if b.id != 0 {
		w.batches[req.Node] = append(w.batches[req.Node], b)
	}
}

// surelyReached is how many due jobs of its queue any claim looks at.
const surelyReached = 16

// allDue returns how many due jobs lie in the queue of a claim, if there are limits and the claim may not look at all of these jobs; otherwise 0. A store
// may leave jobs without permits that lie behind what a claim takes, while the reference gives permits to all: such a claim takes all.
func (w *world) allDue(req store.ClaimRequest) (due int) {
	if req.Starts || req.DueFor > 0 { // then a store looks at many more
		return 0
	}
	limits, err := store.List[store.LimitInfo](w.ctx, w.model, store.ListRequest{Now: w.now})
	w.must(err)
	if len(limits) == 0 {
		return 0
	}
	jobs, err := w.model.ListJobs(w.ctx, store.ListJobsRequest{
		Now: w.now, JobFilter: store.JobFilter{States: []store.State{store.StateReady}, Queue: req.Queue}, Limit: 10_000,
	})
	w.must(err)
	for i := range jobs {
		if !jobs[i].RunAt.After(w.now) {
			due++
		}
	}
	if due <= surelyReached {
		return 0
	}
	return due
}

// beginJobs lets claims of one batch begin, mostly in the name of their node.
func (w *world) beginJobs(node, batch int64, refs []store.ClaimRef) {
	own := node
	if w.chance(5) {
		node = w.someNode()
	}
	req := store.BeginRequest{Now: w.now, Node: node, Name: "n", Claims: refs}
	sent := store.BeginRequest{Now: w.now, Node: w.names.nodes.real(node), Name: "n", Batch: batch}
	for _, ref := range refs {
		sent.Claims = append(sent.Claims, w.names.realRef(ref))
	}
	if node == own {
		sent.Starts, req.Starts = w.someStarts(refs)
	}
	want, wantErr := w.model.BeginJobs(w.ctx, req)
	got, gotErr := w.client.BeginJobs(w.ctx, sent)
	if w.agree("BeginJobs", req, gotErr, wantErr, true) {
		for i, id := range got.Paused {
			got.Paused[i] = w.names.jobs.model(id)
		}
		slices.Sort(got.Paused)
		slices.Sort(want.Paused)
		w.compare("BeginJobs", req, append([]int64{}, got.Paused...), append([]int64{}, want.Paused...))
	}
	w.pairMade("BeginJobs", req)
}

// someExact returns kinds and args of some ready jobs, and of no job.
func (w *world) someExact() []store.ExactJob {
	jobs, err := w.model.ListJobs(w.ctx, store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateReady}}, Limit: 20, Attempts: true})
	w.must(err)
	var exact []store.ExactJob
	for _, job := range jobs {
		switch w.rng.IntN(6) {
		case 0:
			job.Kind = pick(w, kinds...)
		case 1:
			job.Args = append(job.Args, ' ')
		case 2:
			continue
		}
		exact = append(exact, store.NewExactJob(job.Kind, job.Args))
	}
	return exact
}

// claimed translates a claimed job, after checking its token.
func (w *world) claimed(got *store.Claimed, want store.Claimed) {
	n := w.names
	got.ID = n.jobs.model(got.ID)
	got.Schedule = n.schedules.model(got.Schedule)
	got.Headers = n.modelHeaders(got.Headers, want.Headers)
	if got.Token <= n.lastToken[got.ID] || got.Schedule != 0 && got.Token == n.lastScheduleToken[got.Schedule] {
		w.fail(fmt.Sprintf("Claim: the token %d of job %d must be greater than every one before for the job (%d) and for its schedule (%d)",
			got.Token, got.ID, n.lastToken[got.ID], n.lastScheduleToken[got.Schedule]))
	}
	n.lastToken[got.ID] = got.Token
	n.lastScheduleToken[got.Schedule] = max(got.Token, n.lastScheduleToken[got.Schedule])
	if got.ID == want.ID {
		of(n.tokens, got.ID).add(got.Token, want.Token)
		got.Token = want.Token
	}
}

// someClaims returns claims of different jobs; most of them are still held.
func (w *world) someClaims() []store.ClaimRef {
	var refs []store.ClaimRef
	if node := w.livingNode(); node != 0 {
		held, err := w.model.Claims(w.ctx, store.ClaimsRequest{Node: node})
		w.must(err)
		w.rng.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
		refs = held[:min(len(held), 1+w.rng.IntN(4))]
	}
	if len(w.claims) > 0 && w.chance(2) {
		old := pick(w, w.claims...)
		if !slices.ContainsFunc(refs, func(ref store.ClaimRef) bool { return ref.ID == old.ID }) {
			refs = append(refs, old)
		}
	}
	return refs
}

func (w *world) finish() {
	want, got := store.FinishRequest{Now: w.now, Node: "n"}, store.FinishRequest{Now: w.now, Node: "n"}
	asked := map[store.ClaimRef]store.ClaimRef{}
	for _, ref := range w.someClaims() {
		o := store.Outcome{ID: ref.ID, Token: ref.Token, Result: store.Result(w.rng.IntN(6)), Delay: w.within(30 * time.Second)}
		if w.chance(3) {
			o.Error, o.Trace = fmt.Sprint("error ", w.steps), pick(w, "", "trace")
		}
		if w.chance(5) {
			o.Output = fmt.Append(nil, "out\x00", w.steps)
			o.Printed = int64(w.rng.IntN(20))
		}
		o.OutputSaved = w.chance(2)
		if w.chance(3) {
			o.Value = fmt.Append(nil, `{"ü": `, w.steps, " }")
		}
		if w.chance(2) {
			o.After = w.someFollowUp()
		}
		o.Alone = w.chance(2) && w.withoutSchedule(ref.ID)
		o.LeaseLost = w.chance(2)
		if w.chance(4) {
			o.Keep = pick(w, store.Forget, w.within(time.Minute)+time.Microsecond)
		}
		var job *store.Claimed // in the numbers of the store
		job, o.Job = w.knownJob(ref)
		want.Outcomes = append(want.Outcomes, o)
		real := w.names.realRef(ref)
		asked[real] = ref
		o.ID, o.Token, o.Output, o.Value, o.After = real.ID, real.Token, clone(o.Output), clone(o.Value), w.realFollowUp(o.After)
		o.Job = job
		got.Outcomes = append(got.Outcomes, o)
	}
	a, err := w.model.Finish(w.ctx, want)
	w.must(err)
	b, err := w.client.Finish(w.ctx, got)
	w.must(err)
	w.compare("Finish", want.Outcomes, w.names.modelRefs(b.Refused, asked), sortRefs(a.Refused))
	w.pairMade("Finish", want.Outcomes)
}

// withoutSchedule reports whether there is a job that has no schedule.
func (w *world) withoutSchedule(id int64) bool {
	jobs, err := w.model.ListJobs(w.ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}, Limit: 1})
	w.must(err)
	return len(jobs) == 1 && jobs[0].Schedule == 0
}

// someJobs returns numbers of jobs that exist, or did exist.
func (w *world) someJobs(n int) []int64 {
	jobs, err := w.model.ListJobs(w.ctx, store.ListJobsRequest{Limit: 300})
	w.must(err)
	var ids []int64
	for range n {
		id := int64(1 + w.rng.IntN(1<<20)) // most likely unknown
		if len(jobs) > 0 && !w.chance(12) {
			id = pick(w, jobs...).ID
		}
		if !slices.Contains(ids, id) && (w.names.jobs.toReal[id] != 0 || !w.exists(id)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// exists reports whether a number has ever been given to a job of the
// reference.
func (w *world) exists(id int64) bool {
	jobs, err := w.model.ListJobs(w.ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}, Limit: 1})
	w.must(err)
	return len(jobs) > 0
}

func (w *world) changeJobs() {
	req := store.ChangeJobsRequest{Now: w.now, Action: store.JobAction(w.rng.IntN(5)), Reason: "asked", By: w.someone()}
	several := w.chance(3) // another request of the last change
	if several {
		req.EntryID = w.entry[1]
	}
	switch req.Action {
	case store.MoveJobs:
		req.Queue = pick(w, queues...)
	case store.ReprioritiseJobs:
		req.Priority = int16(1 + w.rng.IntN(3))
	}
	if w.chance(6) {
		req.Action, req.Schedule = store.CancelJobs, pick(w, scheduleNamesOf...)
	} else {
		req.IDs = w.someJobs(w.rng.IntN(4))
		if w.chance(3) {
			req.Match = w.someFilter()
			req.Match.IDs = nil
		}
	}
	want, err := w.model.ChangeJobs(w.ctx, req)
	w.must(err)
	sent := req
	sent.IDs = nil
	if several {
		sent.EntryID = w.entry[0]
	}
	for _, id := range req.IDs {
		sent.IDs = append(sent.IDs, w.names.jobs.real(id))
	}
	got, err := w.client.ChangeJobs(w.ctx, sent)
	w.must(err)
	var changes []store.JobChange
	for _, c := range got.Changes {
		model := w.names.jobs.model(c.ID)
		if c.ID > unknown {
			model = c.ID - unknown
		}
		if c.Holder != 0 {
			c.Holder = w.names.jobs.model(c.Holder)
		}
		changes = append(changes, store.JobChange{ID: model, Change: c.Change, Holder: c.Holder})
	}
	w.compare("ChangeJobs", req, changes, want.Changes)
	w.compare("ChangeJobs, an entry in the audit", req, got.EntryID != 0, want.EntryID != 0)
	w.entry = [2]int64{got.EntryID, want.EntryID}
	w.auditBoth(req.By)
}

// someFilter returns conditions that some jobs may meet.
func (w *world) someFilter() (f store.JobFilter) {
	if w.chance(2) {
		f.States = []store.State{store.State(w.rng.IntN(6)), store.State(w.rng.IntN(6))}
	}
	if w.chance(4) {
		f.Scheduled, f.Retrying = w.chance(2), w.chance(2)
	}
	for _, given := range []struct {
		to    *string
		words []string
	}{
		{&f.Queue, queues},
		{&f.Kind, kinds},
		{&f.Schedule, scheduleNamesOf},
		{&f.HostsOf, scheduleNamesOf},
		{&f.Group, groupNames},
		{&f.Key, jobKeys},
		{&f.Unique, []string{"a", "b", "ü"}},
		{&f.Error, []string{"error", "1", "asked", "lost"}},
		{&f.ArgsText, []string{"1", "{", "\"", "ü"}},
	} {
		if w.chance(4) {
			*given.to = pick(w, given.words...)
		}
	}
	for _, at := range []*time.Time{&f.CreatedSince, &f.CreatedUntil, &f.FinishedSince, &f.FinishedUntil} {
		if w.chance(8) {
			*at = w.now.Add(-w.within(time.Hour))
		}
	}
	if w.chance(5) {
		f.IDs = w.someJobs(5)
	}
	return f
}

func (w *world) listJobs() {
	req := store.ListJobsRequest{JobFilter: w.someFilter(), Now: w.now, Limit: 1 + w.rng.IntN(30), Attempts: w.chance(2), OldestFirst: w.chance(3)}
	if ids := w.someJobs(1); len(ids) == 1 && w.exists(ids[0]) && w.chance(3) {
		req.Before = ids[0]
	}
	w.listBoth(req)
}

func (w *world) countJobs() {
	req := store.CountJobsRequest{JobFilter: w.someFilter(), Now: w.now}
	want, err := w.model.CountJobs(w.ctx, req)
	w.must(err)
	sent := req
	sent.JobFilter = w.realFilter(req.JobFilter)
	got, err := w.client.CountJobs(w.ctx, sent)
	w.must(err)
	w.compare("CountJobs", req, got, want)
}

// realFilter translates a filter.
func (w *world) realFilter(f store.JobFilter) store.JobFilter {
	ids := f.IDs
	f.IDs = nil
	for _, id := range ids {
		f.IDs = append(f.IDs, w.names.jobs.real(id))
	}
	return f
}

func (w *world) listBoth(req store.ListJobsRequest) {
	want, err := w.model.ListJobs(w.ctx, req)
	w.must(err)
	sent := req
	sent.JobFilter = w.realFilter(req.JobFilter)
	sent.Before = w.names.jobs.real(req.Before)
	got, err := w.client.ListJobs(w.ctx, sent)
	w.must(err)
	w.compare("ListJobs", req, w.names.modelJobs(got, want, w.nodeNames()), want)
}

// nodeNames returns the names of the nodes that are listed.
func (w *world) nodeNames() map[string]bool {
	nodes, err := store.List[store.NodeInfo](w.ctx, w.model, store.ListRequest{})
	w.must(err)
	names := map[string]bool{}
	for _, n := range nodes {
		names[n.Name] = true
	}
	return names
}
