package hourbell

import (
	"strings"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// optionSet is a set of options, whatever their values are.
type optionSet uint32

// The options, each as a set.
const (
	optAfter optionSet = 1 << iota
	optAfterAny
	optAt
	optBackoff
	optDryRun
	optEachBatch
	optGroup
	optIn
	optInBatch
	optInTx
	optKey
	optLimits
	optMaxAttempts
	optNotifyInTx
	optOnConflict
	optOnLoss
	optPriority
	optPushAtMost
	optQueue
	optRunOnStart
	optTimeout
	optUnique
	optUniqueArgs
	optUniqueFor
	optUniqueUntilStart
)

// The names of the options, in the order of the constants.
const optionNames = "After AfterAny At Backoff DryRun EachBatch Group In InBatch InTx Key Limits MaxAttempts NotifyInTx OnConflict OnLoss " +
	"Priority PushAtMost Queue RunOnStart Timeout Unique UniqueArgs UniqueFor UniqueUntilStart"

// What calls take.
const (
	requestOptions = optAfter | optAfterAny | optAt | optBackoff | optGroup | optIn | optKey | optMaxAttempts | optOnConflict | optOnLoss |
		optPriority | optPushAtMost | optQueue | optTimeout | optUnique | optUniqueArgs | optUniqueFor | optUniqueUntilStart
	enqueueOptions = requestOptions | optInTx | optNotifyInTx | optInBatch
	// optionsOfKind are what the args of a kind may have; the jobs of a schedule take those that are no key.
	optionsOfKind = optBackoff | optGroup | optMaxAttempts | optOnConflict | optOnLoss | optPriority | optPushAtMost | optQueue | optTimeout |
		optUniqueArgs | optUniqueFor | optUniqueUntilStart
	runOnceOptions = optInTx | optUnique | optUniqueFor
	putOptions     = optInTx | optLimits                // of calls that put the schedules of an owner
	putOneOptions  = optInTx | optRunOnStart            // of ScheduleService.Put
	changeOptions  = optInTx | optDryRun | optEachBatch // of calls that change jobs
)

// names returns the names of the options, as in "Key, Queue".
func (s optionSet) names() string {
	var names []string
	for i, name := range strings.Fields(optionNames) {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// except returns an error if options are given that are not among the options that the call takes.
func (s optionSet) except(takes optionSet) error {
	wrong := s &^ takes
	switch {
	case wrong == 0:
		return nil
	case takes&requestOptions == requestOptions:
		return &check.FieldError{Field: "options", Value: wrong.names(), Problem: "are for other calls", Remedy: "leave them out"}
	}
	return &check.FieldError{Field: "options", Value: wrong.names(), Problem: "are for other calls", Remedy: "leave them out; this call takes only " + takes.names()}
}

// givenOptions returns what options have that a call takes; other options are an error.
func givenOptions(options []Option, takes optionSet) (given enqueuing, err error) {
	for _, option := range options {
		option(&given)
	}
	return given, check.Join(append(given.errs, given.given.except(takes))...)
}

// onlyTx returns the transaction of a call whose only option is InTx; nil: none.
func onlyTx(options []Option) (store.Tx, error) {
	if len(options) == 0 {
		return nil, nil
	}
	given, err := givenOptions(options, optInTx)
	return given.tx, err
}
