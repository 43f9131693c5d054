package fire

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

const (
	// nodesFor is how long a list of the nodes is used to explain why slots are left.
	nodesFor = 2 * time.Second
	// saidFor is how long after the last overdue slot of a schedule the next overdue slot belongs to the same case, which is
	// reported by one event.
	saidFor = 10 * time.Minute
)

// leftSchedules are the overdue schedules whose slots this node leaves to other nodes although no
// living node fires them.
type leftSchedules struct {
	why   map[int64]string       // by schedule
	said  map[int64]loop.Instant // when a reason was found last, by schedule
	nodes []store.NodeInfo
	read  loop.Instant // when nodes was read
	// files has, by schedule, the owner of the file that declares the schedule; zero if no file declares the schedule. The
	// owners are read again with the nodes.
	files map[int64]store.Owner
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
	left = slices.DeleteFunc(left, func(one plan.Left) bool { return !one.Overdue(now) })
	if len(left) == 0 || !f.readNodes(ctx) {
		return
	}
	for _, one := range left {
		why := plan.NoTaker(one.Queue, one.Kind, f.left.nodes, func() string { return f.whyDeclared(ctx, one.Schedule, left) })
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
	nodes, err := store.List[store.NodeInfo](ctx, f.cfg.Store, store.ListRequest{})
	if err != nil {
		return false
	}
	f.left.nodes, f.left.read = nodes, loop.Now()
	f.left.files = nil
	return true
}

// whyDeclared returns why no living node runs the jobs of a schedule among left that a file declares; empty: no file declares it, or
// the store does not answer. The files of all of left are read together.
func (f *firer) whyDeclared(ctx context.Context, s store.Schedule, left []plan.Left) string {
	if _, known := f.left.files[s.ID]; !known {
		rows := make([]store.Schedule, len(left))
		for i, one := range left {
			rows[i] = one.Schedule
		}
		files, err := FilesOf(ctx, f.cfg.Store, rows)
		if err != nil {
			return ""
		}
		f.left.files = make(map[int64]store.Owner, len(rows))
		for _, row := range rows {
			f.left.files[row.ID] = files[row.ID]
		}
	}
	return plan.DeclaredButLeft(store.HostOf(s.Name, s.Owner), f.left.files[s.ID], f.left.nodes)
}
