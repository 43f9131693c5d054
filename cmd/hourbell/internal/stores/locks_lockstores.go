//go:build lockstores

package stores

import (
	"context"

	"github.com/hourbell/hourbell/drivers/mongodb"
	"github.com/hourbell/hourbell/drivers/redis"
)

func (l LockLocation) openRedis(ctx context.Context) (Locks, error) {
	return redis.Open(ctx, l.other, tableOption(l.environment, redis.Environment)...)
}

func (l LockLocation) openMongoDB(ctx context.Context) (Locks, error) {
	return mongodb.Open(ctx, l.other, tableOption(l.table, mongodb.Collection)...)
}
