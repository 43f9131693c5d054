package supervise

import "sync"

// Tail is a writer that keeps the last bytes written to it, unchanged. It never
// blocks and never holds more than twice its limit. Concurrent calls are
// allowed.
type Tail struct {
	limit int

	mu    sync.Mutex
	kept  []byte // at most 2*limit; the last limit bytes are the content
	total int64  // bytes written so far
	read  int64  // how many of these bytes Next has returned or skipped
}

// NewTail returns a Tail that keeps limit bytes, at least 1.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write always accepts all of p.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.total += int64(n)
	p = p[max(0, len(p)-t.limit):]
	if len(t.kept)+len(p) > 2*t.limit {
		// The tail moves to the front once per limit bytes, so each byte is
		// copied at most once more.
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

// Next returns the bytes written since the last call, except bytes that are no
// longer kept: skipped is the number of these bytes.
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
