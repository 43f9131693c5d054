package dashboard

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// The bounds of a drawn graph, and the size of its parts in pixels.
const (
	graphDepth = 5  // steps back from the job
	graphMost  = 40 // jobs
	boxWidth   = 170
	boxHeight  = 46
	stepX      = boxWidth + 90
	stepY      = boxHeight + 18
)

// graph is a job with the jobs before it, as a drawing.
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

// graphOf draws the jobs that a job waits or waited for, and what they waited for; nil if
// it has no predecessors.
func (p *pages) graphOf(ctx context.Context, job store.JobInfo) (*graph, error) {
	if len(job.After) == 0 {
		return nil, nil //nolint:nilnil // nil is a job without a graph
	}
	known := map[int64]store.JobInfo{job.ID: job}
	levels := [][]int64{{job.ID}}
	g := &graph{}
	for len(levels) <= graphDepth {
		var next []int64
		for _, id := range levels[len(levels)-1] {
			for _, e := range known[id].After {
				if _, found := known[e.Job]; !found && !slices.Contains(next, e.Job) {
					next = append(next, e.Job)
				}
			}
		}
		if room := graphMost - len(known); len(next) > room {
			next, g.Cut = next[:room], true
		}
		if len(next) == 0 {
			break
		}
		slices.Sort(next)
		for _, id := range next {
			known[id] = store.JobInfo{ID: id} // it may have been deleted
		}
		found, err := p.client.Jobs.List(ctx, hourbell.JobFilter{IDs: next, Limit: len(next), Details: true})
		if err != nil {
			return nil, err
		}
		for _, info := range found {
			known[info.ID] = info
		}
		levels = append(levels, next)
	}
	g.draw(levels, known, job.ID)
	return g, nil
}

// draw places the jobs: a column for each level, the job itself last.
func (g *graph) draw(levels [][]int64, known map[int64]store.JobInfo, here int64) {
	tallest := 0
	for _, level := range levels {
		tallest = max(tallest, len(level))
	}
	g.Width, g.Height = (len(levels)-1)*stepX+boxWidth+4, tallest*stepY+4
	at := map[int64]box{}
	for depth, level := range levels {
		for i, id := range level {
			j := known[id]
			b := box{
				X: (len(levels)-1-depth)*stepX + 2, Y: i*stepY + (tallest-len(level))*stepY/2 + 2,
				Title: fmt.Sprintf("%d %s", id, plain.Cut(plain.Clean(j.Kind), 16)), State: j.State.String(), Class: view.Tone(j.State.String()), Href: jobLink(id), Here: id == here,
			}
			if j.Kind == "" {
				b.State, b.Class = "not kept", "mute"
			}
			at[id] = b
			g.Boxes = append(g.Boxes, b)
		}
	}
	for _, level := range levels {
		for _, id := range level {
			for _, e := range known[id].After {
				from, found := at[e.Job]
				if !found {
					g.Cut = true
					continue
				}
				g.Lines = append(g.Lines, lineOf(from, at[id], e))
			}
		}
	}
	g.Summary = fmt.Sprintf("Job %d and %s before it", here, plain.Plural(len(g.Boxes)-1, "job"))
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
