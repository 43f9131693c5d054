package mongodb

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/hourbell/hourbell/lock"
)

// lease is a granted lock: its request, the instant of the grant, and its
// token.
type lease struct {
	provider *Provider
	req      lock.Request
	lockedAt bson.DateTime
	token    int64
	rest     lock.Rest
}

// Token implements [lock.Lease].
func (l *lease) Token() int64 { return l.token }

// Extend implements [lock.Lease].
func (l *lease) Extend(ctx context.Context, hold time.Duration) error {
	return l.change(ctx, "extend", func(now bson.DateTime) bson.E {
		return bson.E{Key: "$max", Value: lockUntil(plus(now, hold))}
	})
}

// Release implements [lock.Lease].
func (l *lease) Release(ctx context.Context) error {
	return l.change(ctx, "release", func(now bson.DateTime) bson.E {
		return bson.E{Key: "$set", Value: lockUntil(max(now, min(plus(l.lockedAt, l.req.AtLeast), plus(now, l.rest.Left()))))}
	})
}

// change changes the row if the lease still owns it.
func (l *lease) change(ctx context.Context, verb string, update func(now bson.DateTime) bson.E) error {
	what := fmt.Sprintf("%s lock %q", verb, l.req.Name)
	r, _, err := l.provider.readRow(ctx, l.req.Name, l.req.Now)
	if err != nil {
		return explain(what, err)
	}
	own := r.Owner == l.req.Owner
	if own {
		own, err = l.provider.changeRow(ctx, l.own(), update(r.Now))
	}
	switch {
	case err != nil:
		return explain(what, err)
	case !own:
		return fmt.Errorf("%s: %w", what, lock.ErrLost)
	default:
		return nil
	}
}
