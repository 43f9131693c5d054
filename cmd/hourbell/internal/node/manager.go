package node

import (
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
)

// manager is the service manager that has started this process, as far as it wants to know about the
// process: systemd with Type=notify, and WatchdogSec= if it is set; see sd_notify(3). A manager without a
// socket is told nothing. It is an observer of the node's client.
//
//	READY=1      when the node is registered, and after files were read again
//	RELOADING=1  when files are read again
//	STOPPING=1   when a stop begins
//	WATCHDOG=1   while heartbeats are attempted: also if the store does not answer, because a restart
//	             mends a node that hangs, and no store
type manager struct {
	socket   string        // empty: there is no manager that listens
	watchdog time.Duration // how long it waits for WATCHDOG=1; 0: it does not
	patience time.Duration // how long heartbeats may be apart
	log      *slog.Logger

	started  atomic.Bool
	stopping atomic.Bool
	beat     atomic.Pointer[time.Time] // when a heartbeat ended last, on the monotonic clock
	complain sync.Once
}

// The variables by which systemd describes the socket and the watchdog.
const (
	socketVariable      = "NOTIFY_SOCKET"
	watchdogVariable    = "WATCHDOG_USEC"
	watchdogPIDVariable = "WATCHDOG_PID"
)

// newManager reads the environment of the process, and removes the variables, because commands get that
// environment and are no services. heartbeat is the time between heartbeats.
func newManager(heartbeat time.Duration, log *slog.Logger) *manager {
	m := &manager{socket: os.Getenv(socketVariable), patience: 3*heartbeat + 10*time.Second, log: log}
	if pid := os.Getenv(watchdogPIDVariable); pid == "" || pid == strconv.Itoa(os.Getpid()) {
		micros, err := strconv.ParseInt(os.Getenv(watchdogVariable), 10, 64)
		if err == nil && micros > 0 {
			m.watchdog = time.Duration(micros) * time.Microsecond
		}
	}
	for _, name := range []string{socketVariable, watchdogVariable, watchdogPIDVariable} {
		_ = os.Unsetenv(name) // fails only for names that cannot exist
	}
	return m
}

// Observe implements event.Observer.
func (m *manager) Observe(e event.Event) {
	if e.Kind == event.NodeStarted {
		m.beaten()
		m.started.Store(true)
		m.tell("READY=1", "STATUS=node "+oneLine(e.Name))
	}
}

// ObserveCall implements event.CallObserver: it learns of heartbeats.
func (m *manager) ObserveCall(c event.Call) {
	if c.Operation == "heartbeat" {
		m.beaten()
	}
}

func (m *manager) beaten() {
	now := time.Now()
	m.beat.Store(&now)
}

// rereads is called when files are read again; done is called when they were read.
func (m *manager) rereads() (done func()) {
	m.tell(append([]string{"RELOADING=1"}, monotonic()...)...)
	return func() {
		if m.started.Load() && !m.stopping.Load() {
			m.tell("READY=1")
		}
	}
}

// stops is called when a stop begins.
func (m *manager) stops() {
	if !m.stopping.Swap(true) {
		m.tell("STOPPING=1")
	}
}

// feed feeds the watchdog until done is closed.
func (m *manager) feed(done <-chan struct{}) {
	if m.socket == "" || m.watchdog == 0 {
		return
	}
	tick := time.NewTicker(m.watchdog / 4)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if m.alive(time.Now()) {
				m.tell("WATCHDOG=1")
			}
		}
	}
}

// alive reports whether the node attempts heartbeats. A node that takes over is fed before it is registered,
// because it may wait for its store, and a node that stops may be past its last heartbeat.
func (m *manager) alive(now time.Time) bool {
	beat := m.beat.Load()
	return beat == nil || m.stopping.Load() || now.Sub(*beat) <= m.patience
}

// tell sends assignments to the manager.
func (m *manager) tell(assignments ...string) {
	if m.socket == "" {
		return
	}
	// A name that begins with @ is in the abstract namespace, also for package net.
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: m.socket, Net: "unixgram"})
	if err == nil {
		defer conn.Close()
		_, err = conn.Write([]byte(strings.Join(assignments, "\n")))
	}
	if err != nil {
		m.complain.Do(func() {
			m.log.Warn("the service manager is not reached", "socket", m.socket, "error", err)
		})
	}
}

// oneLine returns a text without line breaks, which would begin another assignment.
func oneLine(text string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(text) }
