package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

const (
	// stateFileInterval is the shortest interval between two writes of the state file.
	stateFileInterval = time.Minute
	// stateFileTokens is after how many tokens the file is written before stateFileInterval has
	// passed.
	stateFileTokens = 10_000
)

// seenFile is the content of a state file. Releases only add fields.
type seenFile struct {
	Store    string `json:"store"`
	Token    int64  `json:"token"`
	Node     int64  `json:"node"`
	Accepted int64  `json:"accepted"`
}

// statePath returns the path of the state file of a store. The store's identity comes from the
// database, so only characters of plain file names are allowed.
func statePath(dir, identity string) (string, error) {
	plain := func(r rune) bool {
		return r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if identity == "" || len(identity) > 64 || strings.ContainsFunc(identity, func(r rune) bool { return !plain(r) }) {
		return "", fmt.Errorf("the store's identity %.100q is not one that Hourbell made; see the table timeline", identity)
	}
	return filepath.Join(dir, "store-"+identity+".json"), nil
}

// readSeen reads the position of a store from the state file in dir; zero: there is no such file.
func readSeen(dir, identity string) (store.Position, error) {
	path, err := statePath(dir, identity)
	if err != nil {
		return store.Position{}, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return store.Position{}, nil
	}
	if err != nil {
		return store.Position{}, fmt.Errorf("read the state file: %w", err)
	}
	var seen seenFile
	if err := json.Unmarshal(text, &seen); err != nil {
		return store.Position{}, fmt.Errorf("read the state file %q: %w; delete it if it is damaged", path, err)
	}
	if seen.Store != identity || seen.Token < 0 || seen.Node < 0 || seen.Accepted < 0 {
		return store.Position{}, fmt.Errorf("the state file %q is not of this store; delete it", path)
	}
	return store.Position{Store: seen.Store, Token: seen.Token, Node: seen.Node, Accepted: seen.Accepted}, nil
}

// writeSeen writes a position to the state file. A reader sees the old file or the new file, also
// after a power failure.
func writeSeen(dir string, seen store.Position) (err error) {
	path, err := statePath(dir, seen.Store)
	if err != nil {
		return err
	}
	if other, err := readSeen(dir, seen.Store); err == nil && other.Store != "" { // other nodes of this host write the file too
		seen = furthest(other, seen)
	}
	text, err := json.Marshal(seenFile{seen.Store, seen.Token, seen.Node, seen.Accepted})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write the state file: %w", err)
	}
	file, err := os.CreateTemp(dir, ".store-*")
	if err != nil {
		return fmt.Errorf("write the state file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write the state file: %w", err), os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(append(text, '\n'))
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// readStateFile reads the state file at the first call, and reports whether this was the first
// call. If the file cannot be read, an event reports it and the node starts without it.
func (n *Node) readStateFile(identity string) bool {
	if !n.history.firstStateFileRead() {
		return false
	}
	if n.cfg.StateDir == "" || identity == "" {
		return true
	}
	seen, err := readSeen(n.cfg.StateDir, identity)
	if err != nil {
		n.report.Emit(event.Event{Kind: event.StateFailed, Err: err})
		return true
	}
	n.history.addStateFile(seen)
	return true
}

// firstStateFileRead reports whether this is the first call.
func (h *history) firstStateFileRead() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := !h.stateFileRead
	h.stateFileRead = true
	return first
}

// addStateFile adds the position of a state file to what the node has seen.
func (h *history) addStateFile(seen store.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if seen.Store != "" {
		h.seen.Store = seen.Store // no other store has been seen yet
		h.seen = furthest(seen, h.seen)
	}
}

// keepStateFile writes the state file while its content changes, until ctx ends, and then once
// more.
func (n *Node) keepStateFile(ctx context.Context) {
	if n.cfg.StateDir == "" {
		return
	}
	var writer stateFileWriter
	for ended := false; !ended; {
		ended = loop.Sleep(ctx, min(n.cfg.Heartbeat, stateFileInterval)) != nil
		seen := n.history.known().seen
		if !writer.due(seen, loop.Now(), ended) {
			continue
		}
		err := writeSeen(n.cfg.StateDir, seen)
		writer.tried(seen, loop.Now(), err)
		if err != nil && writer.failures == 1 {
			n.report.Emit(event.Event{Kind: event.StateFailed, Err: err})
		}
	}
}

// stateFileWriter decides when the state file is written.
type stateFileWriter struct {
	written  store.Position
	at       loop.Instant
	failures int // in a row
}

// due reports whether the file has to be written now; last: there is no later chance.
func (k *stateFileWriter) due(seen store.Position, now loop.Instant, last bool) bool {
	switch {
	case seen.Store == "" || seen == k.written:
		return false
	case last || k.written.Store == "" && k.failures == 0:
		return true
	case now.Sub(k.at) >= stateFileInterval:
		return true
	}
	return k.failures == 0 && (seen.Token-k.written.Token >= stateFileTokens || seen.Accepted != k.written.Accepted)
}

// tried records an attempt to write the file.
func (k *stateFileWriter) tried(seen store.Position, now loop.Instant, err error) {
	k.at = now
	if err != nil {
		k.failures++
		return
	}
	k.written, k.failures = seen, 0
}
