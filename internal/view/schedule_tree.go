package view

import (
	"github.com/hourbell/hourbell"
)

// ScheduleTree returns the drawing of the graph of a schedule. A schedule that is waited for,
// and does not exist or was left out, is drawn by its name.
func ScheduleTree(g hourbell.ScheduleGraph, root string) Tree {
	var t Tree
	numbers := map[string]int64{}
	add := func(name, state string) int64 {
		if numbers[name] == 0 {
			numbers[name] = int64(len(numbers) + 1)
			t.Nodes = append(t.Nodes, TreeNode{ID: numbers[name], Label: name, State: state})
		}
		return numbers[name]
	}
	for _, s := range g.Schedules {
		state := s.State()
		if !s.Follows() {
			state = "(" + s.When() + ") " + state
		}
		add(s.Name, state)
	}
	t.Root = numbers[root]
	absent := "does not exist"
	if g.More {
		absent = "not drawn"
		t.Note = "The graph has further schedules; give a greater --limit to draw them."
	}
	for _, s := range g.Schedules {
		for _, e := range s.After {
			t.Edges = append(t.Edges, TreeEdge{add(e.Schedule, absent), numbers[s.Name], edgeLabel(e.On, e.Delay)})
		}
	}
	return t
}

// ScheduleTreeRecord is the graph of a schedule in machine-readable output. Fields are only
// ever added.
type ScheduleTreeRecord struct {
	Schedule  string               `json:"schedule"` // that was asked for
	More      bool                 `json:"more"`
	Schedules []TreeScheduleRecord `json:"schedules"`
}

// TreeScheduleRecord is a schedule of a graph.
type TreeScheduleRecord struct {
	Name     string         `json:"name"`
	State    string         `json:"state"`
	After    []FollowRecord `json:"after"`
	WaitsFor []string       `json:"waits_for"` // schedules of after that do not exist
}

// NewScheduleTreeRecord returns the record of a graph.
func NewScheduleTreeRecord(g hourbell.ScheduleGraph, root string) ScheduleTreeRecord {
	r := ScheduleTreeRecord{Schedule: root, More: g.More, Schedules: []TreeScheduleRecord{}}
	for _, s := range g.Schedules {
		one := NewScheduleRecord(NewSchedule(s, false))
		r.Schedules = append(r.Schedules, TreeScheduleRecord{s.Name, one.State, one.After, append([]string{}, s.WaitsFor...)})
	}
	return r
}
