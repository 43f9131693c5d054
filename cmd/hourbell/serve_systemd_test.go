package main

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/replace"
)

// notified is the socket of a service manager, and the messages that it has received.
type notified struct {
	mu       sync.Mutex
	messages []string
}

// listen receives the messages of a process that gets the address of the socket.
func (n *notified) listen(t *testing.T) (address string) {
	t.Helper()
	address = filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		t.Skipf("no such sockets here: %v", err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		text := make([]byte, 4096)
		for {
			size, err := conn.Read(text)
			if err != nil {
				return
			}
			n.mu.Lock()
			n.messages = append(n.messages, string(text[:size]))
			n.mu.Unlock()
		}
	}()
	return address
}

// all returns the messages.
func (n *notified) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.messages)
}

// count returns how many messages begin with an assignment.
func (n *notified) count(assignment string) int {
	count := 0
	for _, message := range n.all() {
		if message == assignment || strings.HasPrefix(message, assignment+"\n") {
			count++
		}
	}
	return count
}

func (n *notified) awaits(t *testing.T, assignment string, times int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s arrives %d times", assignment, times), func() bool { return n.count(assignment) >= times })
}

// TestServeUnderSystemd checks what a service manager learns during the life of a node, with an upgrade in it, and that
// commands know nothing of the manager.
func TestServeUnderSystemd(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	var manager notified
	b.env["NOTIFY_SOCKET"] = manager.listen(t)
	b.env["WATCHDOG_USEC"] = "400000"
	writeFile(t, "s.yaml", "schedules:\n  - {name: env, every: 1s, shell: 'env | grep -c -e NOTIFY -e WATCHDOG'}\n")
	node := b.serve("--file", "s.yaml", "--lease", "1s", "--name", "tower")
	manager.awaits(t, "READY=1\nSTATUS=node tower", 1)
	manager.awaits(t, "WATCHDOG=1", 3)
	node.awaits(`output=0`, 1)

	node.signal(syscall.SIGHUP)
	manager.awaits(t, "RELOADING=1", 1)
	manager.awaits(t, "READY=1", 2)
	if !slices.ContainsFunc(manager.all(), func(m string) bool { return strings.HasPrefix(m, "RELOADING=1\nMONOTONIC_USEC=") }) {
		t.Errorf("the time of the reload is missing in %q", manager.all())
	}
	if replace.Possible {
		node.signal(syscall.SIGUSR2)
		manager.awaits(t, "READY=1\nSTATUS=node tower", 2)
		fed := manager.count("WATCHDOG=1")
		manager.awaits(t, "WATCHDOG=1", fed+2)
	}
	if n := manager.count("STOPPING=1"); n != 0 {
		t.Errorf("%d stops", n)
	}
	node.signal(syscall.SIGTERM)
	if code := node.ends(); code != exitDone || manager.count("STOPPING=1") != 1 {
		t.Errorf("exit code %d, messages %q", code, manager.all())
	}
}
