package dashboard

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// The bounds of a drawn graph, and the size of its parts in pixels.
const (
	graphMost = 40 // jobs
	boxWidth  = 170
	boxHeight = 46
	stepX     = boxWidth + 90
	stepY     = boxHeight + 18
)

// graph is a job with the jobs before and after it, as a drawing.
type graph struct {
	Width, Height int
	Boxes         []box
	Lines         []edge
	Cut           bool // there are more jobs
	Summary       string
}

// box is a job of a graph.
type box struct {
	X, Y         int
	Title, State string
	Class, Href  string
	Here         bool
}

// edge leads from a predecessor to the job that waits for it.
type edge struct {
	X1, Y1, X2, Y2 int
	TextX, TextY   int
	Text, Class    string
}

// graphOf draws the jobs that a job is connected with: its predecessors and dependents, and
// so on; nil: there are none.
func (p *pages) graphOf(ctx context.Context, job store.JobInfo) (*graph, error) {
	found, err := p.client.Jobs.Graph(ctx, job.ID, graphMost)
	if err != nil || len(found.Links) == 0 {
		return nil, err
	}
	g := &graph{Cut: found.More}
	g.draw(found, job.ID)
	return g, nil
}

// draw places the jobs: each in the column after the last of its predecessors.
func (g *graph) draw(found hourbell.JobGraph, here int64) {
	level, columns, tallest := levelsOf(found), map[int]int{}, 0
	for _, n := range level {
		columns[n]++
		tallest = max(tallest, columns[n])
	}
	g.Width, g.Height = (len(columns)-1)*stepX+boxWidth+4, tallest*stepY+4
	at, used := map[int64]box{}, map[int]int{}
	for _, j := range found.Jobs {
		n := level[j.ID]
		b := box{
			X: n*stepX + 2, Y: used[n]*stepY + (tallest-columns[n])*stepY/2 + 2,
			Title: fmt.Sprintf("%d %s", j.ID, plain.Cut(plain.Clean(j.Kind), 16)), State: j.State.String(),
			Class: view.Tone(j.State.String()), Href: jobLink(j.ID), Here: j.ID == here,
		}
		if j.Kind == "" {
			b.State, b.Class = "not kept", "mute"
		}
		used[n]++
		at[j.ID] = b
		g.Boxes = append(g.Boxes, b)
	}
	for _, e := range found.Links {
		g.Lines = append(g.Lines, lineOf(at[e.Job], at[e.Dependent], e.JobEdge))
	}
	g.Summary = fmt.Sprintf("Job %d and %s before and after it", here, plain.Plural(len(g.Boxes)-1, "job"))
}

// levelsOf returns the column of each job: the longest way to it from a job without
// predecessors.
func levelsOf(found hourbell.JobGraph) map[int64]int {
	level := make(map[int64]int, len(found.Jobs))
	for _, j := range found.Jobs {
		level[j.ID] = 0
	}
	for range found.Jobs { // a way has fewer links than there are jobs
		for _, e := range found.Links {
			level[e.Dependent] = max(level[e.Dependent], level[e.Job]+1)
		}
	}
	return level
}

// lineOf returns the line of an edge.
func lineOf(from, to box, e store.JobEdge) edge {
	line := edge{X1: from.X + boxWidth, Y1: from.Y + boxHeight/2, X2: to.X, Y2: to.Y + boxHeight/2, Text: e.On.String()}
	if e.Delay > 0 {
		line.Text += " +" + plain.Brief(e.Delay)
	}
	line.TextX, line.TextY = (line.X1+line.X2)/2, (line.Y1+line.Y2)/2-6
	switch e.State {
	case store.EdgeMatched:
		line.Class = "good"
	case store.EdgeMissed:
		line.Class = "bad"
	default:
		line.Class = "wait"
	}
	return line
}

// Bend returns the path of a line: a curve that leaves and arrives level.
func (e edge) Bend() string {
	middle := strconv.Itoa((e.X1 + e.X2) / 2)
	return fmt.Sprintf("M%d %d C%s %d %s %d %d %d", e.X1, e.Y1, middle, e.Y1, middle, e.Y2, e.X2, e.Y2)
}
