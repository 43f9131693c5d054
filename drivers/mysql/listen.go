package mysql

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

const (
	// idleLook is how often Listen looks for wake-ups of other processes: so that a job which another process enqueues begins
	// within 1.1 s.
	idleLook = 950 * time.Millisecond
	// busyLook is how often it looks until busyTime after the last wake-up.
	busyLook = 40 * time.Millisecond
	busyTime = 3 * time.Second
	// forgetAfter is how long a row of the table stays that is not raised.
	forgetAfter = 10 * time.Minute
)

// Listen calls wake after changes; see store.Listener. Changes of this process arrive
// at once. MySQL pushes nothing, so Listen looks for changes of other processes, and of
// transactions that callers commit, in a table with a few rows: every 40 ms while there
// are any, else about once a second.
func (b *Backend) Listen(ctx context.Context, wake func(store.Wake)) error {
	const doing = "listen for changes"
	defer b.wakes.listen(wake)()
	seen, err := b.readWakes(ctx)
	if err != nil {
		return b.explain(ctx, doing, err)
	}
	wake(store.Wake{Kind: store.WakeAll})
	var changed, tidied time.Time
	for {
		pause := idleLook
		if time.Since(changed) < busyTime {
			pause = busyLook
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
		}
		now, err := b.readWakes(ctx)
		if err != nil {
			return b.explain(ctx, doing, err)
		}
		if set := now.since(seen); set != 0 {
			changed = time.Now()
			set.each(wake)
		}
		seen = now
		if time.Since(tidied) > forgetAfter {
			tidied = time.Now()
			if err := b.forgetWakes(ctx); err != nil {
				return b.explain(ctx, doing, err)
			}
		}
	}
}

// Flush implements store.Flusher. A transaction of a caller wakes with its commit.
func (b *Backend) Flush(context.Context) error {
	b.wakes.others.flush()
	return nil
}

// wakeRows are the rows of the table of wake-ups, without the row of this Backend, by
// their sources.
type wakeRows map[int64]wakeRow

// wakeRow counts wake-ups.
type wakeRow struct{ jobs, schedules, cancels int64 }

// since returns what was raised since the rows were as they were before.
func (r wakeRows) since(before wakeRows) (set wakeSet) {
	for source, now := range r {
		was := before[source]
		if now.jobs != was.jobs {
			set |= wakeJobs
		}
		if now.schedules != was.schedules {
			set |= wakeSchedules
		}
		if now.cancels != was.cancels {
			set |= wakeCancels
		}
	}
	return set
}

// readWakes reads the table of wake-ups.
func (b *Backend) readWakes(ctx context.Context) (wakeRows, error) {
	text, err := b.texts[readWakes].complete(readWakes, nil)
	if err != nil {
		return nil, err
	}
	out := wakeRows{}
	rows, err := b.db.QueryContext(ctx, text) //nolint:rowserrcheck // EachRow returns rows.Err
	err = sqlrows.EachRow(rows, err, func(r row) error {
		var source int64
		var one wakeRow
		if err := r.Scan(&source, &one.jobs, &one.schedules, &one.cancels); err != nil {
			return err
		}
		if source != b.source {
			out[source] = one
		}
		return nil
	})
	return out, err
}

// forgetWakes deletes rows of processes and connections that are probably gone.
func (b *Backend) forgetWakes(ctx context.Context) error {
	return b.Write(ctx, "delete old wake-ups", nil)(func(s *session) error {
		var old []int64
		err := s.Each(ctx, lockOldWakes, args{"age": forgetAfter.Microseconds()}, func(r row) error {
			var source int64
			err := r.Scan(&source)
			old = append(old, source)
			return err
		})
		if err != nil || len(old) == 0 {
			return err
		}
		return s.Exec(ctx, deleteWakes, args{"sources": old})
	})
}

// raise wakes other processes by the row of this Backend.
func (b *Backend) raise(ctx context.Context, set wakeSet) error {
	text, err := b.texts[raiseWake].complete(raiseWake, set.args(b.source))
	if err != nil {
		return err
	}
	return b.again(ctx, func() error {
		_, err := b.db.ExecContext(ctx, text)
		return err
	})
}
