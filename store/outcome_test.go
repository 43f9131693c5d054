package store

import (
	"math"
	"testing"
	"time"
)

var (
	schedules = SerialGroup{Schedule: 7}
	backfills = SerialGroup{Schedule: 7, Backfill: true}
)

func TestOutcomeEffect(t *testing.T) {
	running := HeldJob{Running: true, Group: schedules}
	asked := HeldJob{Running: true, Asked: true, Why: "enough"}
	waits := HeldJob{Running: true, Group: schedules, Waits: true}
	unchanged := Effect{Unchanged: true}
	for name, c := range map[string]struct {
		outcome Outcome
		job     HeldJob
		want    Effect
	}{
		"completed":                          {Outcome{Result: Completed, Error: "left over"}, running, Effect{State: StateCompleted}},
		"completed despite a request":        {Outcome{Result: Completed}, asked, Effect{State: StateCompleted}},
		"completed after a rescue":           {Outcome{Result: Completed}, HeldJob{}, Effect{State: StateCompleted}},
		"failed":                             {Outcome{Result: Failed, Error: "boom"}, waits, Effect{State: StateFailed, Reason: "boom"}},
		"failed despite a request":           {Outcome{Result: Failed, Error: "boom"}, asked, Effect{State: StateFailed, Reason: "boom"}},
		"cancelled":                          {Outcome{Result: Cancelled}, running, Effect{State: StateCancelled}},
		"cancelled on request":               {Outcome{Result: Cancelled}, asked, Effect{State: StateCancelled, Reason: "enough"}},
		"cancelled with an error":            {Outcome{Result: Cancelled, Error: "gave up"}, HeldJob{Running: true}, Effect{State: StateCancelled, Reason: "gave up"}},
		"cancelled on request with an error": {Outcome{Result: Cancelled, Error: "gave up"}, asked, Effect{State: StateCancelled, Reason: "enough"}},
		"retry":                              {Outcome{Result: Retry, Delay: time.Minute, Error: "boom"}, running, Effect{State: StateReady, Delay: time.Minute, LossesEnd: true}},
		"retry of a cancelled job":           {Outcome{Result: Retry, Error: "boom"}, asked, Effect{State: StateCancelled, Reason: "enough"}},
		"retry while a job waits":            {Outcome{Result: Retry, Delay: time.Minute}, waits, Effect{State: StateCancelled, Reason: SupersededReason}},
		"retry of a backfilled job":          {Outcome{Result: Retry}, HeldJob{Running: true, Group: backfills, Waits: true}, Effect{State: StateReady, LossesEnd: true}},
		"repeated retry":                     {Outcome{Result: Retry, Delay: time.Minute}, HeldJob{Group: schedules, Waits: true}, unchanged},
		"release":                            {Outcome{Result: Release, Delay: time.Minute}, running, Effect{State: StateReady, Refund: 1}},
		"release after a lost lease":         {Outcome{Result: Release, LeaseLost: true}, running, Effect{State: StateReady, Refund: 1, RefundCounts: true}},
		"release of a cancelled job":         {Outcome{Result: Release}, asked, Effect{State: StateCancelled, Reason: "enough"}},
		"release while a job waits":          {Outcome{Result: Release}, waits, Effect{State: StateReady, Refund: 1}},
		"repeated release":                   {Outcome{Result: Release, LeaseLost: true}, HeldJob{}, unchanged},
		"late retry of a cancelled job":      {Outcome{Result: Retry}, HeldJob{Asked: true, Why: "enough"}, Effect{State: StateCancelled, Reason: "enough"}},
		"snooze":                             {Outcome{Result: Snooze, Delay: time.Minute}, running, Effect{State: StateReady, Delay: time.Minute, Refund: 1, LossesEnd: true, Snoozed: true}},
		"snooze of a cancelled job":          {Outcome{Result: Snooze, Delay: time.Minute}, asked, Effect{State: StateCancelled, Reason: "enough"}},
		"snooze while a job waits":           {Outcome{Result: Snooze, Delay: time.Minute}, waits, Effect{State: StateCancelled, Reason: SupersededReason}},
		"snooze of a backfilled job":         {Outcome{Result: Snooze}, HeldJob{Running: true, Group: backfills, Waits: true}, Effect{State: StateReady, Refund: 1, LossesEnd: true, Snoozed: true}},
		"repeated snooze":                    {Outcome{Result: Snooze, Delay: time.Minute}, HeldJob{}, unchanged},
		"retry of a job without a schedule":  {Outcome{Result: Retry}, HeldJob{Running: true, Waits: true}, Effect{State: StateReady, LossesEnd: true}},
	} {
		if got := c.outcome.Effect(c.job); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestEffectCounters(t *testing.T) {
	const most = math.MaxInt16
	for name, c := range map[string]struct {
		effect       Effect
		before, want Counters
	}{
		"no change":               {Effect{State: StateCompleted}, Counters{3, 2, 1, 6}, Counters{3, 2, 1, 6}},
		"refund":                  {Effect{Refund: 1}, Counters{3, 2, 1, 6}, Counters{2, 2, 1, 6}},
		"counted refund":          {Effect{Refund: 1, RefundCounts: true}, Counters{3, 2, 1, 6}, Counters{2, 3, 1, 6}},
		"loss":                    {Effect{LossCounts: true}, Counters{3, 2, 1, 6}, Counters{3, 2, 2, 6}},
		"end of losses":           {Effect{LossesEnd: true}, Counters{3, 2, 1, 6}, Counters{3, 2, 0, 6}},
		"greatest numbers stay":   {Effect{RefundCounts: true, LossCounts: true}, Counters{3, most, most, 6}, Counters{3, most, most, 6}},
		"greatest number of each": {Effect{RefundCounts: true, LossCounts: true}, Counters{3, most - 1, most - 1, 6}, Counters{3, most, most, 6}},
		"snooze":                  {Effect{Refund: 1, Snoozed: true, LossesEnd: true}, Counters{3, 2, 1, 6}, Counters{2, 2, 0, 7}},
	} {
		if got := c.effect.Counters(c.before); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestResultEnds(t *testing.T) {
	for result, want := range map[Result]struct {
		state   State
		follows bool
	}{
		Completed: {StateCompleted, true},
		Failed:    {StateFailed, true},
		Cancelled: {StateCancelled, false},
		Retry:     {StateCancelled, false},
		Release:   {StateCancelled, false},
		Snooze:    {StateCancelled, false},
	} {
		if result.EndState() != want.state || result.FollowsUp() != want.follows {
			t.Errorf("result %d ends as %v, follow-up %v", result, result.EndState(), result.FollowsUp())
		}
	}
}

func TestOutcomeHasRecord(t *testing.T) {
	for _, c := range []struct {
		outcome Outcome
		want    bool
	}{
		{Outcome{}, false},
		{Outcome{Trace: "main.go:1"}, false},
		{Outcome{Error: "boom"}, true},
		{Outcome{Output: []byte("hello")}, true},
		{Outcome{Result: Snooze}, true},
	} {
		if got := c.outcome.HasRecord(); got != c.want {
			t.Errorf("%+v: %v", c.outcome, got)
		}
	}
}
