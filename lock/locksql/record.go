package locksql

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
)

// record is what the tables contain for a name: the row of the lock and the
// state. Either may be missing.
type record struct {
	dialect                 *Dialect
	now                     time.Time
	name, owner             sql.NullString // from the lock's row
	lockedAt, until         time.Time
	token, step             sql.NullInt64 // from the state
	slot, anchor, grantedAt time.Time
}

// scan reads a row of the statements look and list.
func (f *record) scan(r Row) error {
	instant := func(column string, t *time.Time) *instantScanner { return &instantScanner{f.dialect, column, t} }
	return r.Scan(instant("now", &f.now), &f.name, &f.owner, instant("locked_at", &f.lockedAt), instant("lock_until", &f.until),
		&f.token, instant("slot", &f.slot), instant("anchor", &f.anchor), &f.step, instant("granted_at", &f.grantedAt))
}

// instantScanner reads an instant; null is the zero time.
type instantScanner struct {
	dialect *Dialect
	column  string
	t       *time.Time
}

// Scan implements sql.Scanner.
func (s *instantScanner) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*s.t = time.Time{}
		return nil
	case int64:
		perSecond := int64(time.Second / s.dialect.Tick)
		*s.t = time.Unix(v/perSecond, v%perSecond*int64(s.dialect.Tick)).UTC()
		return nil
	}
	return fmt.Errorf("column %s has a value of type %T that is not a number; %s", s.column, value, s.dialect.TimeAdvice)
}

// complete reports whether both the row and the state exist.
func (f *record) complete() bool { return f.name.Valid && f.token.Valid }

// refusal returns why a lock cannot be taken, or nil.
func (f *record) refusal(req lock.Request, advice string) error {
	switch slot := req.Slot; {
	case f.name.Valid && f.name.String != req.Name:
		return &check.FieldError{
			Field: "name", Value: req.Name,
			Problem: fmt.Sprintf("is equal to %q under the collation of the lock table's column", f.name.String),
			Remedy:  "use that name, or give the column name the collation " + advice,
		}
	case f.until.After(f.now):
		return &lock.HeldError{Name: req.Name, Owner: f.owner.String, Until: f.until, Now: f.now}
	case slot != nil && (f.token.Int64 != slot.Seen || f.now.Before(slot.From) || !f.now.Before(slot.Until)):
		return &lock.NotDueError{Name: req.Name, State: f.state()}
	}
	return nil
}

func (f *record) state() lock.State {
	mark := lock.Mark{Slot: f.slot, Anchor: f.anchor, Interval: time.Duration(f.step.Int64) * time.Millisecond}
	return lock.State{Now: f.now, Token: f.token.Int64, Mark: mark, GrantedAt: f.grantedAt}
}

// info returns the lock as listings show it. A row without an owner was made
// before the first grant of the lock.
func (f *record) info() lock.Info {
	info := lock.Info{Name: f.name.String, State: f.state()}
	if f.owner.String != "" {
		info.Owner, info.LockedAt, info.Until = f.owner.String, f.lockedAt, f.until
	}
	return info
}
