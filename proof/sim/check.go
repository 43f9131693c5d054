package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// promise is a promise of docs/guarantees.md, with its check.
type promise struct {
	name  string // as docs/guarantees.md names the check
	check func(*evidence)
}

// promises are all checks. Each is a model of its own, from what was witnessed only: it calls none of the code that
// it checks.
var promises = []promise{
	{"one slot, one job", oneSlotOneJob},
	{"every slot is accounted for", everySlotIsAccountedFor},
	{"every end is followed once", everyEndIsFollowedOnce},
	{"committed work runs once", committedWorkRuns},
	{"effects happen once", effectsHappenOnce},
	{"one owner", oneOwner},
	{"leases end first", leasesEndFirst},
	{"processes are one node", processesAreOneNode},
	{"tokens grow", tokensGrow},
	{"nothing is stuck", nothingIsStuck},
	{"living nodes keep their jobs", livingNodesKeepTheirJobs},
	{"dead nodes' jobs run elsewhere", deadNodesJobsRunElsewhere},
	{"an outage costs no attempts", anOutageCostsNoAttempts},
	{"lost jobs fail if they should", lostJobsFail},
	{"attempts are counted", attemptsAreCounted},
	{"the store's clock decides", theStoresClockDecides},
	{"late slots", lateSlotsDoNotFire},
	{"slots are on time", slotsAreOnTime},
	{"counts", countsAreKept},
	{"edits", editsAreInForce},
	{"hooks and handlers", hooksAreMadeOnce},
	{"calendars", calendarsAreKept},
	{"places", placesAreKept},
	{"paused schedules", pausedSchedulesFireNothing},
	{"overlap", overlapIsKept},
	{"limits at a time", limitsAreKept},
	{"rates", ratesAreKept},
	{"edges", edgesAreKept},
	{"unique keys", uniqueKeysAreKept},
	{"batches", batchesEndOnce},
	{"cancels", cancelledJobsDoNotStart},
	{"pauses", pausesAreKept},
	{"idle nodes ask for little", idleNodesAskForLittle},
	{"bad input changes nothing", badInputChangesNothing},
	{"no error without a reason", noErrorWithoutAReason},
	{"lost history is noticed", lostHistoryIsNoticed},
	{"steps are taken once", stepsAreTakenOnce},
	{"steps are in order", stepsAreInOrder},
	{"effects of steps happen once", effectsOfStepsHappenOnce},
	{"signals are taken once", signalsAreTakenOnce},
	{"waits are not short", waitsAreNotShort},
	{"parked jobs go on", parkedJobsGoOn},
	{"waits cost no attempt", waitsCostNoAttempt},
	{"parked jobs hold nothing", parkedJobsHoldNothing},
	{"cursors are recent", cursorsAreRecent},
}

// evidence is what was witnessed, ordered for the checks, and what they find.
type evidence struct {
	*witness
	plan     *plan
	byID     map[int64]*store.JobInfo
	byLabel  map[string][]*store.JobInfo
	runsByID map[int64][]*run
	askedBy  map[int64]*asked // by number of the job
	promise  string
	problems []string
}

// fail records a broken promise.
func (e *evidence) fail(format string, args ...any) {
	e.problems = append(e.problems, e.promise+": "+fmt.Sprintf(format, args...))
}

// verify returns what the promises do not allow in what was seen.
func verify(p *plan, w *witness) []string {
	e := &evidence{
		witness: w, plan: p, byID: map[int64]*store.JobInfo{}, byLabel: map[string][]*store.JobInfo{},
		runsByID: map[int64][]*run{}, askedBy: map[int64]*asked{},
	}
	for i := range w.jobs {
		j := &w.jobs[i]
		e.byID[j.ID] = j
		w.changed[j.ID] = w.changed[j.ID] || w.groups[j.Group]
		label := labelOf(j.Args)
		e.byLabel[label] = append(e.byLabel[label], j)
	}
	slices.SortStableFunc(w.runs, func(a, b *run) int {
		return cmp.Or(a.Start.Real.Compare(b.Start.Real), cmp.Compare(a.Token, b.Token))
	})
	for _, r := range w.runs {
		e.runsByID[r.ID] = append(e.runsByID[r.ID], r)
		w.changed[r.ID] = w.changed[r.ID] || w.groups[r.Group]
	}
	for _, a := range w.asked {
		if a.ID != 0 && !a.Existed {
			e.askedBy[a.ID] = a
		}
	}
	for _, one := range promises {
		e.promise = one.name
		one.check(e)
	}
	return e.problems
}

// String returns a run for people.
func (r *run) String() string {
	return fmt.Sprintf("%s ran job %d %q with token %d from %s to %s (attempt %d: %s)",
		r.Node, r.ID, r.Label, r.Token, clock(r.Start.Store), clock(r.End.Store), r.Attempt, r.Answer)
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "…"
	}
	return t.UTC().Format("15:04:05.000000")
}

// zombie reports whether the worker of a run may have gone on after its node had lost the claim: its process stood
// still, or it ignored its context. A node that is cut off ends the contexts of its runs before its lease has passed.
func (e *evidence) zombie(r *run) bool {
	return !r.Heeds || e.had("freeze", r.Node, r.Start.Real, r.over())
}

// disturbed reports whether the node of a run, or the store, had a fault during the run or shortly before or after it.
func (e *evidence) disturbed(r *run) bool {
	return e.faulty(r.Node, r.Start.Real.Add(-3*e.plan.Lease), r.over().Add(3*e.plan.Lease))
}

// during reports whether a run began while something was in force.
func during[T any](in *inForce[T], r *run) bool {
	return r.Start.Real.After(in.From.Real) && (in.To.Real.IsZero() || r.Start.Real.Before(in.To.Real))
}

// over returns when a run ended; in the far future if it did not.
func (r *run) over() time.Time {
	if r.End.Real.IsZero() {
		return r.Start.Real.Add(1000 * time.Hour)
	}
	return r.End.Real
}

// meet reports whether two runs ran at the same time.
func meet(a, b *run) bool { return a.Start.Real.Before(b.over()) && b.Start.Real.Before(a.over()) }
