package mysql

import (
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// wire forwards connections to a server, and records the commands that the server gets, also each BEGIN, SET and COMMIT. It leaves
// out what Open sends at the beginning of a connection: the pool makes connections when it needs more of them.
type wire struct {
	mu       sync.Mutex
	commands []string
}

// throughWire returns a wire, and the URL of a store through it.
func throughWire(t *testing.T, storeURL string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(storeURL)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	w, server := &wire{}, u.Host
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go w.serve(client, server)
		}
	}()
	u.Host = listener.Addr().String()
	return w, u.String()
}

// serve forwards a connection.
func (w *wire) serve(client net.Conn, server string) {
	defer client.Close()
	to, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		defer client.Close()
		_, _ = io.Copy(client, to)
	}()
	_, _ = io.Copy(to, io.TeeReader(client, &commandReader{add: w.add}))
}

// add records a command.
func (w *wire) add(kind byte, text string) {
	if kind == 1 { // COM_QUIT
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commands = append(w.commands, text)
}

// take returns the commands since the last call.
func (w *wire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.commands
	w.commands = nil
	return taken
}

// commandReader finds the commands in what a client sends: a packet begins with its length in 3 bytes and its number within the
// command in 1 byte. Packets of a login have greater numbers.
type commandReader struct {
	add    func(kind byte, text string)
	packet []byte
	ready  bool // the connection has its settings
}

// Write implements io.Writer.
func (r *commandReader) Write(p []byte) (int, error) {
	r.packet = append(r.packet, p...)
	for len(r.packet) >= 4 {
		size := 4 + int(r.packet[0]) + int(r.packet[1])<<8 + int(r.packet[2])<<16
		if len(r.packet) < size {
			break
		}
		if r.packet[3] == 0 && size > 4 {
			text := strings.ToValidUTF8(string(r.packet[5:size]), "?")
			if r.ready {
				r.add(r.packet[4], text)
			}
			r.ready = r.ready || text == setIsolation
		}
		r.packet = r.packet[size:]
	}
	return len(p), nil
}
