package store

import (
	"errors"

	"github.com/hourbell/hourbell/check"
)

// Errors that callers compare with errors.Is.
var (
	// ErrNotFound: the named object does not exist.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the row changed since it was read, or belongs to another
	// owner; nothing was written.
	ErrConflict = errors.New("changed by someone else")
	// ErrExists: a put that only creates (OnlyNew) found its name. It is an ErrConflict, too.
	ErrExists error = existsError{}
	// ErrStale: a newer revision of this owner's set is in place.
	ErrStale = errors.New("a newer revision is in place")
	// ErrUnsettled: a schedule to be changed has due slots that are not
	// accounted for yet. Fire it, then try again.
	ErrUnsettled = errors.New("due slots are not accounted for yet")
	// ErrInUse: a schedule names the calendar that was to be deleted.
	ErrInUse = errors.New("in use by a schedule")
	// ErrNodeGone: the node is not registered (any more).
	ErrNodeGone = errors.New("node is not registered or was declared dead")
	// ErrForeignTx: the transaction was made by another driver, or is on another
	// store.
	ErrForeignTx = errors.New("transaction belongs to another driver or store")
	// ErrTxEnded: the caller's transaction was committed or rolled back before.
	ErrTxEnded = errors.New("the transaction was committed or rolled back before")
	// ErrNotInTx: the change would lock rows of a schedule or of a batch that other
	// transactions need, until the caller's transaction ends. Nothing was written,
	// and the transaction can go on.
	ErrNotInTx = errors.New("this cannot be done in a transaction of the program")
	// ErrNoPush: wake-ups cannot be pushed on this connection.
	ErrNoPush = errors.New("the store cannot push wake-ups here")
	// ErrRejected: the database does not accept a value of this request, also
	// not in a repetition: text that its encoding lacks, or a row that the
	// owner's constraint or trigger forbids. Nothing was written.
	ErrRejected = errors.New("the database rejects a value")
	// ErrUnknown: the answer to a commit did not arrive, so that the call may
	// have happened or not.
	ErrUnknown = errors.New("it is unknown whether this was done")
	// ErrSlow: the call was ended because it took longer than its request allows.
	ErrSlow = errors.New("this takes longer than allowed")
	// ErrTimeLimit: the server has ended the call, because a time limit is set for statements, for waits for locks or for idle sessions.
	ErrTimeLimit = errors.New("the database server has ended the call because of a time limit")
	// ErrSchema: the schema in the database does not match this release.
	ErrSchema = errors.New("database schema does not fit this release")
)

// MissingRemedy is what to do about a table, column or schema that is missing. It may be so for a short while.
const MissingRemedy = "while a backup is restored, nodes wait for the rest of it; otherwise run `hourbell migrate up`"

// IsAnswer reports whether an error is an answer of a store that works: the request was read, and
// refused because of what it asks for or because of what others have done. Other errors are failures of the
// store, except the error of a context that has ended.
func IsAnswer(err error) bool {
	var field *check.FieldError
	if errors.As(err, &field) {
		return true
	}
	for _, answer := range []error{
		ErrNotFound, ErrConflict, ErrStale, ErrUnsettled, ErrInUse, ErrNodeGone, ErrForeignTx, ErrTxEnded, ErrNotInTx, ErrRejected,
		ErrDuplicate, ErrBatchEnded, ErrNotHeld, ErrJobEnded,
	} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}
