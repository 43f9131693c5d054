package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/findings"
)

// probeTime is how long the store may take to answer a probe.
const probeTime = 2 * time.Second

// probes answers /livez (the process is alive), also as /healthz, and /readyz (the node works: it is registered, has its
// lease, and nothing that was found stops it), for programs that monitor processes.
type probes struct {
	client atomic.Pointer[hourbell.Client] // nil until the store is open
	ending atomic.Bool

	metrics http.Handler // of /metrics; nil: not answered
}

// paths returns the paths that are answered, for people.
func (p *probes) paths() string {
	if p.metrics != nil {
		return "/livez /healthz /readyz /metrics"
	}
	return "/livez /healthz /readyz"
}

func (p *probes) handler() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"GET /livez", "GET /healthz"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { answer(w, "ok", nil) })
	}
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { answer(w, "ready", p.ready(r.Context())) })
	if p.metrics != nil {
		mux.Handle("GET /metrics", p.metrics)
	}
	return mux
}

// ready returns why the node is not ready, or nil. It reads the store, because
// only the store knows whether the other nodes count this node as alive, and whether all nodes are suspended.
func (p *probes) ready(ctx context.Context) error {
	client := p.client.Load()
	switch {
	case client == nil:
		return errors.New("starting")
	case p.ending.Load():
		return errors.New("stopping")
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	why, err := findings.NotReady(ctx, client)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("the store has not answered within %v", probeTime)
	case err != nil: // the error contains the place of the store, which must not be shown to everyone who can reach this port
		return errors.New("the store does not answer; the log says why")
	case why != "":
		return errors.New(why)
	}
	return nil
}

// answer writes the state, or the error.
func answer(w http.ResponseWriter, state string, err error) {
	body := map[string]string{"status": state}
	code := http.StatusOK
	if err != nil {
		body = map[string]string{"status": "not " + state, "reason": err.Error()}
		code = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // the reader has gone
}
