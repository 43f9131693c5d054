// Package tail keeps the end of an output.
package tail

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

// New returns a Tail that keeps limit bytes, at least 1.
func New(limit int) *Tail { return &Tail{limit: limit} }

// Write always accepts all of p.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write(p)
	return len(p), nil
}

func (t *Tail) write(p []byte) {
	t.total += int64(len(p))
	p = p[max(0, len(p)-t.limit):]
	if len(t.kept)+len(p) > 2*t.limit {
		// The tail moves to the front once per limit bytes, so each byte is
		// copied at most once more.
		t.kept = t.kept[:copy(t.kept, t.kept[len(t.kept)-t.limit:])]
	}
	t.kept = append(t.kept, p...)
}

// Skip counts n bytes that were written elsewhere and are lost. The bytes before
// them are dropped.
func (t *Tail) Skip(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += n
	t.kept = t.kept[:0]
}

// Set makes p the content: all that was written before is forgotten, and not
// counted any more.
func (t *Tail) Set(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept, t.total, t.read = nil, 0, 0
	t.write(p)
}

// Restore returns a Tail that keeps limit bytes, to which total bytes were written before; kept is
// the end of them.
func Restore(limit int, kept []byte, total int64) *Tail {
	t := New(limit)
	t.Skip(total - int64(len(kept)))
	t.write(kept)
	return t
}

// Bytes returns a copy of the last limit bytes.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last(int64(t.limit))
}

// Total returns how many bytes were written.
func (t *Tail) Total() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// Since returns a copy of the kept bytes from byte from on, and the number of the
// first of them: from, or a multiple of align that is greater.
func (t *Tail) Since(from, align int64) (data []byte, first int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	oldest := t.total - min(int64(len(t.kept)), int64(t.limit))
	first = max(from, (oldest+align-1)/align*align)
	if first >= t.total {
		return nil, first
	}
	return t.last(t.total - first), first
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
