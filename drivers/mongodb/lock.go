package mongodb

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/hourbell/hourbell/lock"
)

// TryLock implements [lock.Provider].
func (p *Provider) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	l, err := p.tryLock(ctx, req)
	if err != nil {
		return nil, explain(fmt.Sprintf("take lock %q", req.Name), err)
	}
	return l, nil
}

// tryLock reads before it writes: a request for a lock that is held, or is not
// due, writes nothing and delays no other request.
func (p *Provider) tryLock(ctx context.Context, req lock.Request) (*lease, error) {
	r, err := p.ensureRow(ctx, req)
	if err != nil {
		return nil, err
	}
	if r.Until > r.Now {
		return nil, r.heldError()
	}
	if req.Slot != nil {
		if err := p.checkSlot(ctx, req, r.Now); err != nil {
			return nil, err
		}
	}
	if taken, err := p.takeRow(ctx, req, r.Now); err != nil {
		return nil, err
	} else if !taken {
		return nil, p.nowHeld(ctx, req)
	}
	l := &lease{provider: p, req: req, lockedAt: r.Now}
	err = l.drawToken(ctx)
	l.rest = lock.NewRest(req)
	return l, err
}

// checkSlot returns a *[lock.NotDueError] if the conditions of a slot do not
// hold.
func (p *Provider) checkSlot(ctx context.Context, req lock.Request, now bson.DateTime) error {
	s, err := p.readState(ctx, req.Name)
	if err != nil {
		return err
	}
	if at := timeOf(now); s.Token != req.Slot.Seen || at.Before(req.Slot.From) || !at.Before(req.Slot.Until) {
		return &lock.NotDueError{Name: req.Name, State: s.at(now)}
	}
	return nil
}

// nowHeld returns the error of the request that came second. The holder may
// have released the lock again.
func (p *Provider) nowHeld(ctx context.Context, req lock.Request) error {
	r, found, err := p.readRow(ctx, req.Name, req.Now)
	switch {
	case err != nil:
		return err
	case !found || r.Until <= r.Now:
		return &lock.HeldError{Name: req.Name, Now: timeOf(r.Now)}
	default:
		return r.heldError()
	}
}

// drawToken gives a lease its token, and then confirms that the row was not
// lost in between: otherwise the token would be greater than the token of the
// present owner.
func (l *lease) drawToken(ctx context.Context) error {
	s, drawn, err := l.provider.nextState(ctx, l.req, l.lockedAt)
	if err != nil {
		return err
	}
	if !drawn { // another grant came between reading and taking
		if _, err := l.freeRow(ctx); err != nil {
			return err
		}
		s, err := l.provider.readState(ctx, l.req.Name)
		if err != nil {
			return err
		}
		return &lock.NotDueError{Name: l.req.Name, State: s.at(l.lockedAt)}
	}
	l.token = s.Token
	if own, err := l.confirmRow(ctx); err != nil {
		return err
	} else if !own {
		return l.provider.nowHeld(ctx, l.req)
	}
	return nil
}
