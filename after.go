package hourbell

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// The ends of a job that After waits for.
const (
	// OnSuccess: the other job completed.
	OnSuccess = store.OnSuccess
	// OnFailure: the other job failed, was cancelled, or was deleted before its end.
	OnFailure = store.OnFailure
	// OnEither: the other job completed, or as OnFailure.
	OnEither = store.OnEither
)

// After makes the job start after the end of another job, its predecessor, and no sooner
// than delay after that end. It may be given several times: the job waits for all of
// these jobs, or with AfterAny for one. If that has become impossible, the job ends as
// store.StateNotStarted, and its JobInfo.Reason names the cause.
//
// A predecessor that has ended counts at once. If nothing is known of it any more, the
// job is refused with ErrNotFound.
//
// With InTx the predecessor may be a job of the same transaction, or an older job, which is not
// locked: the job waits until a node has linked it after the commit, within milliseconds. If an older predecessor
// ends before that and leaves no record, because its kind keeps nothing or because it was deleted, the job is
// not started. A transaction at the isolation level repeatable read, the default of MySQL and MariaDB, sees no job that was
// stored after its first statement, and gets ErrNotFound for it.
//
// With Unique or UniqueArgs, if another job has the key, that job keeps the predecessors that it has, and
// Enqueued.Existed reports it. OnConflict then is KeepOnConflict or ErrorOnConflict.
func After(id int64, on store.On, delay time.Duration) Option {
	return func(e *enqueuing) {
		e.given |= optAfter
		if id < 1 {
			e.errs = append(e.errs, &check.FieldError{Field: "after", Value: fmt.Sprint(id), Problem: "is not the number of a job", Remedy: "use a number from 1"})
		}
		e.errs = append(e.errs, checkEdge(on, delay))
		e.NewJob.After = append(e.NewJob.After, store.Edge{Job: id, On: on, Delay: delay.Truncate(time.Microsecond)})
	}
}

// checkEdge returns what is wrong with an edge.
func checkEdge(on store.On, delay time.Duration) error {
	if on < OnSuccess || on > OnEither {
		return &check.FieldError{Field: "after", Value: fmt.Sprint(int16(on)), Problem: "is an unknown outcome", Remedy: "use OnSuccess, OnFailure or OnEither"}
	}
	return checkDuration("after", delay)
}

// AfterAny makes the job start when one of its predecessors has ended as After requires,
// instead of all.
func AfterAny() Option {
	return func(e *enqueuing) {
		e.given |= optAfterAny
		e.NewJob.Any = true
	}
}
