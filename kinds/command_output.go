package kinds

import "sync"

// tail is a writer that keeps the last limit bytes of what it is given, as
// they are. It never blocks and never holds more than twice that. It is safe for
// concurrent use: a process left behind may still write while it is read.
type tail struct {
	limit int

	mu   sync.Mutex
	kept []byte // at most 2*limit; what counts is its last limit bytes
}

// Write always takes all of p.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	p = p[max(0, len(p)-t.limit):]
	if len(t.kept)+len(p) > 2*t.limit {
		// Moving the tail to the front once per limit bytes costs each byte
		// one more copy at most.
		t.kept = t.kept[:copy(t.kept, t.kept[len(t.kept)-t.limit:])]
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// bytes returns a copy of the last limit bytes.
func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.kept[max(0, len(t.kept)-t.limit):]...)
}
