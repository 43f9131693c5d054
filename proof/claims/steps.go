package claims

import "fmt"

// World is what the search looks at: the size of the cluster, what may happen in it, and which mistake it makes.
type World struct {
	Jobs    int     // 1 or 2
	Limit   int8    // how many jobs may run at a time
	Coarse  bool    // a lease passes in one step, and not by ticks, so that there are fewer states
	Slow    bool    // answers to heartbeats may arrive a tick late
	Clock   bool    // the store's clock may be set forward
	Again   bool    // another process starts in the place of one that has ended
	Delayed bool    // a rescue by node 2 may be on its way for any time
	Mistake Mistake // what the contract gets wrong; empty: nothing
}

// Step is a step from a state to another.
type Step struct {
	Does  string
	Node  int  // from 1 on; 0: the step is of no node
	Job   int  // from 1 on; 0: the step is of no job
	Fault bool // it is a fault, or bad luck: work must come to its end without it
	To    State
}

// String describes the step.
func (s Step) String() string {
	switch {
	case s.Node == 0:
		return s.Does
	case s.Job == 0:
		return fmt.Sprintf("node %d %s", s.Node, s.Does)
	}
	return fmt.Sprintf("node %d, job %d: %s", s.Node, s.Job, s.Does)
}

// walk collects the steps from a state.
type walk struct {
	World
	from  State
	steps []Step
}

// add adds a step. n and j are places from 0 on; -1: none.
func (w *walk) add(n, j int, fault bool, does string, to State) {
	w.steps = append(w.steps, Step{does, n + 1, j + 1, fault, to.tidy()})
}

// Steps returns everything that may happen next.
func (w World) Steps(s State) []Step {
	all := walk{World: w, from: s}
	for n := range s.Nodes {
		for j := range s.Jobs[:w.Jobs] {
			all.claim(n, j)
			all.work(n, j)
			all.finish(n, j)
			all.compare(n, j)
		}
		if !s.over() {
			all.beat(n)
			all.end(n)
			all.rescue(n)
			all.rescued(n)
		}
	}
	if !s.over() {
		all.time()
	}
	return all.steps
}

// put writes the row of a job. The count of permits changes with the rows that hold them, in the same transaction: a
// job holds its permit while it runs.
func (w World) put(s *State, j int, row Job) {
	switch before := s.Jobs[j]; {
	case row.State == Running && !before.Permit:
		row.Permit = true
		s.Used++
	case row.State != Running && before.Permit && w.Mistake != PermitKept:
		row.Permit = false
		s.Used--
	}
	s.Jobs[j] = row
}

// claim: a node that trusts its lease claims a ready job, if a permit is free. The store refuses a node that was
// declared dead. The claim is handed to a worker when its commit was answered, and not before.
func (w *walk) claim(n, j int) {
	s := w.from
	node, run, job := &s.Nodes[n], &s.Nodes[n].Runs[j], s.Jobs[j]
	switch {
	case run.Phase == Claiming:
		if run.Phase = Held; job.Begun && job.Held(int16(n+1), run.Token) {
			w.begun(&s, n, j)
		}
		w.add(n, j, false, "the answer to the claim arrives", s)
		s = w.from
		*run = Run{}
		w.add(n, j, true, "the answer to the claim is lost", s)
		return
	case run.Phase != Nothing || !node.trusts() || node.Row == none || job.State != Ready || s.Used >= w.Limit:
		return
	}
	token := job.Token + 1
	if w.Mistake == TokenAgain {
		token = max(job.Token, 1)
		job.Token = 0
	}
	for _, ahead := range []bool{true, false} {
		row, _ := job.Claim(int16(n+1), token, ahead)
		next := s
		w.put(&next, j, row)
		next.Nodes[n].Runs[j] = Run{Claiming, token}
		does := "claimed"
		if ahead {
			does = "claimed ahead"
		}
		w.add(n, j, false, does, next)
	}
	if w.Mistake == ClaimOutlivesRollback {
		s.Nodes[n].Runs[j] = Run{Held, token}
		w.add(n, j, true, "the claim is rolled back, and the node has it", s)
	}
}

// begun: a worker begins.
func (w *walk) begun(s *State, n, j int) {
	s.Nodes[n].Runs[j].Phase = Works
	if job := &s.Jobs[j]; job.FailOnLoss {
		job.Starts = min(job.Starts+1, 2)
	}
}

// work: a job that was claimed ahead begins after the store has recorded that it may. Then its worker ends, or is
// interrupted: because the node stops, or because its lease has passed.
func (w *walk) work(n, j int) {
	s := w.from
	node, run, job := &s.Nodes[n], &s.Nodes[n].Runs[j], s.Jobs[j]
	switch run.Phase {
	case Held:
		if node.Mail[j].Result == NoResult {
			w.ends(n, j, Back, "handed back before it begins")
		}
		if node.Row == none { // the store refuses it; the next heartbeat is told why
			return
		}
		row, _ := job.Begin(int16(n+1), run.Token)
		if w.Mistake != BeginUnrecorded {
			s.Jobs[j] = row
		}
		w.add(n, j, true, "may begin, and the answer is lost", s)
		w.begun(&s, n, j)
		w.add(n, j, false, "begins", s)
	case Works, Late:
		if node.Mail[j].Result != NoResult { // outcomes of a job are written one after another
			return
		}
		w.ends(n, j, Done, "done")
		if job.FailOnLoss && w.Mistake != HandBackBegun {
			w.ends(n, j, Fail, "interrupted, and may not start twice")
			return
		}
		w.ends(n, j, Back, "interrupted, and handed back")
		if w.Mistake == WorkGoesOn {
			s.Nodes[n].Mail[j] = Outcome{Back, run.Token}
			w.add(n, j, false, "handed back, and its worker goes on", s)
		}
	}
}

// ends: a run ends with a result, which is on its way to the store from now on.
func (w *walk) ends(n, j int, r Result, does string) {
	s := w.from
	node := &s.Nodes[n]
	node.Mail[j], node.Runs[j] = Outcome{r, node.Runs[j].Token}, Run{}
	w.add(n, j, false, does, s)
}

// outcomeArrives is how steps begin in which an outcome reaches the store.
const outcomeArrives = "the outcome arrives"

// finish: an outcome arrives. It is sent again until its answer arrives; an outcome of a process that died may be lost.
func (w *walk) finish(n, j int) {
	s := w.from
	mail := &s.Nodes[n].Mail[j]
	if mail.Result == NoResult {
		return
	}
	token := mail.Token
	if w.Mistake == OutcomeWithoutToken {
		token = s.Jobs[j].Token
	}
	row, accepted := s.Jobs[j].Finish(token, mail.Result)
	if w.Mistake == PermitTwice && accepted && row == s.Jobs[j] {
		s.Used--
	}
	w.put(&s, j, row)
	w.add(n, j, true, outcomeArrives+", and its answer is lost", s)
	*mail = Outcome{}
	w.add(n, j, false, outcomeArrives, s)
	if !s.Nodes[n].Up {
		s = w.from
		s.Nodes[n].Mail[j] = Outcome{}
		w.add(n, j, true, "the outcome is lost with the process", s)
	}
}

// compare: a node compares its claims with the store's, and hands back what it does not know: the answer was lost. It
// waits until every call has ended that could still bring the answer.
func (w *walk) compare(n, j int) {
	s := w.from
	node, job := &s.Nodes[n], s.Jobs[j]
	known := node.Runs[j].Phase != Nothing
	if w.Mistake == CompareAtOnce {
		known = known && node.Runs[j].Phase != Claiming
	}
	held := job.State == Running && job.Node == int16(n+1)
	if !node.Up || !held || known || node.Mail[j].Result != NoResult || w.Mistake == NeverCompare {
		return
	}
	node.Mail[j] = Outcome{Back, job.Token}
	w.add(n, j, false, "found in the store, unknown to the node, and handed back", s)
}

// beat: a heartbeat extends the lease in the store when it arrives. The process counts its lease from when it was
// sent, so the process stops trusting first.
func (w *walk) beat(n int) {
	s := w.from
	node := &s.Nodes[n]
	switch {
	case !node.Up:
		return
	case node.Answer != none:
		sent := node.Answer
		if w.Mistake == LeaseFromAnswer {
			sent = 0
		}
		if node.Lease = min(node.Lease, sent); node.Steady == none || node.Told && w.Mistake != JumpIgnored {
			node.Steady = sent
		}
		node.Answer, node.Told = none, false
		w.add(n, -1, false, "gets the answer to its heartbeat", s)
		s = w.from
		node.Answer, node.Told, node.Steady = none, false, none
		w.add(n, -1, true, "misses the answer to its heartbeat", s)
		return
	case node.Row == none: // it is told that it was declared dead, and registers again
		node.lose()
		node.Row, node.Lease, node.Steady, node.Jump, node.Asks = 0, 0, 0, false, NoAsk
		w.add(n, -1, false, "registers again", s)
		return
	case w.Coarse && node.Row == 0:
		return
	}
	if node.Row = 0; node.Asks == Answered {
		node.Asks = Overtaken
	}
	if node.Told, node.Jump = node.Jump, false; w.Slow {
		node.Answer = 0
		w.add(n, -1, false, "sends a heartbeat, which arrives", s)
	} else {
		if node.Lease = 0; node.Steady == none || node.Told && w.Mistake != JumpIgnored {
			node.Steady = 0
		}
		node.Told = false
		w.add(n, -1, false, "sends a heartbeat", s)
	}
	if s = w.from; !w.Coarse {
		node.Steady = none
		w.add(n, -1, true, "cannot send a heartbeat", s)
	}
}

// lose: the process does not own its claims any more. Workers that work have to stop; what has not begun goes back.
func (n *Node) lose() {
	for j, run := range n.Runs {
		switch {
		case run.Phase == Works:
			n.Runs[j].Phase = Late
		case run.Phase == Held && n.Mail[j].Result == NoResult:
			n.Mail[j], n.Runs[j] = Outcome{Back, run.Token}, Run{}
		case run.Phase != Late: // compare finds what the store has committed
			n.Runs[j] = Run{}
		}
	}
	n.Steady = none
}

// end: a process dies at any moment, or leaves in order when its workers have ended; and another starts in its place.
// One of the two lives, as promised.
func (w *walk) end(n int) {
	s := w.from
	node := &s.Nodes[n]
	switch {
	case !node.Up && node.Row == none && w.Again:
		mail := node.Mail
		*node = newNode()
		node.Mail = mail
		w.add(n, -1, false, "starts again", s)
		return
	case !node.Up || !s.Nodes[1-n].Up:
		return
	}
	gone := Node{Row: node.Row, Answer: none, Asks: node.Asks, Mail: node.Mail}
	works := node.Runs[0].Phase >= Works || node.Runs[1].Phase >= Works
	*node = gone
	w.add(n, -1, true, "dies", s)
	if !works {
		w.take(&s, n, false)
		w.add(n, -1, true, "leaves", s)
	}
}

// rescue: a node asks for a rescue. It must have had heartbeats without a failure for one lease: then every living node
// has had the time to send one, after an outage and after a step of the store's clock.
func (w *walk) rescue(n int) {
	s := w.from
	node := &s.Nodes[n]
	waited := node.trusts() && (node.Steady == lease || w.Coarse) || w.Mistake == RescueWithoutWait
	if !node.Up || !waited || node.Asks != NoAsk {
		return
	}
	if node.Asks = Answered; node.Answer != none {
		node.Asks = Overtaken
	}
	if w.delays(n) {
		w.add(n, -1, false, "asks for a rescue", s)
		return
	}
	at := walk{World: w.World, from: s}
	at.rescued(n)
	w.steps = append(w.steps, at.steps...)
}

// delays reports whether rescues by a node may be on their way for any time.
func (w *walk) delays(n int) bool { return w.Delayed && n == 1 }

// rescued: a rescue arrives, whenever it was sent. The store declares the other node dead if its lease has expired by the
// store's clock, and takes its jobs and their permits in the same transaction. The last heartbeat of the node that asked
// must have arrived lately, and must be the one that the rescue names: the answer to a later one may be that the store's
// clock was set.
func (w *walk) rescued(n int) {
	s := w.from
	node, dead := &s.Nodes[n], 1-n
	heard := node.Row != none && node.Row < lease || w.Mistake == RescueUnheard
	known := node.Asks == Answered || w.Mistake == RescueOvertaken
	if node.Asks == NoAsk {
		return
	}
	if node.Asks = NoAsk; heard && known && s.Nodes[dead].Row == lease {
		w.take(&s, dead, true)
		w.add(n, -1, false, fmt.Sprintf("declares node %d dead", dead+1), s)
	} else if w.delays(n) {
		w.add(n, -1, false, "asks in vain for a rescue", s)
	}
}

// take ends the row of a node, and takes its jobs.
func (w *walk) take(s *State, n int, died bool) {
	s.Nodes[n].Row = none
	for j, job := range s.Jobs {
		if job.State == Running && job.Node == int16(n+1) && w.Mistake != JobsLeft {
			w.put(s, j, job.Take(died))
		}
	}
}

// time: a tick passes for everybody; or the store's clock is set forward, so that all leases seem to have expired.
func (w *walk) time() {
	s := w.from
	if w.Coarse {
		for n := range s.Nodes {
			w.lapse(n)
		}
		return
	}
	for n := range s.Nodes {
		node := &s.Nodes[n]
		older(&node.Row)
		if !node.Up {
			continue
		}
		if older(&node.Steady); node.Answer > 0 {
			node.Answer, node.Told, node.Steady = none, false, none
		}
		older(&node.Answer)
		if older(&node.Lease); node.Lease == lease && w.Mistake != LeaseIgnored {
			node.lose()
		}
	}
	w.add(-1, -1, false, "a tick passes", s)
	if !w.Clock {
		return
	}
	s = w.from
	for n := range s.Nodes {
		node := &s.Nodes[n]
		if node.Row != none {
			node.Row = lease
		}
		node.Jump = node.Up
	}
	w.add(-1, -1, true, "the store's clock is set forward", s)
}

// lapse: the lease of a node passes.
func (w *walk) lapse(n int) {
	s := w.from
	node := &s.Nodes[n]
	if node.Row != 0 {
		return
	}
	if node.Row = lease; node.Up {
		node.Lease = lease
		node.lose()
	}
	w.add(n, -1, w.from.Nodes[n].Up, "lets its lease pass", s)
}

// older makes an age a tick older.
func older(a *Age) {
	if *a != none {
		*a = min(*a+1, lease)
	}
}
