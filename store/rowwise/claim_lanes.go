package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// laneGate lets only jobs through that hold the permits that they need of limits of kinds and keys. It passes on permits that were given
// back, and gives permits to jobs that the claim may take, in steps. A rate refuses claims that do not start their jobs at once.
type laneGate struct{}

func (laneGate) look(ctx context.Context, c *claim) (verdict, error) {
	if v, err := c.findLaneWork(ctx); err != nil || v != passes || !c.lanes.Limited {
		return v, err
	}
	found := c.lanes.Found
	if !found {
		var err error
		if found, err = c.tx.HasNewLaneJobs(ctx, c.req, c.now); err != nil {
			return refuses, err
		}
	}
	if found {
		return hasWork, nil
	}
	return passes, nil
}

func (laneGate) take(ctx context.Context, c *claim) (verdict, error) {
	if v, err := c.findLaneWork(ctx); err != nil || v != passes || !c.lanes.Limited || c.way.Busy {
		return v, err
	}
	fresh, err := c.tx.LockNewLaneJobs(ctx, c.req, c.lanes, c.way, c.now)
	if err != nil || len(fresh.Jobs) == 0 && !c.lanes.Found {
		return passes, err
	}
	given, err := PassOnPermits(ctx, c.tx, fresh.Jobs, c.now)
	if err != nil {
		return refuses, err
	}
	c.lanes.Next = store.Earlier(c.lanes.Next, given.Next)
	step := store.LaneStep{
		Left: fresh.Left, More: given.More, Released: len(given.Queues) > 0,
		Claimable: given.Claimable, Looked: fresh.Looked, Waits: given.Waits,
	}
	again, soon := step.Again(c.way, c.req)
	c.out.Claimable, c.out.Soon = given.Claimable, soon
	if !given.More { // otherwise the step may have left fresh jobs
		c.out.Fresh = fresh.Jobs
	}
	if soon {
		c.lanes.Next = c.now
	}
	if again {
		return hasWork, nil
	}
	return passes, nil
}

// findLaneWork finds out what limits of kinds and keys concern the queue.
func (c *claim) findLaneWork(ctx context.Context) (v verdict, err error) {
	if !c.around.Permits {
		return passes, nil
	}
	if c.lanes, err = c.tx.FindLaneWork(ctx, c.req.Queue, c.now); err != nil {
		return refuses, err
	}
	if c.out.Rated = c.lanes.Rated; c.lanes.Refuses(c.req) {
		return refuses, nil
	}
	return passes, nil
}

// startInLanes uses the starts that the jobs hold which were taken.
func (c *claim) startInLanes(ctx context.Context, clock func() (time.Time, error)) error {
	if !c.lanes.Rated {
		return nil
	}
	next, err := StartJobs(ctx, c.tx, c.out.Jobs, clock)
	c.lanes.Next = store.Earlier(c.lanes.Next, next)
	return err
}
