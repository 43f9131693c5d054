package store

import "fmt"

// AttemptOutcome is how an attempt ended.
type AttemptOutcome int16

// The outcomes of attempts. Drivers store these numbers; they never change.
const (
	AttemptCompleted  AttemptOutcome = 0 // the attempt printed output, else it leaves no record
	AttemptFailed     AttemptOutcome = 1 // the job failed with the attempt
	AttemptRetried    AttemptOutcome = 2 // the attempt failed, and the job is ready again after a delay
	AttemptCancelled  AttemptOutcome = 3
	AttemptReleased   AttemptOutcome = 4 // the node stopped and handed the job back; the attempt was refunded
	AttemptLeaseLost  AttemptOutcome = 5 // the node lost its lease and handed the job back; the attempt was refunded
	AttemptLost       AttemptOutcome = 6 // the node died, or left without an outcome of the attempt
	AttemptSnoozed    AttemptOutcome = 7 // the worker asked for a later run, which spends no attempt
	AttemptSuperseded AttemptOutcome = 8 // the attempt failed, and the job gave way to a waiting job of its schedule
)

var attemptOutcomes = [...]string{"completed", "failed", "retried", "cancelled", "released", "lease_lost", "lost", "snoozed", "superseded"}

// String returns the outcome's word.
func (o AttemptOutcome) String() string {
	if o < 0 || int(o) >= len(attemptOutcomes) {
		return fmt.Sprintf("attempt_outcome(%d)", int16(o))
	}
	return attemptOutcomes[o]
}

// MostAttempts is how many records of attempts a job keeps: the newest ones.
const MostAttempts = 100

// AttemptRecord is what is stored about an attempt, besides what the row of its
// job has: number, token, node and start.
type AttemptRecord struct {
	ID           int64 // of the job
	Outcome      AttemptOutcome
	Error, Trace string
	Output       []byte
	Printed      int64 // how many bytes the attempt printed; at least the length of Output
	// TakesSaved means that the attempt brought no outcome, so that Output and
	// Printed are what SaveOutput has stored of it; see TakeSaved.
	TakesSaved bool
}

// TakingSaved returns the jobs of the records that take the stored output.
func TakingSaved(records []AttemptRecord) (ids []int64) {
	for i := range records {
		if records[i].TakesSaved {
			ids = append(ids, records[i].ID)
		}
	}
	return ids
}

// TakeSaved gives the records of the jobs that TakingSaved returns the output that
// is stored of these jobs.
func TakeSaved(records []AttemptRecord, stored map[int64][]StoredBlock) {
	for i := range records {
		if r := &records[i]; r.TakesSaved {
			p := PrintedIn(stored[r.ID])
			r.Output, r.Printed = p.Data, p.End()
		}
	}
}

// HasRecord reports whether the attempt leaves a record if its outcome changes
// its job.
func (o *Outcome) HasRecord() bool {
	return o.Error != "" || len(o.Output) > 0 || o.Result == Snooze
}

// Record is the rule of Jobs.Finish for the record of an attempt. effect is what
// the outcome does to the job. ok is false if the attempt leaves no record.
func (o *Outcome) Record(effect Effect) (r AttemptRecord, ok bool) {
	if effect.Unchanged || effect.Keep == Forget || !o.HasRecord() {
		return AttemptRecord{}, false
	}
	return AttemptRecord{
		ID: o.ID, Outcome: o.attempt(effect), Error: o.Error, Trace: o.Trace, Output: o.Output,
		Printed: max(o.Printed, int64(len(o.Output))),
	}, true
}

// attempt returns how the attempt of an outcome with this effect ended.
func (o *Outcome) attempt(effect Effect) AttemptOutcome {
	switch {
	case o.Result == Completed:
		return AttemptCompleted
	case o.Result == Failed:
		return AttemptFailed
	case o.Result.GivesWay() && effect.State == StateCancelled && effect.Reason == SupersededReason:
		return AttemptSuperseded
	case effect.State == StateCancelled:
		return AttemptCancelled
	case o.Result == Retry:
		return AttemptRetried
	case o.Result == Snooze:
		return AttemptSnoozed
	case o.LeaseLost:
		return AttemptLeaseLost
	}
	return AttemptReleased
}

// Record is the rule of Nodes.Rescue and Nodes.Leave for the record of an attempt
// at a job. node is the name of the node that has ended. ok is false if the
// attempt leaves no record, because it cannot have begun.
func (l Loss) Record(id int64, node string) (r AttemptRecord, ok bool) {
	r.ID, r.TakesSaved = id, true
	switch {
	case !l.Begun:
		return AttemptRecord{}, false
	case l.Died:
		r.Outcome, r.Error = AttemptLost, fmt.Sprintf("lost: its node %s died while it ran, or when it was about to begin", node)
	case l.Asked:
		r.Outcome, r.Error = AttemptCancelled, fmt.Sprintf("cancelled: its node %s left while it ran", node)
	case l.Effect().Refund > 0:
		r.Outcome, r.Error = AttemptReleased, fmt.Sprintf("handed back: its node %s left while it ran", node)
	default:
		r.Outcome, r.Error = AttemptLost, fmt.Sprintf("lost: its node %s left while it ran", node)
	}
	return r, true
}
