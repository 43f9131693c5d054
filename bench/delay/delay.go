// Package delay is a proxy between clients and a server that delivers each byte
// later, as a long network does.
package delay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	// readSize is the size of the buffer of a read.
	readSize = 64 << 10
	// mostUnderWay is how many reads may wait for their delivery in one
	// direction of a connection: with a delay of 10 ms and full reads that is
	// more than 1 GB/s.
	mostUnderWay = 256
)

// Proxy forwards connections to a server. Bytes that one side writes reach the
// other side after the delay, in order; the delay does not depend on the number
// of bytes per second. Connecting takes no longer than without the proxy.
type Proxy struct {
	listener net.Listener
	target   string
	delay    time.Duration

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]bool
	all    sync.WaitGroup
}

// Listen accepts connections on a free port of 127.0.0.1 for a server at
// target, host:port. Each byte reaches the server after delay, and so do the
// server's answers.
func Listen(target string, delay time.Duration) (*Proxy, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for connections to %s: %w", target, err)
	}
	p := &Proxy{listener: listener, target: target, delay: delay, conns: map[net.Conn]bool{}}
	p.all.Go(p.accept)
	return p, nil
}

// Addr returns the address on which the proxy listens, host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends the proxy and all its connections.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for conn := range p.conns {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.all.Wait()
	return err
}

// accept accepts connections until the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as too many open files
			time.Sleep(10 * time.Millisecond)
			continue
		}
		p.all.Go(func() { p.serve(client) })
	}
}

// serve forwards one connection until both sides have ended it.
func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.keep(client, server) {
		return
	}
	defer p.drop(client, server)
	var both sync.WaitGroup
	both.Go(func() { p.carry(client, server) })
	both.Go(func() { p.carry(server, client) })
	both.Wait()
}

// keep stores connections for Close; the result is false if Close was called
// already.
func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		p.conns[conn] = true
	}
	return !p.closed
}

func (p *Proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		delete(p.conns, conn)
	}
}

// piece is the data of one read, and the instant of its delivery.
type piece struct {
	at   time.Time
	data []byte
}

var buffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// carry forwards the bytes that from writes, and then the end of the
// connection.
func (p *Proxy) carry(from, to net.Conn) {
	under := make(chan piece, mostUnderWay)
	var arriving sync.WaitGroup
	arriving.Go(func() { arrive(under, to) })
	for {
		buffer := buffers.Get().(*[readSize]byte)
		n, err := from.Read(buffer[:])
		if n > 0 {
			under <- piece{time.Now().Add(p.delay), buffer[:n]}
		}
		if err != nil {
			break
		}
	}
	close(under)
	arriving.Wait()
}

// arrive writes each piece at the instant of its delivery. If the other side
// has gone, the pieces are dropped.
func arrive(under <-chan piece, to net.Conn) {
	rest := newSleeper()
	gone := false
	for one := range under {
		if !gone {
			rest.until(one.at)
			_, err := to.Write(one.data)
			gone = err != nil
		}
		buffers.Put((*[readSize]byte)(one.data[:readSize]))
	}
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
}
