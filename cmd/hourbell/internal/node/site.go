package node

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// site answers HTTP at one address.
type site struct {
	name    string // identifies the site for the next program of the process
	what    string // the purpose of the address, for errors
	handler http.Handler
	secure  *tls.Config // nil: without TLS
	log     *slog.Logger

	listener net.Listener
	server   *http.Server
	accepted chan struct{} // closed when the server accepts no more connections
	busy     *connections
}

// connections are the connections of a server that have a request, or may send their first request.
type connections struct {
	mu  sync.Mutex
	all map[net.Conn]bool
}

// track is http.Server.ConnState.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateNew || state == http.StateActive {
		c.all[conn] = true
	} else {
		delete(c.all, conn)
	}
}

// none reports whether there are no such connections.
func (c *connections) none() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all) == 0
}

// open binds an address, host:port, and answers until close is called.
func (s *site) open(ctx context.Context, addr string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen on %s for %s: %w", addr, s.what, withoutAddress(err))
	}
	s.serve(listener)
	return nil
}

// take answers at a socket that another site has handed over; file is closed.
func (s *site) take(file *os.File) error {
	listener, err := net.FileListener(file)
	file.Close()
	if err != nil {
		return fmt.Errorf("listen for %s on the socket that was handed over: %w", s.what, err)
	}
	s.serve(listener)
	return nil
}

// serve answers at a listener.
func (s *site) serve(listener net.Listener) {
	s.listener = listener
	if s.secure != nil {
		listener = tls.NewListener(listener, s.secure)
	}
	s.busy = &connections{all: map[net.Conn]bool{}}
	s.server = &http.Server{
		ConnState: s.busy.track,
		Handler:   s.handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // errors of single connections
	}
	s.accepted = make(chan struct{})
	go func(server *http.Server, accepted chan struct{}) {
		defer close(accepted)
		_ = server.Serve(listener) // it ends when the listener is closed
	}(s.server, s.accepted)
}

// address returns the address that the site has bound.
func (s *site) address() string { return s.listener.Addr().String() }

// close ends the site and all its connections.
func (s *site) close() { s.server.Close() }

// handOverTime is how long requests may take to end before their site is handed over.
const handOverTime = time.Second

// handOver ends the site but for its socket, which it returns: connections that callers open from now
// on wait until the socket is taken. Requests that take longer than handOverTime are cut off.
func (s *site) handOver() (*os.File, error) {
	tcp, ok := s.listener.(*net.TCPListener)
	if !ok {
		return nil, fmt.Errorf("hand over the socket for %s: it is a %T", s.what, s.listener)
	}
	file, err := tcp.File() // a copy, which stays open
	if err != nil {
		return nil, fmt.Errorf("hand over the socket for %s: %w", s.what, err)
	}
	s.listener.Close()
	<-s.accepted // now the server knows all connections that were accepted
	// Shutdown would close a connection whose request is read after its call, without an answer.
	s.server.SetKeepAlivesEnabled(false) // a connection ends with its request
	for began := time.Now(); !s.busy.none(); time.Sleep(time.Millisecond) {
		if time.Since(began) >= handOverTime {
			s.log.Warn("requests are cut off, because they have not ended in time", "purpose", s.what, "time", handOverTime)
			break
		}
	}
	s.server.Close()
	return file, nil
}

// gate holds requests back until it is opened. The zero value is open.
type gate struct{ opened chan struct{} }

// handler passes requests on to next when the gate is open.
func (g gate) handler(next http.Handler) http.Handler {
	if g.opened == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-g.opened:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// open lets requests pass.
func (g gate) open() {
	if g.opened != nil {
		close(g.opened)
	}
}
