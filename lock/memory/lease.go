package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// lease is a grant: its request, and its token.
type lease struct {
	provider *Provider
	req      lock.Request
	token    int64
	rest     lock.Rest
}

// Token implements [lock.Lease].
func (l *lease) Token() int64 { return l.token }

// Extend implements [lock.Lease].
func (l *lease) Extend(ctx context.Context, hold time.Duration) error {
	return l.change(ctx, "extend", func(r row, now time.Time) time.Time {
		return later(r.until, now.Add(hold))
	})
}

// Release implements [lock.Lease].
func (l *lease) Release(ctx context.Context) error {
	return l.change(ctx, "release", func(r row, now time.Time) time.Time {
		return later(now, earlier(r.lockedAt.Add(l.req.AtLeast), now.Add(l.rest.Left())))
	})
}

// change moves the end of a lock that the lease still holds.
func (l *lease) change(ctx context.Context, verb string, until func(r row, now time.Time) time.Time) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s lock %q: %w", verb, l.req.Name, err)
	}
	p := l.provider
	p.mu.Lock()
	defer p.mu.Unlock()
	now := clock(l.req.Now)
	r := p.rows[l.req.Name]
	if r.owner != l.req.Owner || !r.until.After(now) {
		return fmt.Errorf("%s lock %q: %w", verb, l.req.Name, lock.ErrLost)
	}
	r.until = until(r, now)
	p.rows[l.req.Name] = r
	if verb == "release" {
		p.watchers.Wake(l.req.Name)
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
