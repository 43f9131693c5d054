package claims

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

var allFlag = flag.Bool("all", false, "visit the states of the larger worlds, too; takes a minute")

// The worlds whose states are all visited. The counts change with the contract: a step more or less is seen here.
var worlds = []struct {
	name        string
	world       World
	states      int
	transitions int
	large       bool
}{
	{"two jobs and a limit of one", World{Jobs: 2, Limit: 1, Coarse: true}, 415003, 4342870, false},
	{"one job, ticks and a clock that is set", World{Jobs: 1, Limit: 1, Clock: true, Again: true}, 218734, 2800806, false},
	{"one job, rescues that are delayed, and a clock that is set", World{Jobs: 1, Limit: 1, Clock: true, Delayed: true}, 326970, 4273488, true},
	{"two jobs and a limit of two", World{Jobs: 2, Limit: 2, Coarse: true}, 637847, 7036284, true},
	{"one job, answers that are late, and a clock that is set", World{Jobs: 1, Limit: 1, Slow: true, Clock: true}, 1577694, 21099812, true},
}

// TestEveryState visits every state of the worlds: no rule is broken in any of them.
func TestEveryState(t *testing.T) {
	for _, one := range worlds {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			if (testing.Short() || one.large) && !*allFlag {
				t.Skip("takes long: -all runs it")
			}
			found := one.world.Search()
			fmt.Printf("%s: %v\n", one.name, found)
			if found.Broken != "" || found.States != one.states || found.Transitions != one.transitions {
				t.Errorf("%v\nwant %d states and %d transitions, and no broken rule", found, one.states, one.transitions)
			}
		})
	}
}

// TestMistakes makes each mistake, and expects that the rule which concerns it notices it.
func TestMistakes(t *testing.T) {
	ticks := World{Jobs: 1, Limit: 1, Again: true}
	clock := World{Jobs: 1, Limit: 1, Clock: true}
	delayed := World{Jobs: 1, Limit: 1, Clock: true, Delayed: true}
	slow := World{Jobs: 1, Limit: 1, Slow: true, Clock: true}
	coarse := World{Jobs: 2, Limit: 1, Coarse: true}
	small := World{Jobs: 1, Limit: 1, Coarse: true}
	for _, one := range []struct {
		mistake Mistake
		world   World
		rule    string
	}{
		{ClaimOutlivesRollback, ticks, "committed claims"},
		{TokenAgain, ticks, "tokens grow"},
		{OutcomeWithoutToken, ticks, "only the last token counts"},
		{BeginUnrecorded, ticks, "recorded begins"},
		{HandBackBegun, coarse, "no second start"},
		{WorkGoesOn, ticks, "one owner"},
		{LeaseIgnored, ticks, "one owner"},
		{LeaseFromAnswer, slow, "one owner"},
		{RescueWithoutWait, clock, "one owner"},
		{RescueUnheard, clock, "one owner"},
		{RescueOvertaken, delayed, "one owner"},
		{JumpIgnored, clock, "one owner"},
		{JobsLeft, small, "nothing is stuck"},
		{CompareAtOnce, ticks, "one owner"},
		{NeverCompare, small, "nothing is stuck"},
		{PermitTwice, coarse, "permits are counted"},
		{PermitKept, coarse, "permits are held by jobs that run"},
	} {
		t.Run(string(one.mistake), func(t *testing.T) {
			one.world.Mistake = one.mistake
			found := one.world.Search()
			t.Logf("%v", found)
			if rule, _, _ := strings.Cut(found.Broken, ":"); rule != one.rule {
				t.Errorf("the rule that notices is %q, not %q", rule, one.rule)
			}
		})
	}
}
