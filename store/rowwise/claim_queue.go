package rowwise

import (
	"context"
	"time"
)

// queueGate bounds a claim by the limits of the whole queue: the permits of the node have to be of the newest limit, and a rate has to
// let jobs start. A claim that is left without jobs still passes the next gates, because they may have something to do; roomGate ends it.
type queueGate struct{}

func (queueGate) look(ctx context.Context, c *claim) (verdict, error) {
	return c.boundByQueue(ctx, false)
}

func (queueGate) take(ctx context.Context, c *claim) (verdict, error) {
	return c.boundByQueue(ctx, true)
}

func (c *claim) boundByQueue(ctx context.Context, lock bool) (v verdict, err error) {
	if c.around.Limited {
		if c.rates, err = c.tx.QueueRates(ctx, c.req.Limited(), lock); err != nil {
			return v, err
		}
	}
	c.req = c.rates.Bound(c.req, c.now, &c.out.ClaimResult)
	return v, nil
}

// roomGate ends a claim that is left without jobs.
type roomGate struct{}

func (roomGate) look(_ context.Context, c *claim) (verdict, error) { return c.room(), nil }

func (roomGate) take(_ context.Context, c *claim) (verdict, error) { return c.room(), nil }

func (c *claim) room() verdict {
	if c.req.Limit == 0 {
		return refuses
	}
	return passes
}

// startInQueue moves the rates of the queue by the jobs that were taken. The starts count from the instant that clock reads.
func (c *claim) startInQueue(ctx context.Context, clock func() (time.Time, error)) error {
	if len(c.out.Jobs) > 0 && len(c.rates.Rates) > 0 {
		now, err := clock()
		if err != nil {
			return err
		}
		for _, rate := range c.rates.Start(now, len(c.out.Jobs)) {
			if err := c.tx.SaveRate(ctx, rate.Limit, rate.TAT); err != nil {
				return err
			}
		}
	}
	if len(c.out.Jobs) < c.most && c.req.Permits.Rated() {
		c.out.NextStart = c.rates.Next(c.now)
	}
	return nil
}
