package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// lockRow is what the tables contain for a name: the row of the lock and the
// state. Either may be missing.
type lockRow struct {
	now                     time.Time
	name, owner             sql.NullString // from the lock's row
	lockedAt, until         time.Time
	token                   sql.NullInt64 // from the state
	slot, anchor, grantedAt time.Time
	stepMS                  int64
}

// scan reads a row of the statements look and list.
func (f *lockRow) scan(r row) error {
	var now, lockedAt, until, slot, anchor, step, granted sql.NullInt64
	if err := r.Scan(&now, &f.name, &f.owner, &lockedAt, &until, &f.token, &slot, &anchor, &step, &granted); err != nil {
		return err
	}
	f.now, f.lockedAt, f.until = fromMicros(now), fromMicros(lockedAt), fromMicros(until)
	f.slot, f.anchor, f.grantedAt, f.stepMS = fromMicros(slot), fromMicros(anchor), fromMicros(granted), step.Int64
	return nil
}

// fromMicros returns an instant from microseconds since 1970; zero for null.
func fromMicros(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}

// complete reports whether both the row and the state exist.
func (f *lockRow) complete() bool { return f.name.Valid && f.token.Valid }

// refusal returns why a lock cannot be taken, or nil.
func (f *lockRow) refusal(req lock.Request) error {
	switch slot := req.Slot; {
	case f.name.Valid && f.name.String != req.Name:
		return &lock.FieldError{
			Field: "name", Value: req.Name,
			Problem: fmt.Sprintf("is the same as %q to the table, whose collation does not tell them apart", f.name.String),
			Remedy:  `use that name, or give the column name the collation "C"`,
		}
	case f.until.After(f.now):
		return &lock.HeldError{Name: req.Name, Owner: f.owner.String, Until: f.until, Now: f.now}
	case slot != nil && (f.token.Int64 != slot.Seen || f.now.Before(slot.From) || !f.now.Before(slot.Until)):
		return &lock.NotDueError{Name: req.Name, State: f.state()}
	}
	return nil
}

func (f *lockRow) state() lock.State {
	mark := lock.Mark{Slot: f.slot, Anchor: f.anchor, Interval: time.Duration(f.stepMS) * time.Millisecond}
	return lock.State{Now: f.now, Token: f.token.Int64, Mark: mark, GrantedAt: f.grantedAt}
}

// info returns the lock as listings show it. A row without an owner was made
// before the first grant of the lock.
func (f *lockRow) info() lock.Info {
	info := lock.Info{Name: f.name.String, State: f.state()}
	if f.owner.String != "" {
		info.Owner, info.LockedAt, info.Until = f.owner.String, f.lockedAt, f.until
	}
	return info
}

// Locks implements lock.Inspector.
func (l *Locks) Locks(ctx context.Context, req lock.LocksRequest) ([]lock.Info, error) {
	var infos []lock.Info
	err := l.call(ctx, "list locks", func(s lockSession) error {
		infos = nil
		args := []any{req.After, arrayText(req.Names), req.Limit, clock(req.Now)}
		if len(req.Names) == 0 {
			args[1] = nil
		}
		_, err := s.query("list", args, func(r row) error {
			var found lockRow
			err := found.scan(r)
			infos = append(infos, found.info())
			return err
		})
		return err
	})
	return infos, err
}

// ForceRelease implements lock.Inspector.
func (l *Locks) ForceRelease(ctx context.Context, req lock.ForceReleaseRequest) error {
	return l.call(ctx, fmt.Sprintf("release lock %q by force", req.Name), func(s lockSession) error {
		var exists bool
		_, err := s.query("free", []any{req.Name, clock(req.Now)}, func(r row) error { return r.Scan(&exists) })
		if err == nil && !exists {
			err = lock.ErrNotFound
		}
		return err
	})
}
