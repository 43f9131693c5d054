package redis

import (
	"context"
	"slices"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/hourbell/hourbell/lock"
)

// subscriber is implemented by a Client that can subscribe to channels.
type subscriber interface {
	subscribe(ctx context.Context, channels ...string) *goredis.PubSub
}

// subscribe implements [subscriber], on a connection of its own.
func (g goRedis) subscribe(ctx context.Context, channels ...string) *goredis.PubSub {
	return g.client.Subscribe(ctx, channels...)
}

// lingering is how long a subscription stays open after the last caller has gone.
const lingering = 5 * time.Second

// watch is the subscription of a provider, while callers wait.
type watch struct {
	waiting lock.Watchers

	mu     sync.Mutex
	pubsub *goredis.PubSub // nil: no caller waits
	closer *time.Timer     // nil: a caller waits

	order sync.Mutex // of what is sent on the subscription
}

var _ lock.Notifier = (*Provider)(nil)

// channelBase is what the channels begin with on which releases are published. The
// key of the lock follows.
const channelBase = "hourbell:released:"

// Watch implements [lock.Notifier], by one subscription for all callers that wait.
// It needs the client of Open, or of [GoRedis], and the right to the channels
// hourbell:released:*; without them callers poll.
func (p *Provider) Watch(ctx context.Context, name string) <-chan struct{} {
	client, ok := p.client.(subscriber)
	if !ok {
		return nil
	}
	w := &p.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	channel := channelBase + p.keys(name)[0]
	turn, remove := w.waiting.Add(channel)
	context.AfterFunc(ctx, func() { w.leave(channel, remove) })
	if w.closer != nil {
		w.closer.Stop()
		w.closer = nil
	}
	if w.pubsub == nil {
		w.pubsub = client.subscribe(context.Background())
		go w.hear(w.pubsub.ChannelWithSubscriptions())
	}
	// Without waiting for the server: a subscription that fails is made again when
	// the connection is.
	pubsub := w.pubsub
	go w.subscribe(context.WithoutCancel(ctx), pubsub, channel)
	return turn
}

// subscribe adds a channel to the subscription, which outlives the caller that waits for it.
func (w *watch) subscribe(ctx context.Context, pubsub *goredis.PubSub, channel string) {
	w.order.Lock()
	defer w.order.Unlock()
	_ = pubsub.Subscribe(ctx, channel)
}

// hear gives turns until the subscription is closed: to the first caller of a
// channel when the server confirms the channel, because a release before that is
// not heard, and at each release.
func (w *watch) hear(messages <-chan any) {
	for message := range messages {
		switch m := message.(type) {
		case *goredis.Subscription:
			if m.Kind == "subscribe" {
				w.waiting.Wake(m.Channel)
			}
		case *goredis.Message:
			w.waiting.Wake(m.Channel)
		}
	}
}

// leave removes a caller from the list, and closes the subscription some time after the last caller has left.
func (w *watch) leave(channel string, remove func() (last bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := remove()
	if w.pubsub == nil || !last {
		return
	}
	pubsub := w.pubsub
	go func() {
		w.order.Lock()
		defer w.order.Unlock()
		if !slices.Contains(w.waiting.Names(), channel) { // else it was subscribed to again
			_ = pubsub.Unsubscribe(context.Background(), channel)
		}
	}()
	if len(w.waiting.Names()) == 0 && w.closer == nil {
		w.closer = time.AfterFunc(lingering, w.closeIdle)
	}
}

func (w *watch) closeIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting.Names()) == 0 {
		w.closeLocked()
	}
	w.closer = nil
}

func (w *watch) closeNow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closeLocked()
}

func (w *watch) closeLocked() {
	if w.pubsub != nil {
		_ = w.pubsub.Close() // the connection goes, whatever it says
		w.pubsub = nil
	}
}
