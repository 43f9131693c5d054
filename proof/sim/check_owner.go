package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

// oneOwner: a job is not run twice at the same time, unless a worker went on after its node had lost the claim; and
// the outcome that is stored is the answer of the run that had the job's last token.
func oneOwner(e *evidence) {
	for id, runs := range e.runsByID {
		for i, a := range runs {
			for _, b := range runs[i+1:] {
				if meet(a, b) && !e.zombie(a) && !e.zombie(b) {
					e.fail("job %d ran twice at the same time: %v, and %v", id, a, b)
				}
			}
			if a.Left <= 0 {
				e.fail("%v, although its node could not trust its lease", a)
			}
		}
		j := e.byID[id]
		if j == nil {
			continue
		}
		last := slices.IndexFunc(runs, func(r *run) bool { return r.Token == j.Token })
		if j.State == store.StateCompleted && (last < 0 || runs[last].Answer != "ok") {
			e.fail("job %d is completed by token %d, whose run did not answer that: %v", id, j.Token, runs)
		}
	}
}

// leasesEndFirst: when a node is declared dead, the contexts of its runs have ended; and no node trusts its lease for longer than the
// store keeps it.
func leasesEndFirst(e *evidence) {
	for _, r := range e.runs {
		if trusted := r.Start.Real.Add(r.Left); trusted.After(r.Lease) {
			e.fail("%v; its node would have trusted its lease for %v longer than the store keeps it", r, trusted.Sub(r.Lease))
		}
	}
	for _, taken := range e.taken {
		for _, r := range e.runsByID[taken.id] {
			since := taken.at.Real.Add(-2 * e.plan.Lease)
			if r.Token == taken.token && r.over().After(taken.at.Real) && !r.Died && !e.zombie(r) && !e.stepped(since, taken.at.Real) {
				e.fail("%v, although its node was declared dead at %s", r, clock(taken.at.Store))
			}
		}
	}
}

// processesAreOneNode: at the end each process is registered once; once more if the answer to its registration was lost.
func processesAreOneNode(e *evidence) {
	living := map[string]int{}
	for _, n := range e.nodes {
		if n.EndedAt.IsZero() {
			living[n.Name]++
		}
	}
	for name, n := range living {
		if n > 2 {
			e.fail("%s is registered as %d nodes", name, n)
		}
	}
}

// tokensGrow: each claim of a job, and each job of a schedule, has a greater token than all before it.
func tokensGrow(e *evidence) {
	last := map[int64]int64{}
	seen := map[int64]*run{}
	for _, r := range e.runs {
		if r.Token <= last[r.ID] && !e.faulty(r.Node, r.Start.Real.Add(-time.Minute), r.Start.Real) {
			e.fail("%v, after a run with token %d", r, last[r.ID])
		}
		last[r.ID] = max(last[r.ID], r.Token)
		if other := seen[r.Token]; other != nil {
			e.fail("%v, and %v: with one token", r, other)
		}
		seen[r.Token] = r
	}
}

// livingNodesKeepTheirJobs: a run of a node without a fault is not lost: nothing repeats it after it
// has answered ok.
func livingNodesKeepTheirJobs(e *evidence) {
	for _, runs := range e.runsByID {
		for i, r := range runs {
			if r.Answer != "ok" || !r.Heeds || completesInTx(r.Kind) || i == len(runs)-1 || e.disturbed(r) {
				continue
			}
			if a := e.askedBy[r.ID]; a != nil && a.Job.Timeout > 0 || e.touched(r) {
				continue
			}
			e.fail("%v, and then %v", r, runs[i+1])
		}
	}
}

// touched reports whether a user has changed the job of a run by hand.
func (e *evidence) touched(r *run) bool { return e.changed[r.ID] }

// deadNodesJobsRunElsewhere: the first loss of a job costs a lease and a second, if another node lived throughout.
func deadNodesJobsRunElsewhere(e *evidence) {
	for id, runs := range e.runsByID {
		for i, r := range runs {
			j := e.byID[id]
			first := r.Died && (i == 0 || !runs[i-1].Died)
			if !first || j == nil || i == len(runs)-1 || r.FailOnLoss || r.Attempt >= r.MaxAttempts || e.touched(r) {
				continue
			}
			if strings.Contains(r.Queue, "@") { // the host may have no other node
				continue
			}
			next, died := runs[i+1], r.End.Real
			// The plan leaves capacity to spare, so that what is due starts soon.
			most := e.plan.Lease + e.plan.Lease/10 + 15*time.Second
			if took := next.Start.Real.Sub(died); took > most && !e.anyFault(died, next.Start.Real) && !e.bounded(next) {
				e.fail("%v; it started again only %v later: %v", r, took, next)
			}
		}
	}
}

// anyFault reports whether anything had a fault from a lease before one instant to another, besides the death at the
// first instant.
func (e *evidence) anyFault(from, to time.Time) bool {
	for _, f := range e.faults {
		if !f.From.After(to) && !f.To.Before(from.Add(-e.plan.Lease)) && (f.Kind != "kill" || !f.From.Equal(from)) {
			return true
		}
	}
	return e.plan.Weather.Before+e.plan.Weather.After+e.plan.Weather.Slow > 0
}

// bounded reports whether a limit or a pause may have held up a run.
func (e *evidence) bounded(*run) bool { return len(e.limits) > 0 || len(e.pauses) > 0 }

// lostJobsFail: a job that fails on loss does not run after its process died in a run, unless the attempt had ended before, because its
// worker ignored its context and was abandoned.
func lostJobsFail(e *evidence) {
	for _, runs := range e.runsByID {
		for i, r := range runs {
			abandoned := r.Kind == kindSlow && !r.Heeds
			if r.Died && r.FailOnLoss && !abandoned && i < len(runs)-1 && !e.touched(r) {
				e.fail("%v; it fails on loss, and ran again: %v", r, runs[i+1])
			}
		}
	}
}

// anOutageCostsNoAttempts: an attempt is lost only if its own node died, stood still, or was cut off: an outage of the
// store and a step of its clock kill no work.
func anOutageCostsNoAttempts(e *evidence) {
	began := e.at.Real.Add(-e.took)
	for i := range e.jobs {
		for _, a := range e.jobs[i].Attempts {
			if a.Outcome != store.AttemptLost || e.back.before(e.jobs[i].ID) {
				continue
			}
			explained := slices.ContainsFunc(e.faults, func(f fault) bool { return f.Node == a.Node })
			if !explained && !e.gone[a.Node] {
				e.fail("an attempt at job %d, by %s, was lost at %s, although nothing had happened to this node since %s",
					e.jobs[i].ID, a.Node, clock(a.FinishedAt), clock(began))
			}
		}
	}
}

// attemptsAreCounted: a job has at most as many attempts that failed as it may have, and none after an answer that
// is final.
func attemptsAreCounted(e *evidence) {
	for id, runs := range e.runsByID {
		failed := 0
		for i, r := range runs {
			again := i < len(runs)-1 && runs[i+1].Attempt <= r.Attempt // the attempt was not spent
			outlasted := again && !r.Heeds && e.disturbed(r)           // its node had given its claim back before it answered
			if r.Died || (r.Answer == "error" || r.Answer == "panic") && !outlasted {
				failed++
			}
			if r.Attempt > r.MaxAttempts && !e.changed[id] {
				e.fail("%v, although it may have %d attempts", r, r.MaxAttempts)
			}
			if r.Died && again && !e.changed[id] {
				e.fail("%v, and then %v: the attempt was not spent", r, runs[i+1])
			}
			final := r.Answer == "fail" || r.Answer == "cancel"
			if final && r.Heeds && i < len(runs)-1 && !e.disturbed(r) && !e.touched(r) {
				e.fail("%v, and then %v", r, runs[i+1])
			}
		}
		if j := e.byID[id]; j != nil && failed > int(j.MaxAttempts) && !e.changed[id] {
			e.fail("job %d failed %d times, of %d", id, failed, j.MaxAttempts)
		}
	}
}

// nothingIsStuck: when all faults have ended, all work comes to its end.
func nothingIsStuck(e *evidence) {
	for _, j := range e.stuck {
		e.fail("job %d %q (%s) has not ended: state %d, attempt %d, due %s, claimed by %s; at the end it is %s",
			j.ID, labelOf(e.argsOf(j.ID)), j.Kind, j.State, j.Attempt, clock(j.RunAt), j.Node, clock(e.at.Store))
	}
}

// argsOf returns the arguments of a job.
func (e *evidence) argsOf(id int64) []byte {
	if j := e.byID[id]; j != nil {
		return j.Args
	}
	return nil
}

// idleNodesAskForLittle: a node does not claim without a pause. Each kind with a number of runs has claims of its own.
func idleNodesAskForLittle(e *evidence) {
	for who, n := range e.claims {
		node, _, _ := strings.Cut(who, " ")
		if most := (100 + int(20*e.took.Seconds())) * (1 + len(e.bounds[node])); n > most {
			e.fail("%s: %d claims in %v", who, n, e.took)
		}
	}
}
