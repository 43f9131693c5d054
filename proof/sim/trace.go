package sim

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// trace is what happened, in order: a line for each call, each step of a worker and each event. While it is off,
// it costs next to nothing.
type trace struct {
	on    bool
	clock func() time.Time // of the store

	mu    sync.Mutex
	lines []string
}

// add adds a line.
func (t *trace) add(format string, args ...any) {
	if !t.on {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, t.clock().UTC().Format("15:04:05.000000")+"  "+fmt.Sprintf(format, args...))
}

// String returns the lines.
func (t *trace) String() string { return strings.Join(t.lines, "\n") }
