package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store/memory"
)

// errRolledBack is what a user makes of jobs whose transaction the user rolled back.
var errRolledBack = errors.New("simulated: the user rolled the transaction back")

// askByHand does what users do less often: see workload.hands. known is false for other verbs.
func (c *cluster) askByHand(ctx context.Context, e event) (record func(), err error, known bool) {
	record = func() {}
	switch e.Verb {
	case enqueueInTx:
		record, err = c.enqueueInTx(ctx, e)
	case cancelGroup, retryGroup:
		c.witness.groups[e.Name] = true
		if e.Verb == cancelGroup {
			_, err = c.user.Groups.Cancel(ctx, e.Name)
		} else {
			_, err = c.user.Groups.Retry(ctx, e.Name)
		}
	case resetSchedule:
		err = c.user.Schedules.Reset(ctx, []string{e.Name})
	case pauseFor:
		err = c.user.Schedules.PauseUntil(ctx, c.now().Add(e.For), []string{e.Name})
	case backfill:
		now := c.now()
		_, err = c.user.Schedules.Backfill(ctx, e.Name, hourbell.BackfillRequest{From: now.Add(-2 * e.For), To: now.Add(-e.For)})
	case setWorkers:
		err = c.nodes[e.Node-1].client.SetWorkers(e.Of, e.Seconds[0])
	case setMaxRunning:
		n := c.nodes[e.Node-1]
		c.witness.bound(n.name, e.Of)
		err = n.client.SetMaxRunning(e.Of, e.Seconds[0])
	default:
		return nil, nil, false
	}
	return record, err, true
}

// enqueueInTx enqueues jobs in a transaction of the user, which stays open for a while and is committed then, or rolled back.
func (c *cluster) enqueueInTx(ctx context.Context, e event) (record func(), err error) {
	requests, all := c.requests(e.Jobs)
	if len(requests) == 0 {
		return func() {}, nil
	}
	tx := c.store.(*memory.Store).Begin()
	answers, err := c.user.EnqueueMany(ctx, requests, hourbell.InTx(tx))
	_ = c.gate.await(context.Background(), &stop{key: fmt.Sprint("user ", ctx.Value(caller{}), " has a transaction"), arrive: func(int) time.Time {
		return time.Now().Add(e.For)
	}})
	switch {
	case err != nil, e.Of == rolledBack:
		err = errors.Join(err, tx.Rollback(), errRolledBack)
	default:
		err = tx.Commit()
	}
	return func() {
		c.record(all, answers, err)
		for _, a := range all {
			a.Never = err != nil
		}
	}, err
}

// beforeByHand records what such an event is about to change.
func (w *witness) beforeByHand(p *plan, e event, now moment) {
	switch e.Verb {
	case resetSchedule, pauseFor:
		for _, name := range p.namesOf(e.Name) {
			w.halted[name] = true
			if e.Verb == resetSchedule {
				w.every[name] = 0
			}
		}
		endInForce(w.halts, e.Name, same, now)
	}
}
