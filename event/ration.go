package event

import (
	"sync"
	"time"
)

// rationTime is how long a ration has to last.
const rationTime = time.Second

// ration grants so many of each rationTime and counts the rest, which it reports
// when that time is over. It is safe for concurrent use.
type ration struct {
	limit int
	more  func(count int64) // called without mu, at most once per rationTime

	mu    sync.Mutex
	began time.Time // when the time began in which taken and left were counted
	taken int       // were granted
	left  int64     // were not
}

func newRation(limit int, more func(count int64)) *ration {
	return &ration{limit: limit, more: more}
}

// take reports whether one more is granted.
func (r *ration) take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	// What was not granted is reported by a timer; until that has fired, the
	// ration is spent.
	if now := time.Now(); r.left == 0 && now.Sub(r.began) >= rationTime {
		r.began, r.taken = now, 0
	}
	if r.taken < r.limit {
		r.taken++
		return true
	}
	if r.left == 0 {
		time.AfterFunc(rationTime-time.Since(r.began), r.flush)
	}
	r.left++
	return false
}

// flush reports what was not granted, if anything, and begins a new time.
func (r *ration) flush() {
	r.mu.Lock()
	left := r.left
	r.left = 0
	if left > 0 {
		r.began, r.taken = time.Now(), 0
	}
	r.mu.Unlock()
	if left > 0 {
		r.more(left)
	}
}
