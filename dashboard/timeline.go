package dashboard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// The parts of a timeline from top to bottom, in pixels. Places from left to right are
// percentages, so that the drawing has any width while its text keeps its size.
const (
	slotsY    = 34 // the line of the slots
	lanesY    = 62 // the first lane
	laneY     = 34 // between lanes
	axisY     = 26 // the axis, from the bottom
	mostLanes = 10
	mostTicks = 8
)

// timeline is a range of time as a drawing: slots as marks, and runs as bars on the nodes
// that had them.
type timeline struct {
	Height  int
	AxisY   int
	LabelY  int
	SlotsY  int
	Ticks   []tick
	Now     string // where now is; empty: outside
	Marks   []mark
	Lanes   []lane
	Down    []bar // times without nodes
	More    int   // lanes that are not drawn
	Clock   bool  // the clock changes within the range
	Runs    bool  // the marks and bars are of real jobs, not of a simulation
	Summary string
}

type tick struct {
	X    string
	At   time.Time
	Text string // in UTC
	Date bool   // the range is so long that dates are shown instead of times
}

// mark is a slot, or several successive slots with one outcome.
type mark struct {
	X, Width string // Width is empty for one slot
	Outcome  string
	Href     string
	Title    string
}

type lane struct {
	Name   string
	Y, Top int
	Bars   []bar
}

type bar struct {
	X, Width string
	Class    string
	Href     string
	Title    string
}

// scale places instants of a range.
type scale struct{ from, to time.Time }

// at returns how far an instant is within the range, from 0 to 1; outside it returns the
// nearer end.
func (s scale) at(t time.Time) float64 {
	return min(max(float64(t.Sub(s.from))/float64(s.to.Sub(s.from)), 0), 1)
}

func (s scale) has(t time.Time) bool { return !t.Before(s.from) && !t.After(s.to) }

func (s scale) x(t time.Time) string { return percent(s.at(t)) }

func (s scale) width(from, to time.Time) string { return percent(s.at(to) - s.at(from)) }

func percent(part float64) string { return strconv.FormatFloat(part*100, 'f', 2, 64) + "%" }

// begin returns a timeline with its axis.
func (s scale) begin(lanes int) *timeline {
	t := &timeline{SlotsY: slotsY, Height: lanesY + lanes*laneY + axisY}
	t.AxisY, t.LabelY = t.Height-axisY+4, t.Height-6
	step := s.step()
	layout, date := "15:04", step >= 24*time.Hour
	if date {
		layout = "Jan 2"
	}
	if step > 0 {
		for at := s.from.Truncate(step).Add(step); at.Before(s.to); at = at.Add(step) {
			t.Ticks = append(t.Ticks, tick{X: s.x(at), At: at, Text: at.UTC().Format(layout), Date: date})
		}
	}
	return t
}

// step returns the time between ticks; 0 for a range without ticks.
func (s scale) step() time.Duration {
	const day = 24 * time.Hour
	for _, step := range []time.Duration{
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 2 * day, 5 * day, 10 * day, 30 * day, 100 * day, 365 * day,
	} {
		if s.to.Sub(s.from) <= mostTicks*step {
			return step
		}
	}
	return 0
}

// drawSlots draws what became of slots, the runs of their jobs, and the slots to come.
func drawSlots(from, to, now time.Time, slots []store.SlotInfo, runs []store.JobInfo, next []time.Time) *timeline {
	s := scale{from, to}
	names := nodesOf(runs)
	t := s.begin(min(max(len(names), 1), mostLanes))
	t.Runs = true
	if s.has(now) {
		t.Now = s.x(now)
	}
	counts := map[string]int64{}
	for _, slot := range slots {
		word := slot.Outcome.String()
		counts[word] += slot.Count
		m := mark{X: s.x(slot.Slot), Outcome: word, Href: "#" + slotID(slot), Title: fmt.Sprintf("%s %s", plain.Stamp(slot.Slot), word)}
		if slot.JobKept && slot.JobState != store.StateCompleted {
			m.Outcome, m.Title = outcomeOfJob(slot.JobState), m.Title+", its job: "+slot.JobState.String()
		}
		if slot.Count > 1 {
			m.Width = s.width(slot.Slot, slot.Last)
			m.Title += fmt.Sprintf(", %d slots to %s", slot.Count, plain.Stamp(slot.Last))
		}
		if slot.Reason != "" {
			m.Title += ": " + plain.Clean(slot.Reason)
		}
		t.Marks = append(t.Marks, m)
	}
	for _, at := range next {
		t.Marks = append(t.Marks, mark{X: s.x(at), Outcome: "due", Title: plain.Stamp(at) + " due"})
	}
	for i, name := range names {
		if i == mostLanes {
			t.More = len(names) - mostLanes
			break
		}
		l := newLane(i, plain.Clean(plain.Dash(name)))
		for _, j := range runs {
			if j.Node == name && !j.StartedAt.IsZero() {
				l.Bars = append(l.Bars, s.run(j, now))
			}
		}
		t.Lanes = append(t.Lanes, l)
	}
	t.Summary = fmt.Sprintf("Slots from %s to %s: %d fired, %d missed, %d skipped, %d to come. The table below lists them.",
		plain.Stamp(from.Truncate(time.Second)), plain.Stamp(to.Truncate(time.Second)), counts["fired"], counts["missed"], counts["skipped"], len(next))
	return t
}

// outcomeOfJob returns how the mark of a slot looks whose job did not complete.
func outcomeOfJob(state store.State) string {
	switch {
	case state == store.StateFailed:
		return "failed"
	case state.Finished():
		return "cancelled"
	}
	return "open"
}

func newLane(i int, name string) lane {
	return lane{Name: name, Y: lanesY + i*laneY + 10, Top: lanesY + i*laneY + 4}
}

// run returns the bar of a job's last attempt.
func (s scale) run(j store.JobInfo, now time.Time) bar {
	end := j.FinishedAt
	if end.IsZero() {
		end = now
	}
	word := j.State.String()
	if j.State == store.StateReady { // it waits for another attempt
		word, end = "retrying", j.StartedAt
	}
	return bar{
		X: s.x(j.StartedAt), Width: s.width(j.StartedAt, end), Class: view.Tone(word), Href: jobLink(j.ID),
		Title: fmt.Sprintf("job %d, slot %s: %s, from %s, %s", j.ID, plain.Stamp(j.Slot), word, plain.Stamp(j.StartedAt), plain.Brief(end.Sub(j.StartedAt))),
	}
}

// nodesOf returns the nodes that had runs, by name.
func nodesOf(runs []store.JobInfo) []string {
	var names []string
	for _, j := range runs {
		if !j.StartedAt.IsZero() && !slices.Contains(names, j.Node) {
			names = append(names, j.Node)
		}
	}
	slices.SortFunc(names, strings.Compare)
	return names
}

// drawExplained draws a simulation.
func drawExplained(req hourbell.ExplainRequest, e hourbell.Explanation) *timeline {
	s := scale{req.From, req.To}
	t := s.begin(1)
	l := newLane(0, "jobs")
	for _, change := range e.ClockChanges {
		t.Marks = append(t.Marks, mark{X: s.x(change.At), Outcome: "clock", Title: change.Text})
	}
	for _, slot := range e.Slots {
		m := mark{X: s.x(slot.Slot), Outcome: slot.Outcome, Title: fmt.Sprintf("%s %s", plain.Stamp(slot.Slot), slot.Outcome)}
		if slot.Count > 1 {
			m.Width = s.width(slot.Slot, slot.Last)
		}
		if slot.Reason != "" {
			m.Title += ": " + plain.Clean(slot.Reason)
		}
		t.Marks = append(t.Marks, m)
		if !slot.Started.IsZero() {
			end := slot.Ended
			if end.IsZero() {
				end = req.To
			}
			l.Bars = append(l.Bars, bar{X: s.x(slot.Started), Width: s.width(slot.Started, end), Class: "good", Title: fmt.Sprintf("job %d", slot.Job)})
		}
	}
	for _, down := range req.Down {
		t.Down = append(t.Down, bar{X: s.x(down.From), Width: s.width(down.From, down.To), Title: "no node lives"})
	}
	t.Lanes, t.Clock = []lane{l}, len(e.ClockChanges) > 0
	t.Summary = fmt.Sprintf("A simulation of %s. The table below lists it.", plain.Plural(len(e.Slots), "slot"))
	return t
}
