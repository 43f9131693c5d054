package view

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// JobTree returns the drawing of the graph of a job. now is the time of the store's clock.
func JobTree(g hourbell.JobGraph, root int64, now time.Time) Tree {
	t := Tree{Root: root}
	for _, job := range g.Jobs {
		n := TreeNode{ID: job.ID, Label: fmt.Sprint(job.ID), State: "gone"}
		if name := JobName(job); name != "" {
			n.Label += " " + name
		}
		if job.Kind != "" {
			n.Label, n.State = n.Label+" ("+job.Kind+")", JobState(job, now)
		}
		t.Nodes = append(t.Nodes, n)
	}
	for _, link := range g.Links {
		t.Edges = append(t.Edges, TreeEdge{link.Job, link.Dependent, edgeLabel(link.On, link.Delay)})
	}
	if g.More {
		t.Note = "The graph has further jobs; give a greater --limit to draw them."
	}
	return t
}

// JobTreeRecord is the graph of a job in machine-readable output. Fields are only ever
// added.
type JobTreeRecord struct {
	Job   int64            `json:"job"` // that was asked for
	More  bool             `json:"more"`
	Jobs  []TreeJobRecord  `json:"jobs"`
	Edges []TreeEdgeRecord `json:"edges"`
}

// TreeJobRecord is a job of a graph; a job that was deleted or pruned has no state.
type TreeJobRecord struct {
	ID     int64   `json:"id"`
	Name   *string `json:"name"`
	Kind   *string `json:"kind"`
	State  *string `json:"state" shape:"state"` // a word of JobState
	Reason *string `json:"reason"`
	Batch  *int64  `json:"batch"`
}

// TreeEdgeRecord is an edge of a graph.
type TreeEdgeRecord struct {
	Job   int64  `json:"job"`   // the dependent
	After int64  `json:"after"` // its predecessor
	On    string `json:"on"`
	Delay string `json:"delay"`
	State string `json:"state"` // open, matched or missed
}

// NewJobTreeRecord returns the record of a graph. now is the time of the store's clock.
func NewJobTreeRecord(g hourbell.JobGraph, root int64, now time.Time) JobTreeRecord {
	r := JobTreeRecord{Job: root, More: g.More, Jobs: []TreeJobRecord{}, Edges: []TreeEdgeRecord{}}
	for _, job := range g.Jobs {
		one := TreeJobRecord{ID: job.ID}
		if job.Kind != "" {
			one = TreeJobRecord{
				ID: job.ID, Name: orNull(JobName(job)), Kind: &job.Kind, State: orNull(JobState(job, now)),
				Reason: orNull(job.Reason), Batch: orNull(job.Batch),
			}
		}
		r.Jobs = append(r.Jobs, one)
	}
	states := map[store.EdgeState]string{store.EdgeOpen: "open", store.EdgeMatched: "matched", store.EdgeMissed: "missed"}
	for _, link := range g.Links {
		r.Edges = append(r.Edges, TreeEdgeRecord{link.Dependent, link.Job, link.On.String(), link.Delay.String(), states[link.State]})
	}
	return r
}
