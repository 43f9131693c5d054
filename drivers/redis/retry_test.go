package redis

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// forgetful starts a proxy in front of a server. The proxy drops the answer to
// the first script, and closes the connection.
func forgetful(t *testing.T, server string) (address string, lost *atomic.Bool) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	lost = new(atomic.Bool)
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				near.Close()
				continue
			}
			var armed atomic.Bool
			go func() {
				defer far.Close()
				buf := make([]byte, 64<<10)
				for {
					n, err := near.Read(buf)
					if strings.Contains(strings.ToLower(string(buf[:n])), "eval") && !lost.Load() {
						armed.Store(true)
					}
					if _, writeErr := far.Write(buf[:n]); err != nil || writeErr != nil {
						return
					}
				}
			}()
			go func() {
				defer near.Close()
				buf := make([]byte, 64<<10)
				for {
					n, err := far.Read(buf)
					if n > 0 && armed.Load() && !strings.HasPrefix(string(buf[:n]), "-NOSCRIPT") && !lost.Swap(true) {
						return
					}
					if _, writeErr := near.Write(buf[:n]); err != nil || writeErr != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String(), lost
}

// A request whose answer was lost is not sent again: the second request would
// find the lock held by the first, and the caller would take it for another
// owner's lock.
func TestALostAnswerIsNoHeldLock(t *testing.T) {
	u, err := url.Parse(serverURL(t))
	if err != nil {
		t.Fatal(err)
	}
	address, lost := forgetful(t, u.Host)
	u.Host = address
	p, err := Open(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = p.TryLock(ctx, lock.Request{Name: "a", Owner: "host/1/x", Hold: time.Minute})
	if !lost.Load() || err == nil || errors.Is(err, lock.ErrHeld) || !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "EOF") && !strings.Contains(err.Error(), "reset") {
		t.Errorf("lost %v, got %v; want to hear that the connection broke", lost.Load(), err)
	}
}
