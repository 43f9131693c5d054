package hourbell

import (
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
)

// Unique gives the job a key, 1 to 200 bytes of UTF-8 without control
// characters, which at most one live job of a kind has. While a live job has
// this key, Enqueue stores nothing and returns the number of that job. Neither
// the arguments nor the options of that job change; Enqueued.Existed reports
// that it existed. The key is free when its job ends; JobService.Retry takes it
// back, unless another job has it by then. A key must not begin with
// "hourbell:", as the keys of UniqueArgs do.
//
// Concurrent calls with one key result in one job, on any node and in
// transactions too: the second call waits until the transaction of the first
// call has ended. At the isolation level repeatable read or above, the database
// may require the caller to repeat the transaction.
func Unique(key string) Option {
	return func(e *enqueuing) {
		e.NewJob.Unique = key
		err := check.StoredName("unique", key)
		if err == nil && strings.HasPrefix(key, reservedKeys) {
			err = &check.FieldError{Field: "unique", Value: check.Shorten(key), Problem: "begins with " + reservedKeys, Remedy: "use another key"}
		}
		e.errs = append(e.errs, err)
	}
}

// UniqueFor keeps the key of Unique or UniqueArgs taken for at least d from the
// enqueue of the job, by the store's clock: the key is free when the job has
// ended and d is over. Until then Enqueue stores no job of the kind with the key,
// with UniqueFor or without, and returns the number of the job that has the key,
// which may have ended (Enqueued.Conflict). Such a job is not pruned from history.
// A job that fails or is cancelled also keeps its key taken; JobService.Delete
// frees the key at once, and JobService.Retry takes the key back also later. d is
// more than 0 and at most 100 years.
//
// Each key is decided by a constraint of the database if all callers use
// UniqueFor with it. A call without UniqueFor reads what was committed when its
// statement began: it may store a job if another job with UniqueFor was
// committed, claimed and finished all while this statement ran.
func UniqueFor(d time.Duration) Option {
	return func(e *enqueuing) {
		e.NewJob.UniqueFor = d
		err := checkDuration("unique_for", d)
		if err == nil && d < time.Microsecond {
			err = &check.FieldError{Field: "unique_for", Value: d.String(), Problem: "is no time", Remedy: "leave it out, or use a longer duration"}
		}
		e.errs = append(e.errs, err)
	}
}

// UniqueArgs is Unique with a key that is made from the args of the job: two
// jobs of one kind have the same key if all of their args are equal or, if
// fields are named, if these fields are equal. A field inside another object is
// named with dots, such as "address.zip". Each field must be in the args, so
// that a mistyped name does not give all jobs of a kind one key; a field that
// is null is in the args, a field that omitempty left out is not.
//
// Args are compared as JSON values. Neither the order of the fields of an
// object nor white space matters, nor how a string is escaped. Numbers are
// compared as they are written: 1 and 1.0 differ. The elements of arrays are
// compared in their order. Of several fields with one name in an object the
// last counts.
//
// Of a value with a method Encode, the encoded args count. For EnqueueMany it
// can be an option of the call, because each job has its own args.
func UniqueArgs(fields ...string) Option {
	return func(e *enqueuing) {
		e.keyed = argsKey{given: true, fields: fields}
		e.errs = append(e.errs, e.keyed.check())
	}
}
