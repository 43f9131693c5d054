package proof

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// weather is a TCP proxy to the database that delays messages, drops connections, and lets
// connections become half-open: nothing arrives any more, and neither side learns of it.
type weather struct {
	net.Listener
	target string
	bad    atomic.Bool
	// How often something happened.
	delayed, dropped, silenced atomic.Int64

	mu    sync.Mutex
	lines map[*line]bool
}

// line is one connection through the proxy.
type line struct {
	near, far net.Conn
	silent    atomic.Bool
}

func (l *line) close() {
	l.near.Close()
	l.far.Close()
}

// halfOpen is for how long the database does not learn that a half-open connection has ended.
const halfOpen = 8 * time.Second

func newWeather(t *testing.T, target string) *weather {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &weather{Listener: listener, target: target, lines: map[*line]bool{}}
	t.Cleanup(func() { listener.Close(); w.drop() })
	go w.serve()
	return w
}

func (w *weather) serve() {
	for {
		near, err := w.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", w.target)
		if err != nil {
			near.Close()
			continue
		}
		l := &line{near: near, far: far}
		w.mu.Lock()
		w.lines[l] = true
		w.mu.Unlock()
		go w.carry(l, near, far)
		go w.carry(l, far, near)
	}
}

// carry carries what one side sends.
func (w *weather) carry(l *line, from, to net.Conn) {
	defer func() {
		if l.silent.Load() { // the other side does not learn of it yet
			time.Sleep(halfOpen)
		}
		l.close()
		w.mu.Lock()
		delete(w.lines, l)
		w.mu.Unlock()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if l.silent.Load() {
			continue
		}
		if w.bad.Load() {
			switch chance := rand.IntN(24_000); {
			case chance < 6:
				w.dropped.Add(1)
				return
			case chance < 10:
				w.silenced.Add(1)
				l.silent.Store(true)
				if chance < 8 { // this message does not arrive; otherwise its answer does not
					continue
				}
			case chance < 240:
				w.delayed.Add(1)
				time.Sleep(time.Duration(rand.Int64N(int64(50 * time.Millisecond))))
			}
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// hush makes half of the connections half-open.
func (w *weather) hush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.lines {
		if rand.IntN(2) == 0 {
			l.silent.Store(true)
			w.silenced.Add(1)
		}
	}
}

// drop ends all connections.
func (w *weather) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.lines {
		l.close()
		w.dropped.Add(1)
	}
}
