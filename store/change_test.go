package store

import (
	"reflect"
	"testing"
)

func TestJobPlan(t *testing.T) {
	states := map[int64]State{1: StateReady, 2: StateWaiting, 3: StateRunning, 4: StateCompleted, 5: StateFailed, 6: StateCancelled}
	const missing = 9
	for name, c := range map[string]struct {
		action JobAction
		ids    []int64
		want   JobPlan
	}{
		"cancel": {CancelJobs, []int64{6, 5, 4, 3, 2, 1, missing}, JobPlan{
			Changes: []JobChange{{6, Unchanged, 0}, {5, Unchanged, 0}, {4, Unchanged, 0}, {3, Requested, 0}, {2, Changed, 0}, {1, Changed, 0}, {missing, Missing, 0}},
			End:     []int64{2, 1}, Ask: []int64{3},
		}},
		"cancel twice": {CancelJobs, []int64{1, 3, 1, 3}, JobPlan{
			Changes: []JobChange{{1, Changed, 0}, {3, Requested, 0}, {1, Unchanged, 0}, {3, Requested, 0}},
			End:     []int64{1}, Ask: []int64{3},
		}},
		"retry": {RetryJobs, []int64{1, 2, 3, 4, 5, 6, missing}, JobPlan{
			Changes: []JobChange{{1, Changed, 0}, {2, Unchanged, 0}, {3, Unchanged, 0}, {4, Changed, 0}, {5, Changed, 0}, {6, Changed, 0}, {missing, Missing, 0}},
			Pull:    []int64{1}, Revive: []int64{4, 5, 6},
		}},
		"retry twice": {RetryJobs, []int64{4, 1, 2, 2, 1, 4}, JobPlan{
			Changes: []JobChange{{4, Changed, 0}, {1, Changed, 0}, {2, Unchanged, 0}, {2, Unchanged, 0}, {1, Changed, 0}, {4, Changed, 0}},
			Pull:    []int64{1}, Revive: []int64{4},
		}},
		"delete": {DeleteJobs, []int64{3, 1, 2, 4, missing, 1, 3}, JobPlan{
			Changes: []JobChange{{3, Unchanged, 0}, {1, Changed, 0}, {2, Changed, 0}, {4, Changed, 0}, {missing, Missing, 0}, {1, Missing, 0}, {3, Unchanged, 0}},
			Delete:  []int64{1, 2, 4},
		}},
		"move": {MoveJobs, []int64{1, 2, 3, 4, missing, 1}, JobPlan{
			Changes: []JobChange{{1, Changed, 0}, {2, Changed, 0}, {3, Unchanged, 0}, {4, Unchanged, 0}, {missing, Missing, 0}, {1, Changed, 0}},
			Alter:   []int64{1, 2},
		}},
		"reprioritise": {ReprioritiseJobs, []int64{6, 5, 3, 2, 1}, JobPlan{
			Changes: []JobChange{{6, Unchanged, 0}, {5, Unchanged, 0}, {3, Unchanged, 0}, {2, Changed, 0}, {1, Changed, 0}},
			Alter:   []int64{2, 1},
		}},
	} {
		if got := c.action.Plan(c.ids, states); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestActionStates: an action changes each job that a filter selects without a
// condition on the state.
func TestActionStates(t *testing.T) {
	for _, action := range []JobAction{CancelJobs, RetryJobs, DeleteJobs, MoveJobs, ReprioritiseJobs} {
		for _, state := range action.States() {
			if change := action.Plan([]int64{1}, map[int64]State{1: state}).Changes[0].Change; change != Changed && change != Requested {
				t.Errorf("action %d selects %v jobs, which it does not change", action, state)
			}
		}
	}
}

func TestWithConflicts(t *testing.T) {
	changes := []JobChange{{1, Changed, 0}, {2, Changed, 0}, {1, Changed, 0}}
	WithConflicts(changes, map[int64]int64{1: 8})
	if want := []JobChange{{1, KeyTaken, 8}, {2, Changed, 0}, {1, KeyTaken, 8}}; !reflect.DeepEqual(changes, want) {
		t.Errorf("%+v, want %+v", changes, want)
	}
}
