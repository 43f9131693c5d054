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
)

// probeTime is how long the store may take to answer a probe.
const probeTime = 2 * time.Second

// probes answers /healthz (the process is alive) and /readyz (the store
// answers, and this node is registered), for programs that monitor processes.
type probes struct {
	client atomic.Pointer[hourbell.Client] // nil until the store is open
	ending atomic.Bool

	metrics http.Handler // of /metrics; nil: not answered
}

// paths returns the paths that are answered, for people.
func (p *probes) paths() string {
	if p.metrics != nil {
		return "/healthz /readyz /metrics"
	}
	return "/healthz /readyz"
}

func (p *probes) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, "ok", nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { answer(w, "ready", p.ready(r.Context())) })
	if p.metrics != nil {
		mux.Handle("GET /metrics", p.metrics)
	}
	return mux
}

// ready returns why the node is not ready, or nil. It reads the store, because
// only the store knows whether the other nodes count this node as alive.
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
	nodes, err := client.Nodes.List(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("the store has not answered within %v", probeTime)
	}
	if err != nil { // the error contains the place of the store, which must not be shown to everyone who can reach this port
		return errors.New("the store does not answer; the log says why")
	}
	for _, node := range nodes {
		if node.Name == client.Name() && node.EndedAt.IsZero() {
			return nil
		}
	}
	return errors.New("this node is not registered")
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
