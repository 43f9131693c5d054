package hourbell

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// What OnConflict selects.
const (
	// KeepOnConflict leaves the job that has the key as it is.
	KeepOnConflict = store.OnConflictKeep
	// ReplaceOnConflict makes the job that has the key what the new job would be:
	// args, queue, priority, max attempts, on loss, timeout. The job keeps its
	// number and its time, also the time of a next attempt; a job that was due already and changes its queue or
	// priority is due from now on.
	ReplaceOnConflict = store.OnConflictReplace
	// RescheduleOnConflict makes the job that has the key due when the new job
	// would be due (At, In; now without them), and changes nothing else. Enqueued
	// again and again with In(d), a job runs when there was no enqueue for d; see
	// PushAtMost.
	RescheduleOnConflict = store.OnConflictReschedule
	// ErrorOnConflict refuses the job with an error that is ErrDuplicate and, with
	// errors.As, a *store.DuplicateError with the number of the job that has the
	// key.
	ErrorOnConflict = store.OnConflictError
)

// OnConflict selects what happens if a live job has the key of Unique or
// UniqueArgs: KeepOnConflict (the default), ReplaceOnConflict,
// RescheduleOnConflict or ErrorOnConflict. Enqueued.Conflict is what happened.
//
// If the job runs, ReplaceOnConflict and RescheduleOnConflict let the work run once more: the new job is
// stored with its args and its time, gets the key, and waits for the end of the job that runs,
// with all of its attempts (store.ConflictAgain). Further calls meet the new job, which has not begun.
// RescheduleOnConflict leaves a job that awaits its next attempt as it is, because its back-off protects what
// the job depends on. Jobs of a batch, and jobs that hold their keys (UniqueFor), stay as they are.
//
// A job with After has neither choice, because the job that has the key would not wait for other predecessors.
//
// In a transaction the change is part of the
// transaction; until it ends the job does not start, a job that runs does not end, and other changes of the job
// wait. UniqueFor counts from the enqueue that stored the job.
func OnConflict(choice store.OnConflict) Option {
	return func(e *enqueuing) {
		e.given |= optOnConflict
		e.NewJob.OnConflict = choice
		if _, known := store.ParseOnConflict(choice.String()); !known {
			e.errs = append(e.errs, &check.FieldError{
				Field: "on_conflict", Value: fmt.Sprint(int(choice)),
				Problem: "is unknown", Remedy: "use keep, replace, reschedule or error",
			})
		}
	}
}

// PushAtMost bounds RescheduleOnConflict: the job is due at most d after it was
// stored, however often it is moved. A job that is due later already stays
// there. d is more than 0 and at most 100 years.
func PushAtMost(d time.Duration) Option {
	return func(e *enqueuing) {
		e.given |= optPushAtMost
		e.NewJob.PushAtMost = d
		e.errs = append(e.errs, checkSpan("push_at_most", d))
	}
}

// checkSpan checks a duration that must not be 0.
func checkSpan(field string, d time.Duration) error {
	if d >= 0 && d < time.Microsecond {
		return &check.FieldError{Field: field, Value: d.String(), Problem: "is no time", Remedy: "leave it out, or use a longer duration"}
	}
	return checkDuration(field, d)
}

// checkKey returns which options of a key are given without a key, or without
// each other.
func (e *enqueuing) checkKey() error {
	switch {
	case e.NewJob.UntilStart && e.NewJob.UniqueFor != 0:
		return &check.FieldError{Field: "unique_until", Problem: "is start together with unique_for", Remedy: "leave one of them out"}
	case e.Unique == "":
		return e.checkNoKey()
	case e.NewJob.PushAtMost != 0 && e.NewJob.OnConflict != RescheduleOnConflict:
		return withoutOption("push_at_most", "on_conflict reschedule")
	}
	return nil
}

// checkNoKey returns which options of a key are given without a key.
func (e *enqueuing) checkNoKey() error {
	const key = "unique or unique_args"
	switch {
	case e.NewJob.UniqueFor != 0:
		return withoutOption("unique_for", key)
	case e.NewJob.UntilStart:
		return withoutOption("unique_until", key)
	case e.NewJob.OnConflict != KeepOnConflict:
		return withoutOption("on_conflict", key)
	case e.NewJob.PushAtMost != 0:
		return withoutOption("push_at_most", key)
	}
	return nil
}

// withoutOption returns the error for an option that needs another option.
func withoutOption(field, needs string) error {
	return &check.FieldError{Field: field, Problem: "is given without " + needs, Remedy: "also use " + needs}
}

// Unique gives the job a key, 1 to 200 bytes of UTF-8 without control
// characters, which at most one live job of a kind has. While a live job has
// this key, Enqueue stores nothing and returns the number of that job. Neither
// the arguments nor the options of that job change, unless OnConflict says so;
// Enqueued.Existed reports that it existed. The key is free when its job ends; JobService.Retry takes it
// back, unless another job has it by then. A key must not begin with
// "hourbell:", as the keys of UniqueArgs do.
//
// Concurrent calls with one key result in one job, on any node and in
// transactions too: the second call waits until the transaction of the first
// call has ended. A worker of RegisterTx may enqueue a successor with the key of its own job, in its
// transaction. At the isolation level repeatable read or above, the database
// may require the caller to repeat the transaction.
func Unique(key string) Option {
	return func(e *enqueuing) {
		e.given |= optUnique
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
		e.given |= optUniqueFor
		e.NewJob.UniqueFor = d
		e.errs = append(e.errs, checkSpan("unique_for", d))
	}
}

// UniqueUntilStart makes the key of Unique or UniqueArgs unique among the jobs that have not begun: a job
// that runs, or that awaits another attempt, has its key no longer when this call needs it, so that the new
// job is stored and may run concurrently. It excludes UniqueFor; a key that another job holds by UniqueFor
// stays taken.
func UniqueUntilStart() Option {
	return func(e *enqueuing) {
		e.given |= optUniqueUntilStart
		e.NewJob.UntilStart = true
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
// Of a value with a method Encode, the encoded args count, and args as they are
// before enqueue middleware changes them. For EnqueueMany it
// can be an option of the call, because each job has its own args.
func UniqueArgs(fields ...string) Option {
	return func(e *enqueuing) {
		e.given |= optUniqueArgs
		e.keyed = argsKey{given: true, fields: fields}
		e.errs = append(e.errs, e.keyed.check())
	}
}

// Keys that begin with reservedKeys are made by Hourbell only, so that a key
// that is made from args never is a key that a program chose.
const (
	reservedKeys = "hourbell:"
	argsKeys     = reservedKeys + "args:"
)

// argsKey is what UniqueArgs asks for.
type argsKey struct {
	given  bool
	fields []string // with dots; none: all args
}

// check checks the names of the fields.
func (k argsKey) check() error {
	for i, field := range k.fields {
		switch {
		case slices.Contains(strings.Split(field, "."), ""):
			return &check.FieldError{
				Field: "unique_args", Value: check.Shorten(field), Problem: "has an empty name",
				Remedy: "use the names of fields, such as customer or address.zip",
			}
		case slices.Contains(k.fields[:i], field):
			return &check.FieldError{Field: "unique_args", Value: check.Shorten(field), Problem: "is named twice", Remedy: "name each field once"}
		}
	}
	return nil
}

// of returns the key for args, which are JSON. The digest does not depend on
// the version of package encoding/json, because jobs with one key may be
// enqueued by different builds of a program.
func (k argsKey) of(args []byte) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", fmt.Errorf("read args for unique_args: %w", err)
	}
	d := digest{sha256.New()}
	if len(k.fields) == 0 {
		d.value(value)
	}
	for _, field := range slices.Sorted(slices.Values(k.fields)) {
		part, found := fieldOf(value, field)
		if !found {
			return "", &check.FieldError{
				Field: "unique_args", Value: check.Shorten(field), Problem: "is not a field of the args",
				Remedy: "name a field that all args of the kind have; omitempty leaves out an empty field",
			}
		}
		d.text('f', field)
		d.value(part)
	}
	return argsKeys + hex.EncodeToString(d.Sum(nil)), nil
}

// fieldOf returns the field of a value that a name with dots names.
func fieldOf(value any, name string) (part any, found bool) {
	part = value
	for one := range strings.SplitSeq(name, ".") {
		object, _ := part.(map[string]any)
		if part, found = object[one]; !found {
			return nil, false
		}
	}
	return part, true
}

// digest digests JSON values, so that different values never have the same
// bytes: a letter for the type, then the length, then the content.
type digest struct{ hash.Hash }

func (d digest) value(value any) {
	switch v := value.(type) {
	case nil:
		d.head('n', 0)
	case bool:
		if v {
			d.head('b', 1)
		} else {
			d.head('b', 0)
		}
	case json.Number:
		d.text('d', v.String())
	case string:
		d.text('s', v)
	case []any:
		d.head('a', len(v))
		for _, element := range v {
			d.value(element)
		}
	case map[string]any:
		d.head('o', len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			d.text('f', name)
			d.value(v[name])
		}
	}
}

func (d digest) head(letter byte, length int) {
	d.Write(binary.BigEndian.AppendUint64([]byte{letter}, uint64(length)))
}

func (d digest) text(letter byte, text string) {
	d.head(letter, len(text))
	d.Write([]byte(text))
}
