package supervise

import "sync"

// Tail is a writer that keeps the last bytes of what it is given, as they are.
// It never blocks and never holds more than twice its limit. It is safe for
// concurrent use.
type Tail struct {
	limit int

	mu    sync.Mutex
	kept  []byte // at most 2*limit; what counts is its last limit bytes
	total int64  // written so far
	read  int64  // of these, what Next has returned or skipped
}

// NewTail returns a Tail that keeps limit bytes, at least 1.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write always takes all of p.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.total += int64(n)
	p = p[max(0, len(p)-t.limit):]
	if len(t.kept)+len(p) > 2*t.limit {
		// Moving the tail to the front once per limit bytes costs each byte
		// one more copy at most.
		t.kept = t.kept[:copy(t.kept, t.kept[len(t.kept)-t.limit:])]
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// Bytes returns a copy of the last limit bytes.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last(int64(t.limit))
}

// Next returns what was written since the last call, but for what is not kept
// any more: skipped bytes before that.
func (t *Tail) Next() (fresh []byte, skipped int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh = t.last(min(t.total-t.read, int64(t.limit)))
	skipped = t.total - t.read - int64(len(fresh))
	t.read = t.total
	return fresh, skipped
}

// last returns a copy of the last n bytes, or of all if there are fewer.
func (t *Tail) last(n int64) []byte {
	return append([]byte(nil), t.kept[max(0, len(t.kept)-int(n)):]...)
}
