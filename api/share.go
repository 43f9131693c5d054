package api

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"sync"

	"github.com/hourbell/hourbell/access"
)

// reads lets requests of a caller for the same address share an answer, so that many pages and scripts that ask the same cost the
// store one read at a time. A request shares only an answer whose making begins after the request has arrived: an answer is never older
// than its request, and a caller sees its own changes.
type reads struct {
	mu        sync.Mutex
	addresses map[readKey]*address
}

// readKey is what an answer depends on.
type readKey struct {
	caller access.Identity
	uri    string
}

// address is an address that requests wait for.
type address struct {
	requests int         // that have not been answered
	next     *sharedRead // the read that has not begun; nil: none. reads.mu guards both.
	reading  sync.Mutex  // one read at a time
}

// sharedRead is an answer that is made, or will be.
type sharedRead struct {
	done   chan struct{} // closed when the answer is complete
	answer recorded
}

// serve answers a request.
func (s *reads) serve(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	key := readKey{uri: r.URL.RequestURI()}
	key.caller, _ = access.FromContext(r.Context())
	key.caller.Address = ""
	a, read, own := s.join(key)
	defer s.leave(key, a)
	if own {
		s.read(a, read, func() {
			handler.ServeHTTP(&read.answer, r.WithContext(context.WithoutCancel(r.Context()))) // others wait for the answer, too
		})
	}
	select {
	case <-read.done:
		read.answer.sendTo(w)
	case <-r.Context().Done():
	}
}

// join returns the next read of an address, and reports whether the caller is the first and has to make it.
func (s *reads) join(key readKey) (a *address, read *sharedRead, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a = s.addresses[key]; a == nil {
		a = &address{}
		s.addresses[key] = a
	}
	a.requests++
	if own = a.next == nil; own {
		a.next = &sharedRead{done: make(chan struct{}), answer: recorded{header: http.Header{}}}
	}
	return a, a.next, own
}

// read makes the answer after the read before it has ended. Requests that arrive from now on wait for another read.
func (s *reads) read(a *address, read *sharedRead, makeAnswer func()) {
	a.reading.Lock()
	defer a.reading.Unlock()
	defer close(read.done) // also if the handler panics
	s.mu.Lock()
	a.next = nil
	s.mu.Unlock()
	makeAnswer()
}

func (s *reads) leave(key readKey, a *address) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.requests--; a.requests == 0 {
		delete(s.addresses, key)
	}
}

// recorded is an answer in memory.
type recorded struct {
	header http.Header
	status int // 0: the handler has written nothing
	body   bytes.Buffer
}

func (r *recorded) Header() http.Header { return r.header }

func (r *recorded) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorded) Write(text []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(text)
}

// sendTo sends the answer. Concurrent calls are allowed.
func (r *recorded) sendTo(w http.ResponseWriter) {
	if r.status == 0 {
		writeProblem(w, newProblem(http.StatusInternalServerError, "the request failed; the log of the node has the reason"))
		return
	}
	maps.Copy(w.Header(), r.header)
	w.WriteHeader(r.status)
	w.Write(r.body.Bytes()) //nolint:errcheck // the reader has gone
}
