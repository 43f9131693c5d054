package redis

import (
	"context"
	"errors"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/hourbell/hourbell/lock"
)

// Client runs scripts on a server. Any client of Redis can be made one, in a few
// lines. Any number of goroutines call it at once. Replies are strings, int64
// and []any of these. An error that the server answered begins with its code,
// such as NOSCRIPT.
//
// A Client need not watch ctx: the Provider returns when ctx ends, and leaves
// the call behind until the client's own time-outs end it. It should not send a
// script twice on its own account: a grant whose reply was lost is then found
// as held by itself, and stays so until its hold ends.
type Client interface {
	// EvalSha runs a script that the server has, by its SHA-1 in hexadecimal.
	EvalSha(ctx context.Context, sha string, keys []string, args ...any) (any, error)
	// Eval runs a script, and leaves it with the server.
	Eval(ctx context.Context, script string, keys []string, args ...any) (any, error)
}

// GoRedis makes a Client of one of go-redis (v9): a *redis.Client, a
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

// busy adds lock.ErrBusy to an error that came of a pool without a connection
// to spare.
func (g goRedis) busy(err error) error {
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	switch {
	case errors.Is(err, goredis.ErrPoolTimeout), errors.Is(err, goredis.ErrPoolExhausted), late && g.exhausted():
		return fmt.Errorf("%w: raise the client's PoolSize: %w", lock.ErrBusy, err)
	default:
		return err
	}
}

// exhausted says whether every connection is in use.
func (g goRedis) exhausted() bool {
	stats := g.client.PoolStats()
	return stats != nil && stats.TotalConns > 0 && stats.IdleConns == 0
}

// eachNode implements [nodes]: keys are spread over the primaries of a cluster,
// and over the servers of a ring.
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

// nodes is implemented by a Client whose keys are on several servers. Visits
// may be concurrent.
type nodes interface {
	eachNode(ctx context.Context, visit func(ctx context.Context, node Client) error) error
}
