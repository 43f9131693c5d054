package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// dueGate finds out where jobs on the allow-list of the claim are due, so that a claim without such jobs ends.
type dueGate struct{}

func (dueGate) look(ctx context.Context, c *claim) (v verdict, err error) {
	found := c.around.Jobs
	if found != nil && !c.around.Pauses && c.req.DueFor == 0 {
		c.due = found.Due
	} else if c.due, err = c.tx.FindDue(ctx, c.req, c.req.DueBy(c.now)); err != nil {
		return refuses, err
	}
	if len(c.due) > 0 {
		return hasWork, nil
	}
	c.out.Searched = true
	if found != nil && len(found.Due) == 0 {
		c.out.NextDue = found.NextDue
	} else if c.out.NextDue, err = c.tx.NextDue(ctx, c.req.Queue, c.now); err != nil {
		return refuses, err
	}
	c.out.NextDue = store.Earlier(c.out.NextDue, c.lanes.Next)
	return refuses, nil
}

// take looks again if there are pauses, or limits of kinds and keys concern the queue: the gates of them may have changed jobs or the allow-list
// since the look.
func (dueGate) take(ctx context.Context, c *claim) (v verdict, err error) {
	if !c.req.Suspects && (c.around.Pauses || c.lanes.Limited) {
		c.due, err = c.tx.FindDue(ctx, c.req, c.req.DueBy(c.now))
	}
	return passes, err
}

// takeJobs takes what the gates have let through, in the order of claims (store.CompareClaimed; of aged jobs store.LongestDue), and
// completes the answer.
func (c *claim) takeJobs(ctx context.Context) (err error) {
	if c.out.Jobs, c.out.Batch, err = c.tx.TakeJobs(ctx, c.req, c.due, c.lanes.Limited, c.now); err != nil {
		return err
	}
	c.out.Searched = true
	clock := func() (time.Time, error) { return c.tx.ReadStart(ctx, c.req.Now, &c.out.ClaimResult) }
	if err := c.startInLanes(ctx, clock); err != nil {
		return err
	}
	if err := c.startInQueue(ctx, clock); err != nil {
		return err
	}
	if !c.req.WantsNextDue(len(c.out.Jobs)) {
		return nil
	}
	c.out.NextDue, err = c.tx.NextDue(ctx, c.req.Queue, c.now)
	c.out.NextDue = store.Earlier(c.out.NextDue, c.lanes.Next)
	return err
}
