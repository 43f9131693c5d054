//go:build !lockstores

package stores

import (
	"context"

	"github.com/hourbell/hourbell/check"
)

// Without the tag lockstores, the program has no clients of Redis and MongoDB, which are a quarter of the work of building it. Released
// programs have them.

func (l LockLocation) openRedis(context.Context) (Locks, error) { return nil, notBuilt("Redis") }

func (l LockLocation) openMongoDB(context.Context) (Locks, error) { return nil, notBuilt("MongoDB") }

func notBuilt(store string) error {
	return &check.FieldError{
		Field: "store", Value: store, Problem: "is not part of this program, which was built without the tag lockstores",
		Remedy: "use a release, or build the program with `go build -tags lockstores` or `make build`",
	}
}
