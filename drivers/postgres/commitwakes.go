package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// commitGap is how long no insert of this process has notified in a caller's transaction,
	// until the next insert does.
	commitGap = 5 * time.Millisecond
	// lookEvery is the least time between two looks for transactions that have ended.
	lookEvery = 2 * time.Millisecond
	// lookAtMost is the longest time between two looks for a transaction.
	lookAtMost = 100 * time.Millisecond
	// watchTime is for how long nodes poll every second after a wake-up of kind
	// store.WakeWatch.
	watchTime = 15 * time.Second
	// announceEvery is how often a wake-up of this kind is sent while transactions are open.
	announceEvery = 4 * time.Second
	// deferTime is for how long after a wake-up of this kind inserts leave their wake-ups to the
	// loop. The rest of watchTime is for commits that follow, and for late answers.
	deferTime = 8 * time.Second
	// announceAgain is the least time between two announcements for one queue.
	announceAgain = time.Second
	// lookPause is the pause after a look that failed.
	lookPause = 50 * time.Millisecond
)

// commitWakes sends the wake-ups of inserts in callers' transactions, after their commits.
// Commits of transactions that notify wait for each other, also while the disk is flushed.
//
// The first insert after a pause notifies in its transaction. The transaction of an insert that
// follows within commitGap is remembered. A loop reads the server's snapshot every lookEvery,
// finds the remembered transactions that have ended, and sends one wake-up for each of their
// queues. A transaction that was rolled back wakes too, which is harmless. The loop ends when no
// transaction is remembered.
//
// If the process dies right after a commit, the wake-up is lost. The nodes therefore have to
// know beforehand that they must look by themselves: a transaction is remembered only after the
// loop has sent a wake-up of kind store.WakeWatch for its queue. If the loop cannot work, nothing
// is remembered, and each insert notifies.
type commitWakes struct {
	server commitServer

	mu        sync.Mutex
	last      time.Time                // when an insert notified last
	announced map[string]*announcement // by payload
	wanted    map[string]bool          // payloads to announce
	open      []*pendingTx
	counts    map[string]int // of open, by payload
	looks     int            // that have begun
	waiting   []flushWait
	running   bool // the loop runs
	closed    bool
	wakeAt    time.Time     // when the sleeping loop continues
	kick      chan struct{} // wakes the loop; holds one token

	loop     sync.WaitGroup
	ctx      context.Context // of the loop
	stop     context.CancelFunc
	identity string // of the server at the last look; only the loop uses it
}

// commitServer is what commitWakes needs of the database and of the listeners of this process.
type commitServer interface {
	// look returns the server's snapshot and what identifies the server.
	look(ctx context.Context) (seen snapshot, identity string, err error)
	// send sends wake-ups; without an error they have been sent.
	send(ctx context.Context, payloads []string) error
	// wakeHere wakes the nodes of this process.
	wakeHere(payload string)
}

// announcement is a wake-up of kind store.WakeWatch.
type announcement struct {
	tried time.Time
	until time.Time // transactions are remembered until then
}

// pendingTx is a wake-up for a transaction that has not been seen to have ended.
type pendingTx struct {
	xid     uint64
	payload string
	since   time.Time // of the insert
	next    time.Time // when to look for it again
}

// flushWait is a call of flush: it waits for the end of a look that begins after the call.
type flushWait struct {
	look int // the first look that counts
	done chan struct{}
}

func newCommitWakes(server commitServer) *commitWakes {
	c := &commitWakes{
		server: server, announced: map[string]*announcement{}, wanted: map[string]bool{}, counts: map[string]int{}, kick: make(chan struct{}, 1),
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// take reports whether an insert notifies in its transaction. Otherwise the insert calls
// remember with the number of its transaction before it returns to the caller.
func (c *commitWakes) take(payload string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	burst := now.Sub(c.last) < commitGap && !c.closed
	a := c.announced[payload]
	if burst && a != nil && now.Before(a.until) {
		return false
	}
	c.last = now
	if burst && (a == nil || now.Sub(a.tried) >= announceAgain) {
		c.wanted[payload] = true
		c.start(now)
	}
	return true
}

// remember sends a wake-up when the transaction xid has ended.
func (c *commitWakes) remember(xid uint64, payload string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.open = append(c.open, &pendingTx{xid: xid, payload: payload, since: now, next: now})
	c.counts[payload]++
	c.start(now.Add(lookEvery))
}

// start starts the loop if it does not run, and wakes it if it would sleep beyond at. The caller
// holds the mutex.
func (c *commitWakes) start(at time.Time) {
	switch {
	case c.closed:
	case !c.running:
		c.running = true
		c.loop.Go(c.run)
	case at.Before(c.wakeAt):
		select {
		case c.kick <- struct{}{}:
		default: // it wakes already
		}
	}
}

// flush returns when the wake-ups of the remembered transactions have been sent that had ended
// when it was called.
func (c *commitWakes) flush(ctx context.Context) error {
	c.mu.Lock()
	if !c.running {
		c.mu.Unlock()
		return nil
	}
	wait := flushWait{look: c.looks + 1, done: make(chan struct{})}
	c.waiting = append(c.waiting, wait)
	c.start(time.Now())
	c.mu.Unlock()
	select {
	case <-wait.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("send the wake-ups of committed transactions: %w", context.Cause(ctx))
	}
}

// close ends the loop, after the wake-ups of ended transactions have been sent. For transactions
// that are still open it announces once more that wake-ups may be lost.
func (c *commitWakes) close() {
	ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()
	_ = c.flush(ctx) // nodes look by themselves if it fails
	c.mu.Lock()
	c.closed = true
	left := watches(payloadsOf(c.open))
	c.mu.Unlock()
	c.stop()
	c.loop.Wait()
	if len(left) > 0 {
		_ = c.server.send(ctx, left)
	}
}

// run is the loop.
func (c *commitWakes) run() {
	defer c.release()
	lastLook, failed := time.Now(), false
	for {
		announce, at, end := c.plan(lastLook, failed)
		switch wait := time.Until(at); {
		case end:
			return
		case len(announce) > 0:
			c.announce(announce)
		case wait > 0:
			c.sleep(wait)
		default:
			lastLook = time.Now()
			failed = c.look(lastLook) != nil
		}
	}
}

// plan returns the payloads to announce, or when to look next, or that the loop ends.
func (c *commitWakes) plan(lastLook time.Time, failed bool) (announce []string, at time.Time, end bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !failed {
		for payload := range c.counts {
			if a := c.announced[payload]; a == nil || now.Sub(a.tried) >= announceEvery {
				c.wanted[payload] = true
			}
		}
	}
	announce = slices.Collect(maps.Keys(c.wanted))
	clear(c.wanted)
	switch {
	case c.ctx.Err() != nil || len(announce) == 0 && len(c.open) == 0 && len(c.waiting) == 0:
		c.running = false // at once, so that start starts another loop
		return nil, at, true
	case len(announce) > 0:
		return announce, at, false
	}
	c.wakeAt = c.due(lastLook, failed)
	return nil, c.wakeAt, false
}

// due returns when to look next. The caller holds the mutex.
func (c *commitWakes) due(lastLook time.Time, failed bool) time.Time {
	switch {
	case failed:
		return lastLook.Add(lookPause)
	case len(c.waiting) > 0:
		return lastLook
	}
	at := lastLook.Add(lookAtMost)
	for _, tx := range c.open {
		if tx.next.Before(at) {
			at = tx.next
		}
	}
	if least := lastLook.Add(lookEvery); at.Before(least) {
		return least
	}
	return at
}

// sleep waits for d, or until the loop is woken.
func (c *commitWakes) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.ctx.Done():
	case <-timer.C:
	case <-c.kick:
	}
}

// release ends the calls of flush that no loop will end.
func (c *commitWakes) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		c.endWaits(c.looks + 1)
	}
}

// announce announces payloads. From then on their transactions are remembered.
func (c *commitWakes) announce(payloads []string) {
	ctx, cancel := context.WithTimeout(c.ctx, notifyTimeout)
	defer cancel()
	sent := time.Now() // before the message leaves, so that nodes watch for longer than this process counts on
	err := c.server.send(ctx, watches(payloads))
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.announced) >= maxRemembered {
		maps.DeleteFunc(c.announced, func(_ string, a *announcement) bool { return a.until.Before(sent) })
	}
	for _, payload := range payloads {
		a := &announcement{tried: sent}
		if err == nil {
			a.until = sent.Add(deferTime)
		}
		c.announced[payload] = a
	}
}

// look looks for ended transactions and sends their wake-ups. If another server answers than at
// the look before, or the server has restarted, numbers of transactions mean nothing any more:
// then all that is remembered is woken and forgotten.
func (c *commitWakes) look(now time.Time) error {
	ctx, cancel := context.WithTimeout(c.ctx, notifyTimeout)
	defer cancel()
	candidates, number := c.candidates(now)
	seen, identity, err := c.server.look(ctx)
	if err != nil {
		c.distrust()
		return err
	}
	replaced := c.identity != "" && c.identity != identity
	c.identity = identity
	if replaced {
		c.distrust()
	}
	var ended []*pendingTx
	for _, tx := range candidates {
		if replaced || seen.ended(tx.xid) {
			ended = append(ended, tx)
		} else {
			tx.next = now.Add(min(max(now.Sub(tx.since)/8, lookEvery), lookAtMost))
		}
	}
	payloads := payloadsOf(ended)
	for _, payload := range payloads {
		c.server.wakeHere(payload)
	}
	if len(payloads) > 0 {
		if err := c.server.send(ctx, payloads); err != nil {
			c.distrust()
			return err // they are still remembered
		}
	}
	c.forget(ended, number)
	return nil
}

// candidates returns the transactions that a look is for, and its number.
func (c *commitWakes) candidates(now time.Time) (txs []*pendingTx, number int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	for _, tx := range c.open {
		if len(c.waiting) > 0 || !tx.next.After(now) {
			txs = append(txs, tx)
		}
	}
	return txs, c.looks
}

// distrust makes inserts notify until payloads have been announced again.
func (c *commitWakes) distrust() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.announced)
}

// forget forgets transactions, and ends the calls of flush that waited for a look.
func (c *commitWakes) forget(ended []*pendingTx, look int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(ended) > 0 { // both lists are in the same order
		c.open = slices.DeleteFunc(c.open, func(tx *pendingTx) bool {
			if len(ended) == 0 || tx != ended[0] {
				return false
			}
			ended = ended[1:]
			if c.counts[tx.payload]--; c.counts[tx.payload] == 0 {
				delete(c.counts, tx.payload)
			}
			return true
		})
	}
	c.endWaits(look)
}

// endWaits ends the calls of flush that wait for a look or an earlier one. The caller holds the
// mutex.
func (c *commitWakes) endWaits(look int) {
	c.waiting = slices.DeleteFunc(c.waiting, func(wait flushWait) bool {
		if wait.look <= look {
			close(wait.done)
		}
		return wait.look <= look
	})
}

// payloadsOf returns the payloads of transactions, each once.
func payloadsOf(txs []*pendingTx) []string {
	var out []string
	for _, tx := range txs {
		if !slices.Contains(out, tx.payload) {
			out = append(out, tx.payload)
		}
	}
	return out
}

// Flush implements store.Flusher.
func (b *Backend) Flush(ctx context.Context) error {
	return cmp.Or(b.commitWakes.flush(ctx), b.insertWakes.flush(ctx))
}
