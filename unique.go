package hourbell

import (
	"strings"

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
