package redis

import (
	"context"
	"errors"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/hourbell/hourbell/lock"
)

// Client runs scripts on a server. An adapter for any Redis client takes a few
// lines. It must be safe for concurrent use. Replies are strings, int64 and
// []any of these. An error of the server begins with its code, such as
// NOSCRIPT.
//
// A Client need not observe ctx: the Provider returns when ctx ends, and
// abandons the call, which the client's own time-outs then end. A Client should
// not resend a script by itself: if the reply to a grant was lost, the resent
// script would find the lock held by its own request, and the lock would stay
// held until its hold ends.
type Client interface {
	// EvalSha runs a script that the server has cached, by its SHA-1 in
	// hexadecimal.
	EvalSha(ctx context.Context, sha string, keys []string, args ...any) (any, error)
	// Eval runs a script by its text; the server caches it.
	Eval(ctx context.Context, script string, keys []string, args ...any) (any, error)
}

// GoRedis makes a Client from a go-redis (v9) client: a *redis.Client, a
// *redis.ClusterClient or a *redis.Ring.
func GoRedis(client goredis.UniversalClient) Client { return goRedis{client} }

type goRedis struct{ client goredis.UniversalClient }

// EvalSha implements [Client].
func (g goRedis) EvalSha(ctx context.Context, sha string, keys []string, args ...any) (any, error) {
	reply, err := g.client.EvalSha(ctx, sha, keys, args...).Result()
	return reply, g.busy(err)
}

// Eval implements [Client].
func (g goRedis) Eval(ctx context.Context, script string, keys []string, args ...any) (any, error) {
	reply, err := g.client.Eval(ctx, script, keys, args...).Result()
	return reply, g.busy(err)
}

// busy adds lock.ErrBusy to an error that was caused by a pool without a free
// connection.
func (g goRedis) busy(err error) error {
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	switch {
	case errors.Is(err, goredis.ErrPoolTimeout), errors.Is(err, goredis.ErrPoolExhausted), late && g.exhausted():
		return fmt.Errorf("%w: raise the client's PoolSize: %w", lock.ErrBusy, err)
	default:
		return err
	}
}

// exhausted reports whether every connection is in use.
func (g goRedis) exhausted() bool {
	stats := g.client.PoolStats()
	return stats != nil && stats.TotalConns > 0 && stats.IdleConns == 0
}

// eachNode implements [nodes]: keys are distributed over the primaries of a
// cluster, or over the servers of a ring.
func (g goRedis) eachNode(ctx context.Context, visit func(ctx context.Context, node Client) error) error {
	one := func(ctx context.Context, client *goredis.Client) error { return visit(ctx, goRedis{client}) }
	switch client := g.client.(type) {
	case *goredis.ClusterClient:
		return client.ForEachMaster(ctx, one)
	case *goredis.Ring:
		return client.ForEachShard(ctx, one)
	default:
		return visit(ctx, g)
	}
}

// nodes is implemented by a Client whose keys are on several servers. visit may
// be called concurrently.
type nodes interface {
	eachNode(ctx context.Context, visit func(ctx context.Context, node Client) error) error
}
