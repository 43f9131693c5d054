package api

import (
	"bytes"
	"context"
	"maps"
	"net/http"

	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/share"
)

// reads lets requests of a caller for the same address share an answer, so that many pages and scripts that ask the same cost the
// store one read at a time. An answer is never older than its request, and a caller sees its own changes.
type reads struct {
	answers share.Group[readKey, *recorded]
}

// readKey is what an answer depends on.
type readKey struct {
	caller access.Identity
	uri    string
}

// serve answers a request.
func (s *reads) serve(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	key := readKey{uri: r.URL.RequestURI()}
	key.caller, _ = access.FromContext(r.Context())
	key.caller.Address = ""
	answer, ok := s.answers.Do(r.Context(), key, func() *recorded {
		answer := &recorded{header: http.Header{}}
		handler.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context()))) // others wait for the answer, too
		return answer
	})
	if ok {
		answer.sendTo(w)
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
	if r == nil || r.status == 0 { // the handler has panicked
		writeProblem(w, newProblem(http.StatusInternalServerError, "the request failed; the log of the node has the reason"))
		return
	}
	maps.Copy(w.Header(), r.header)
	w.WriteHeader(r.status)
	w.Write(r.body.Bytes()) //nolint:errcheck // the reader has gone
}
