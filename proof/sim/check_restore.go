package sim

import "github.com/hourbell/hourbell/store"

// lostHistoryIsNoticed: when the store went back to a backup, nodes that had seen more notice it within a heartbeat or the end of their
// leases; nothing runs, and no instant of a rule fires, until an operator accepts the loss; tokens are greater afterwards than all before; and what
// was answered before the backup is stored.
func lostHistoryIsNoticed(e *evidence) {
	back := e.back
	if back == nil || back.accepted.Real.IsZero() {
		return
	}
	// What is lost in less time may have been seen by no node, or only by nodes that other nodes' claims catch up with.
	seen := back.at.Real.Sub(back.backup.Real) > 3*e.plan.Lease && !e.had("away", "", back.backup.Real, back.at.Real.Add(2*e.plan.Lease))
	if seen && !back.noticed {
		e.fail("the store went back at %s to %s, and no node noticed it within two leases", clock(back.at.Store), clock(back.backup.Store))
	}
	noticed, last := back.at.Real.Add(e.plan.Lease+noticing), int64(0)
	for _, r := range back.runs {
		if r.Start.Real.After(back.confirmed.Real) { // the acceptance may have been in force
			continue
		}
		last = max(last, r.Token)
		if !seen || !back.steady[r.Node] || e.zombie(r) || e.faulty(r.Node, back.at.Real.Add(-e.plan.Lease), noticed) {
			continue
		}
		if r.Start.Real.After(noticed) {
			e.fail("%v, although the store had gone back at %s, and the loss was accepted at %s",
				r, clock(back.at.Store), clock(back.confirmed.Store))
		}
		if r.Start.Real.Before(back.at.Real) && r.over().After(noticed) {
			e.fail("%v, although the store had gone back at %s", r, clock(back.at.Store))
		}
	}
	for _, r := range e.runs {
		if r.Token <= last {
			e.fail("%v, after tokens up to %d before the store went back", r, last)
		}
	}
	for _, a := range back.asked {
		if j := e.byID[a.ID]; (j == nil || labelOf(j.Args) != a.Job.Label && !a.Existed) && !e.deleted[a.ID] {
			e.fail("job %d %q was acknowledged before the backup, and is not stored", a.ID, a.Job.Label)
		}
	}
	for _, s := range e.slots {
		late := seen && s.RecordedAt.After(back.at.Store.Add(e.plan.Lease+noticing)) && s.Slot.Before(back.confirmed.Store)
		if late && !e.follows[s.ScheduleName] && s.Outcome == store.SlotFired && !back.refire && !e.clockWasSet() {
			e.fail("%s: the slot %s fired at %s, although the store had gone back at %s",
				s.ScheduleName, clock(s.Slot), clock(s.RecordedAt), clock(back.at.Store))
		}
	}
}
