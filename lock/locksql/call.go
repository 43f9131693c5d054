package locksql

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// Patience bounds a call whose context has no earlier end.
const Patience = 10 * time.Second

// session is a connection with the statements that fit the tables.
type session struct {
	ctx     context.Context
	conn    Conn
	dialect *Dialect
	shape   *shape
}

// has reports whether the dialect has an optional statement.
func (s session) has(st statement) bool { return s.shape.templates[st] != nil }

func (s session) commands(st statement, v *values) []Command { return bind(s.shape.templates[st], v) }

// query runs a statement and calls scan with each row of its answer.
func (s session) query(st statement, v *values, scan func(Row) error) error {
	return s.conn.Query(s.ctx, s.commands(st, v)[0], scan)
}

// exec runs a statement and returns the number of rows that it wrote.
func (s session) exec(st statement, v *values) (rows int, err error) {
	return s.conn.Exec(s.ctx, s.commands(st, v))
}

// clock returns the instant that replaces the database's clock in a test.
func (s session) clock(now func() time.Time) any {
	if now == nil {
		return nil
	}
	return s.instant(now())
}

// instant returns an instant as a parameter: null for the zero time.
func (s session) instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return s.dialect.Instant(t)
}

// call runs do with the lock tables. If other transactions were in the way, call
// runs do again.
func (p *Provider) call(ctx context.Context, use Use, what string, do func(s session) error) error {
	return p.connected(ctx, use, what, func(ctx context.Context, conn Conn) error {
		shape, err := p.shapeOf(ctx, conn)
		if err != nil {
			return err
		}
		for try := 1; ; try++ {
			err := do(session{ctx, conn, p.dialect, shape})
			if err == nil || try == tries || p.dialect.Class(err) != Passing || !pause(ctx, try) {
				return err
			}
		}
	})
}

// connected acquires a connection, runs do with it and releases it, all within
// Patience. what is the name of the operation in errors.
func (p *Provider) connected(ctx context.Context, use Use, what string, do func(ctx context.Context, conn Conn) error) error {
	if p.invalid != nil {
		return fmt.Errorf("%s: %w", what, p.invalid)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	conn, err := p.db.Acquire(ctx, use)
	if err != nil {
		return p.explain(ctx, what, "waited for a connection; allow the pool more, or give some back", err)
	}
	defer conn.Release()
	return p.explain(ctx, what, p.dialect.Waited, do(ctx, conn))
}

// pause waits longer after each attempt. It returns false if ctx ended.
func pause(ctx context.Context, try int) bool {
	timer := time.NewTimer(time.Duration(1+rand.IntN(5<<try)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// explain adds the operation to an error and, if there is one, the remedy.
func (p *Provider) explain(ctx context.Context, what, waited string, err error) error {
	var field *check.FieldError
	switch {
	case err == nil, errors.Is(err, lock.ErrHeld), errors.Is(err, lock.ErrNotDue), errors.As(err, &field):
		return err // an answer of a provider, which is complete
	case errors.Is(err, lock.ErrLost), errors.Is(err, lock.ErrNotFound):
		return fmt.Errorf("%s: %w", what, err)
	case ctx.Err() != nil:
		if !errors.Is(err, ctx.Err()) {
			err = errors.Join(ctx.Err(), err)
		}
		return fmt.Errorf("%s: %w: %s: %w", what, lock.ErrBusy, waited, err)
	}
	switch p.dialect.Class(err) {
	case Busy:
		return fmt.Errorf("%s: %w: %s: %w", what, lock.ErrBusy, waited, err)
	case Changed:
		return fmt.Errorf("%s: %w: %w; %s", what, store.ErrSchema, err, p.forget())
	case Denied:
		return fmt.Errorf("%s: the database user may not do this; grant it SELECT, INSERT and UPDATE on %s and %s: %w",
			what, p.dialect.qualify(p.schema, p.table), p.dialect.qualify(p.schema, p.table+stateSuffix), err)
	}
	return p.dialect.Explain(what, err)
}
