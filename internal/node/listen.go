package node

import (
	"context"
	"errors"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

// steadyPushTime is how long wake-ups must have arrived until an event reports that they work
// again.
const steadyPushTime = 10 * time.Second

// listen receives wake-ups from the store until ctx ends. While it cannot, the loops poll.
func (n *Node) listen(ctx context.Context) {
	listener, ok := store.Able[store.Listener](n.cfg.Store)
	if !ok {
		return
	}
	wakes := n.cfg.Wakes
	reported := false // an event has reported that wake-ups are lost
	for attempt := 0; ; attempt++ {
		began := loop.Now()
		err := listener.Listen(ctx, func(hint store.Wake) {
			if hint.Kind == store.WakeAll {
				wakes.SetPushed(true)
			}
			if reported && began.Elapsed() > steadyPushTime {
				reported = false
				n.report.Emit(event.Event{Kind: event.PushBack})
			}
			wakes.Wake(hint)
		})
		if ctx.Err() != nil {
			return
		}
		if wakes.SetPushed(false) && began.Elapsed() > steadyPushTime {
			attempt = 0
		}
		n.storeFailed("listen", err)
		wakes.Wake(store.Wake{}) // waiting loops have to begin polling
		if !reported {
			reported = true
			n.report.Emit(event.Event{Kind: event.PushLost, Err: err})
		}
		if errors.Is(err, store.ErrNoPush) {
			return
		}
		if loop.Sleep(ctx, loop.RetryWait(attempt, n.around.Random("listen"))) != nil {
			return
		}
	}
}
