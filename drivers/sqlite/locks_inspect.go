package sqlite

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
	step                    time.Duration
}

// scan reads a row of the statements look and list.
func (f *lockRow) scan(r row) error {
	var now, slot, anchor, step, granted sql.NullInt64
	var lockedAt, until any
	if err := r.Scan(&now, &f.name, &f.owner, &lockedAt, &until, &f.token, &slot, &anchor, &step, &granted); err != nil {
		return err
	}
	var err error
	if f.lockedAt, err = rowMillis("locked_at", lockedAt); err != nil {
		return err
	}
	if f.until, err = rowMillis("lock_until", until); err != nil {
		return err
	}
	f.now, f.slot, f.anchor, f.grantedAt = fromMillis(now), fromMillis(slot), fromMillis(anchor), fromMillis(granted)
	f.step = time.Duration(step.Int64) * time.Millisecond
	return nil
}

// rowMillis reads an instant of a lock table, which another program may have
// written.
func rowMillis(column string, value any) (time.Time, error) {
	switch v := value.(type) {
	case nil:
		return time.Time{}, nil
	case int64:
		return time.UnixMilli(v).UTC(), nil
	default:
		return time.Time{}, fmt.Errorf("column %s has a value that is not a number of milliseconds (%T); let the other programs write it so (date_class=INTEGER in Java's driver)", column, v)
	}
}

// fromMillis returns an instant from milliseconds since 1970; zero for null.
func fromMillis(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMilli(n.Int64).UTC()
}

// refusal returns why a lock cannot be taken, or nil.
func (f *lockRow) refusal(req lock.Request) error {
	switch slot := req.Slot; {
	case f.name.Valid && f.name.String != req.Name:
		return &lock.FieldError{
			Field: "name", Value: req.Name,
			Problem: fmt.Sprintf("is the same as %q to the table, whose collation does not tell them apart", f.name.String),
			Remedy:  "use that name, or give the column name the collation BINARY",
		}
	case f.until.After(f.now):
		return &lock.HeldError{Name: req.Name, Owner: f.owner.String, Until: f.until, Now: f.now}
	case slot != nil && (f.token.Int64 != slot.Seen || f.now.Before(slot.From) || !f.now.Before(slot.Until)):
		return &lock.NotDueError{Name: req.Name, State: f.state()}
	}
	return nil
}

func (f *lockRow) state() lock.State {
	mark := lock.Mark{Slot: f.slot, Anchor: f.anchor, Interval: f.step}
	return lock.State{Now: f.now, Token: f.token.Int64, Mark: mark, GrantedAt: f.grantedAt}
}

// Locks implements lock.Inspector.
func (l *Locks) Locks(ctx context.Context, req lock.LocksRequest) ([]lock.Info, error) {
	var infos []lock.Info
	a := args{"after": req.After, "names": nil, "limit": req.Limit, "now": clock(req.Now)}
	if len(req.Names) > 0 {
		a["names"] = jsonList(req.Names)
	}
	err := l.connected(ctx, "list locks", func(s lockSession) error {
		infos = nil
		return s.each("list", a, func(r row) error {
			var f lockRow
			err := f.scan(r)
			infos = append(infos, lock.Info{Name: f.name.String, Owner: f.owner.String, LockedAt: f.lockedAt, Until: f.until, State: f.state()})
			return err
		})
	})
	return infos, err
}

// ForceRelease implements lock.Inspector.
func (l *Locks) ForceRelease(ctx context.Context, req lock.ForceReleaseRequest) error {
	return l.connected(ctx, fmt.Sprintf("release lock %q by force", req.Name), func(s lockSession) error {
		return s.write(func() error {
			found, err := s.look(lock.Request{Name: req.Name, Now: req.Now})
			if err != nil {
				return err
			}
			if found.name.String != req.Name && !found.token.Valid {
				return lock.ErrNotFound
			}
			a := args{"name": req.Name, "now": clock(req.Now)}
			if _, err := s.exec("free", a); err != nil {
				return err
			}
			_, err = s.exec("forget", a)
			return err
		})
	})
}
