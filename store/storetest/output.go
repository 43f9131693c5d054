package storetest

import (
	"bytes"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var outputTests = []scenario{
	{"OfARunningAttempt", outputRunning},
	{"IsBounded", outputBounded},
	{"OfAnEndedAttempt", outputEnded},
	{"OfALostAttempt", outputLost},
	{"StaleTokenIsRefused", outputStale},
	{"Batch", outputBatch},
	{"IsReplaced", outputReplaced},
}

// saveOutput stores output of a claim, and reports whether the store took it.
func (e *env) saveOutput(c store.Claimed, from int64, data []byte) bool {
	e.t.Helper()
	ref := store.ClaimRef{ID: c.ID, Token: c.Token}
	saved, err := e.a.SaveOutput(e.ctx, store.SaveOutputRequest{Claims: []store.ClaimOutput{{ClaimRef: ref, From: from, Data: data}}})
	e.must(err)
	if len(saved) > 0 {
		e.want(saved, []store.ClaimRef{ref}, "the answer must name the claims whose output was stored")
	}
	return len(saved) > 0
}

// output reads the output of an attempt; token 0 is the last claim.
func (e *env) output(id, token, from int64) store.JobOutput {
	e.t.Helper()
	out, err := e.b.ReadOutput(e.ctx, store.ReadOutputRequest{ID: id, Token: token, From: from})
	e.must(err)
	if len(out.Data) == 0 {
		out.Data = nil
	}
	return out
}

// runningOutput is the answer for an attempt that runs.
func runningOutput(c store.Claimed, from int64, data []byte) store.JobOutput {
	return store.JobOutput{
		State: store.StateRunning, Last: c.Token, Token: c.Token, Attempt: c.Attempt, Running: true, Printed: store.Printed{From: from, Data: data},
	}
}

// countedBytes returns n bytes that differ from their neighbours.
func countedBytes(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i*7 + i/251)
	}
	return data
}

func outputRunning(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.want(e.output(c.ID, 0, 0), runningOutput(c, 0, nil), "an attempt that has printed nothing must have no output")
	all := countedBytes(3*store.OutputBlock - 5)
	e.ok(e.saveOutput(c, 0, all[:10]), "output of a running attempt must be stored")
	e.want(e.output(c.ID, 0, 0), runningOutput(c, 0, all[:10]), "output must be read byte for byte")
	e.ok(e.saveOutput(c, 0, all), "output of a running attempt must be stored")
	e.ok(e.saveOutput(c, 2*store.OutputBlock, all[2*store.OutputBlock:]), "a repetition must be stored")
	e.want(e.output(c.ID, 0, 0), runningOutput(c, 0, all), "output must continue what was stored before")
	const from = store.OutputBlock + 17
	e.want(e.output(c.ID, c.Token, from), runningOutput(c, from, all[from:]), "a reader must get the output from a byte on")
	e.want(e.output(c.ID, 0, int64(len(all))), runningOutput(c, int64(len(all)), nil), "a reader that has all must get nothing")
	e.want(e.job(c.ID).Attempts, []store.Attempt(nil), "output of a running attempt must not be a record")
	_, err := e.a.ReadOutput(e.ctx, store.ReadOutputRequest{ID: c.ID + 1000})
	e.is(err, store.ErrNotFound, "a job that does not exist must be refused")
	saved, err := e.a.SaveOutput(e.ctx, store.SaveOutputRequest{})
	e.must(err)
	e.want(len(saved), 0, "an empty request must do nothing")
	ready := e.insertOne(newJob())
	e.want(e.output(ready, 0, 0), store.JobOutput{State: store.StateReady}, "a job that was never claimed must have no output")
}

func outputBounded(e *env) {
	c := e.running(e.node("n"))
	all := countedBytes(store.OutputLimit * 3)
	for at := 0; at < len(all); at += 7 * store.OutputBlock {
		e.ok(e.saveOutput(c, int64(at), all[at:min(at+7*store.OutputBlock, len(all))]), "output must be stored in parts")
	}
	want := store.Printed{From: int64(len(all)) - store.OutputLimit, Data: all[len(all)-store.OutputLimit:]}
	e.want(e.output(c.ID, 0, 0).Printed, want, "only the last bytes of a long output must be kept")
	const jump = 100 * store.OutputLimit
	e.ok(e.saveOutput(c, jump, all[:100]), "output after a gap must be stored")
	e.want(e.output(c.ID, 0, 0).Printed, store.Printed{From: jump, Data: all[:100]},
		"bytes before a gap must not be shown as if they were followed by bytes after it")
}

func outputEnded(e *env) {
	n := e.node("n")
	for _, result := range []store.Result{store.Completed, store.Failed, store.Retry, store.Release, store.Cancelled, store.Snooze} {
		c := e.running(n)
		e.ok(e.saveOutput(c, 0, []byte("begun")), "output of a running attempt must be stored")
		o := outcome(c, result)
		if result != store.Completed {
			o.Error = "why"
		}
		o.Output, o.Printed, o.OutputSaved = []byte("begun, ended"), 1000, true
		e.finishWell(o)
		e.want(e.output(c.ID, 0, 0).Printed, store.Printed{From: 988, Data: o.Output}, "the output of the outcome must be kept, with the number of all bytes")
		e.want(e.output(c.ID, c.Token, 995).Printed, store.Printed{From: 995, Data: []byte("ended")}, "a reader must get the rest of the output")
		e.want(e.job(c.ID).Attempts[0].Printed, int64(1000), "the record must have the number of all bytes")
		if result == store.Retry || result == store.Release || result == store.Snooze {
			d := e.claimOne(n)
			e.want(e.output(c.ID, 0, 0), runningOutput(d, 0, nil), "the next attempt must begin without output")
			old := e.output(c.ID, c.Token, 0)
			e.ok(!old.Running && old.Last == d.Token && old.Token == c.Token && string(old.Data) == string(o.Output),
				"the output of the attempt before must still be read")
			e.finishWell(outcome(d, store.Completed))
		}
	}
	c := e.running(n)
	e.ok(e.saveOutput(c, 0, []byte("x")), "output of a running attempt must be stored")
	o := outcome(c, store.Completed)
	o.OutputSaved = true
	e.finishWell(o)
	e.want(e.output(c.ID, 0, 0), store.JobOutput{State: store.StateCompleted, Last: c.Token, Token: c.Token}, "an outcome without output must leave none")
}

func outputLost(e *env) {
	living := e.node("living")
	dying := e.nodeFor("dying", time.Second)
	c := e.running(dying)
	quiet := e.running(dying)
	long := countedBytes(store.OutputLimit + store.OutputBlock)
	e.ok(e.saveOutput(c, 0, long), "output of a running attempt must be stored")
	e.tick(time.Minute)
	e.heartbeat(living)
	e.rescue(living)
	records := e.job(c.ID).Attempts
	e.ok(len(records) == 1 && bytes.Equal(records[0].Output, long[store.OutputBlock:]) && records[0].Printed == int64(len(long)),
		"the stored output of an attempt whose node died must become the output of its record")
	e.want(e.output(c.ID, 0, 0).Printed, store.Printed{From: store.OutputBlock, Data: long[store.OutputBlock:]}, "the output of a lost attempt must be read")
	e.ok(!e.saveOutput(c, 0, []byte("zombie")), "a node whose job was taken must not store output")
	e.want(len(e.job(quiet.ID).Attempts[0].Output), 0, "an attempt that printed nothing must have no output")

	left := e.node("leaver")
	e.tick(time.Hour)
	d := e.claimOne(left)
	e.ok(e.saveOutput(d, 0, []byte("left")), "output of a running attempt must be stored")
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: left})
	e.must(err)
	e.want(string(e.output(d.ID, d.Token, 0).Data), "left", "the output of an attempt whose node left must be kept")
}

func outputStale(e *env) {
	n := e.node("n")
	old := e.running(n)
	e.finishWell(outcome(old, store.Retry))
	e.ok(!e.saveOutput(old, 0, []byte("late")), "output of an attempt that has ended must be refused")
	current := e.claimOne(n)
	e.ok(e.saveOutput(current, 0, []byte("mine")), "output of a running attempt must be stored")
	e.ok(!e.saveOutput(old, 0, []byte("zombie")), "output under an old token must be refused")
	e.want(string(e.output(old.ID, 0, 0).Data), "mine", "refused output must change nothing")
	o := outcome(current, store.Completed)
	o.OutputSaved = true
	e.finishWell(o)
	e.ok(!e.saveOutput(current, 0, []byte("late")), "output of a finished job must be refused")
	e.changeOne(store.DeleteJobs, old.ID)
	e.ok(!e.saveOutput(current, 0, []byte("of no job")), "output of a job that does not exist must be refused")
}

func outputBatch(e *env) {
	const size = 200
	e.insertN(size)
	jobs := e.claim(e.node("n"), size)
	var req store.SaveOutputRequest
	for i, j := range jobs {
		if i%5 == 0 {
			j.Token++
		}
		c := store.ClaimOutput{ClaimRef: store.ClaimRef{ID: j.ID, Token: j.Token}, Data: countedBytes(1 + i*100)}
		req.Claims = append([]store.ClaimOutput{c}, req.Claims...)
	}
	saved, err := e.a.SaveOutput(e.ctx, req)
	e.must(err)
	e.want(len(saved), size-size/5, "each output of a batch must be stored, unless the token is not the job's")
	for i, j := range jobs {
		want := runningOutput(j, 0, countedBytes(1+i*100))
		if i%5 == 0 {
			want.Data = nil
		}
		e.want(e.output(j.ID, 0, 0), want, "each output of a batch must be stored with its own job")
	}
}

// outputReplaced checks output that becomes shorter, as after JobRow.SetOutput.
func outputReplaced(e *env) {
	c := e.running(e.node("n"))
	e.ok(e.saveOutput(c, 0, countedBytes(5*store.OutputBlock)), "output of a running attempt must be stored")
	e.ok(e.saveOutput(c, 0, []byte("short")), "output of a running attempt must be stored")
	e.want(e.output(c.ID, 0, 0), runningOutput(c, 0, []byte("short")), "output must replace what was stored from its place on")
}

// saveOutput stores output of some claims in both stores.
func (w *world) saveOutput() {
	var want, got store.SaveOutputRequest
	for _, ref := range w.someClaims() {
		c := store.ClaimOutput{
			ClaimRef: ref, From: int64(w.rng.IntN(30)) * store.OutputBlock,
			Data: countedBytes(1 + w.rng.IntN(store.OutputBlocks*store.OutputBlock)),
		}
		want.Claims = append(want.Claims, c)
		c.ClaimRef = w.names.realRef(ref)
		got.Claims = append(got.Claims, c)
	}
	a, err := w.model.SaveOutput(w.ctx, want)
	w.must(err)
	b, err := w.client.SaveOutput(w.ctx, got)
	w.must(err)
	for _, c := range want.Claims {
		w.compare("SaveOutput", c.ClaimRef, slices.Contains(b, w.names.realRef(c.ClaimRef)), slices.Contains(a, c.ClaimRef))
		w.readOutput(c.ClaimRef, 0)
		w.readOutput(c.ClaimRef, int64(w.rng.IntN(50*store.OutputBlock)))
	}
}

// readOutput compares the output of a claim, and of the last claim of its job.
func (w *world) readOutput(ref store.ClaimRef, from int64) {
	real := w.names.realRef(ref)
	for _, last := range []bool{false, true} {
		want, got := store.ReadOutputRequest{ID: ref.ID, Token: ref.Token, From: from}, store.ReadOutputRequest{ID: real.ID, Token: real.Token, From: from}
		if last {
			want.Token, got.Token = 0, 0
		}
		a, wrong := w.model.ReadOutput(w.ctx, want)
		b, err := w.client.ReadOutput(w.ctx, got)
		if wrong != nil || err != nil {
			w.compare("ReadOutput", want, err == nil, wrong == nil)
			continue
		}
		b.Last, b.Token = w.names.modelToken(ref.ID, b.Last), w.names.modelToken(ref.ID, b.Token)
		if len(a.Data)+len(b.Data) == 0 {
			a.Data, b.Data = nil, nil
		}
		w.compare("ReadOutput", want, b, a)
	}
}
