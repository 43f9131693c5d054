package event

import "time"

// Call is a call of the store by a client or by its node.
type Call struct {
	// Operation is the method of the store, in lower case: claim, finish, list_jobs.
	Operation string
	// Took is how long the call took, waits for connections and locks included.
	Took time.Duration
	// Repeats is how many transactions of the call were begun again, because the database had ended them in favour of
	// other transactions; see store.CountRepeats.
	Repeats int
	// Err is the error of the call; nil: none. Some errors are answers of a store that
	// works, such as store.ErrConflict; see store.IsAnswer.
	Err error
}

// CallObserver is an Observer that also receives the calls of the store. ObserveCall is
// called by the goroutine that has made the call, before that goroutine goes on:
// ObserveCall has to return quickly, and concurrent calls have to be allowed. A client
// without such observers measures nothing.
type CallObserver interface {
	Observer
	ObserveCall(c Call)
}
