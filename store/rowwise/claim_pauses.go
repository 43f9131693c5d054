package rowwise

import "context"

// pauseGate lets nothing of paused queues and kinds through. Jobs of paused groups and keys are parked, out of the way of claims: the
// gate parks due jobs of them, and makes jobs claimable again whose pauses have ended, in steps.
type pauseGate struct{}

func (pauseGate) look(ctx context.Context, c *claim) (verdict, error) {
	if !c.around.Pauses {
		return passes, nil
	}
	if found, err := c.tx.FindPauseWork(ctx, c.now); err != nil || found {
		return hasWork, err
	}
	return c.leavePaused(ctx)
}

func (pauseGate) take(ctx context.Context, c *claim) (verdict, error) {
	if !c.around.Pauses {
		return passes, nil
	}
	step, err := c.tx.TendPauses(ctx, c.now)
	if err != nil || step.Again(c.way, c.req) {
		return hasWork, err
	}
	return c.leavePaused(ctx)
}

// leavePaused takes paused kinds out of the claim. The answer to a claim from a paused queue says when the pause ends, and whether a rate of
// a kind or of keys concerns the queue.
func (c *claim) leavePaused(ctx context.Context) (verdict, error) {
	pauses, err := c.tx.FindPauses(ctx, c.now)
	if err != nil {
		return refuses, err
	}
	var paused bool
	if c.req, paused = c.req.Unpaused(pauses); !paused {
		return passes, nil
	}
	if c.around.Permits {
		if c.lanes, err = c.tx.FindLaneWork(ctx, c.req.Queue, c.now); err != nil {
			return refuses, err
		}
		c.out.Rated = c.lanes.Rated
	}
	c.out.NextDue, err = c.tx.NextDue(ctx, c.req.Queue, c.now)
	return refuses, err
}
