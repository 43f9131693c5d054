package fire

import (
	"context"
	"maps"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

const (
	// nodesFor is how long a list of the nodes is used to explain why slots are left.
	nodesFor = 2 * time.Second
	// saidFor is how long after the last overdue slot of a schedule the next counts as the same case, of
	// which an event was emitted.
	saidFor = 10 * time.Minute
)

// leftSchedules are the overdue schedules whose slots this node leaves to other nodes although no
// living node fires them.
type leftSchedules struct {
	why   map[int64]string       // by schedule
	said  map[int64]loop.Instant // when a reason was found last, by schedule
	nodes []store.NodeInfo
	read  loop.Instant // when nodes was read
}

func newLeftSchedules() leftSchedules {
	return leftSchedules{why: map[int64]string{}, said: map[int64]loop.Instant{}}
}

// explainLeft finds out why no node fires overdue slots that this node leaves to other nodes. The
// first time that it finds a reason for a schedule, it emits an event. A failure to read the nodes
// is ignored, because the reasons are only for people.
func (f *firer) explainLeft(ctx context.Context, left []plan.Left, now time.Time) {
	clear(f.left.why)
	maps.DeleteFunc(f.left.said, func(_ int64, last loop.Instant) bool { return last.Elapsed() > saidFor })
	for _, one := range left {
		if !one.Overdue(now) || !f.readNodes(ctx) {
			continue
		}
		why := plan.NoTaker(one.Queue, one.Kind, f.left.nodes)
		if why == "" {
			continue
		}
		_, said := f.left.said[one.ID]
		f.left.why[one.ID], f.left.said[one.ID] = why, loop.Now()
		if !said {
			f.report.Emit(event.Event{Kind: event.ScheduleLeft, Schedule: one.Name, Detail: why})
		}
	}
}

// readNodes reads the nodes unless they were read a moment ago, and reports whether they are known.
func (f *firer) readNodes(ctx context.Context) bool {
	if f.left.nodes != nil && f.left.read.Elapsed() < nodesFor {
		return true
	}
	nodes, err := f.cfg.Store.ListNodes(ctx)
	if err != nil {
		return false
	}
	f.left.nodes, f.left.read = nodes, loop.Now()
	return true
}
