// Package bound ends calls of a store that get no answer: a connection whose other
// end is gone without a word is silent for ever. Every call of a client and of the
// program goes through here, so that each has a bound whatever its caller gave.
package bound

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/store"
)

// Limit is how long a call may take, unless another limit is chosen.
const Limit = 30 * time.Second

const (
	perThousand = 2 * time.Second // more for each thousand jobs, schedules or rows of a bulk call
	perMebibyte = time.Second     // … and for what they carry
	// unsized is how many limits a call gets whose size only the store knows, such
	// as one for all jobs of a schedule.
	unsized = 10
	// perStep is for a migration over tables that may be large.
	perStep = time.Hour
)

// New returns a backend whose calls end by themselves, over next. Each takes as long as limit, and longer by the size
// of the request. A call in a transaction of the caller's has the caller's context alone.
//
// The backend has the abilities of next. Package intercept lists the calls of theirs that have no bound; MigrateStatus and
// MigrateUp of this package bound migrations.
func New(next store.Backend, limit time.Duration) store.Backend {
	return intercept.New(next, func(ctx context.Context, c intercept.Call, next func(context.Context) error) error {
		items, inTx := sizeOf(c.Request)
		if inTx {
			return next(ctx)
		}
		return within(ctx, bulk(c.Request, limit)+time.Duration(items/1000)*perThousand, next)
	})
}

// within does something within limit, or until ctx ends.
func within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(inner)
	if err != nil && inner.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no answer within %v: %w", limit, err)
	}
	return err
}

// bulk returns how long a request may take, before its items are counted: longer than limit if it carries much, or if
// only the store knows its size, because it reads or changes all jobs, all schedules or all locks of something.
func bulk(request any, limit time.Duration) time.Duration {
	switch req := request.(type) {
	case *store.InsertRequest:
		size := 0
		for i := range req.Jobs {
			size += len(req.Jobs[i].Args) + len(req.Jobs[i].Headers)
		}
		return limit + time.Duration(size>>20)*perMebibyte
	case *store.ChangeJobsRequest:
		if req.Schedule == "" {
			return limit
		}
	case *store.PutSchedulesRequest: // a sync also deletes what is not named
		if !req.Sync {
			return limit
		}
	case *store.DeleteRequest: // a host may have had many nodes, and a pause may concern many jobs
		if req.Of != store.OfNodes && req.Of != store.OfPauses {
			return limit
		}
	case *store.PutRequest:
		if len(req.Calendars)+len(req.Pauses) == 0 {
			return limit
		}
	case *store.ListRequest:
		switch req.Of {
		case store.OfBatches, store.OfGroups, store.OfKinds, store.OfQueues:
			return unsized * limit
		}
		return limit
	case *store.AcceptLossRequest, *store.CarryOutRequest, *store.CountJobsRequest:
	default:
		return limit
	}
	return unsized * limit
}

// MigrateStatus returns the steps of the schema of a store within limit; a store without a schema has none.
func MigrateStatus(ctx context.Context, b store.Backend, limit time.Duration) (status []store.MigrationStatus, err error) {
	m, ok := store.Able[store.Migrator](b)
	if !ok {
		return nil, nil
	}
	err = within(ctx, limit, func(ctx context.Context) (err error) {
		status, err = m.MigrateStatus(ctx)
		return err
	})
	return status, err
}

// MigrateUp updates the schema of a store, if it has one. Each missing step of a first schema has a
// limit of its own, and each step over tables that are there an hour.
func MigrateUp(ctx context.Context, b store.Backend, limit time.Duration) (applied []store.Migration, err error) {
	m, ok := store.Able[store.Migrator](b)
	if !ok {
		return nil, nil
	}
	status, err := MigrateStatus(ctx, b, limit)
	if err != nil {
		return nil, err
	}
	missing := 0
	for _, step := range status {
		if !step.Applied {
			missing++
		}
	}
	step := perStep
	if missing == len(status) {
		step = limit
	}
	err = within(ctx, limit+time.Duration(missing)*step, func(ctx context.Context) (err error) {
		applied, err = m.MigrateUp(ctx)
		return err
	})
	return applied, err
}
