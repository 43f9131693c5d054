package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// snapshot is what pg_current_snapshot returns.
type snapshot struct {
	min     uint64   // all transactions before it have ended
	max     uint64   // no transaction from it on has ended
	running []uint64 // of those in between, ascending
}

// ended reports whether a transaction has been committed or rolled back.
func (s snapshot) ended(xid uint64) bool {
	if xid < s.min || xid >= s.max {
		return xid < s.min
	}
	_, found := slices.BinarySearch(s.running, xid)
	return !found
}

// parseSnapshot reads a snapshot as PostgreSQL writes it: min:max:running,running.
func parseSnapshot(text string) (s snapshot, err error) {
	least, rest, _ := strings.Cut(text, ":")
	most, running, _ := strings.Cut(rest, ":")
	s.min, err = strconv.ParseUint(least, 10, 64)
	if err == nil {
		s.max, err = strconv.ParseUint(most, 10, 64)
	}
	for running != "" && err == nil {
		var one string
		one, running, _ = strings.Cut(running, ",")
		var xid uint64
		xid, err = strconv.ParseUint(one, 10, 64)
		s.running = append(s.running, xid)
	}
	if err != nil {
		return s, fmt.Errorf("read a snapshot: %w", err)
	}
	return s, nil
}

// commitWakesServer is the commitServer of a Backend. Its connections are of class wakeConns.
type commitWakesServer struct{ b *Backend }

var errStandby = errors.New("the server is a standby, where no snapshot of the primary can be read")

// look implements commitServer.
func (s commitWakesServer) look(ctx context.Context) (snapshot, string, error) {
	type answer struct {
		seen     snapshot
		identity string
	}
	out, err := rowwise.InTx(s.connected(ctx), func(conn *pgxpool.Conn) (out answer, err error) {
		var text string
		if err := conn.QueryRow(ctx, s.b.q(readSnapshot)).Scan(&text, &out.identity); err != nil {
			return out, err
		}
		if text == "" {
			_ = conn.Conn().Close(ctx) // another connection may lead to the primary
			return out, errStandby
		}
		out.seen, err = parseSnapshot(text)
		return out, err
	})
	return out.seen, out.identity, err
}

// send implements commitServer.
func (s commitWakesServer) send(ctx context.Context, payloads []string) error {
	return s.connected(ctx)(func(conn *pgxpool.Conn) error { return s.b.sendPayloads(ctx, conn, payloads) })
}

func (s commitWakesServer) connected(ctx context.Context) rowwise.Transaction[*pgxpool.Conn] {
	return func(do func(conn *pgxpool.Conn) error) error {
		if err := s.b.openWakePool(); err != nil {
			return err
		}
		return s.b.connected(ctx, wakeConns)(do)
	}
}

// wakeHere implements commitServer.
func (s commitWakesServer) wakeHere(payload string) {
	if w, ok := parseWake(payload); ok {
		s.b.ears.wake(w)
	}
}

// watches returns the payloads that announce that wake-ups of payloads may be lost. Heartbeats find what a lost
// wake-up of store.WakeCancels was for, so that no poll has to.
func watches(payloads []string) []string {
	var out []string
	for _, payload := range payloads {
		if payload[:1] != wakeLetters[store.WakeCancels] {
			out = append(out, wakeLetters[store.WakeWatch]+payload[1:])
		}
	}
	return out
}
