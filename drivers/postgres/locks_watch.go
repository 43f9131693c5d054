package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locksql"
)

// A release notifies callers that wait in other processes, but only if there
// are such callers, because PostgreSQL commits transactions that notify one
// after the other. A process that waits for a lock holds a shared advisory lock
// for its name, on a connection that listens. A release tries to take the same
// advisory lock exclusively, and notifies if it cannot. See
// sql/locks/release.sql.

// errPooler means that notifications would not arrive.
var errPooler = errors.New("a connection pooler stands in between")

// lingering is how long the connection stays open after the last caller has
// stopped waiting.
const lingering = 5 * time.Second

// lockWatch is the connection that listens, while callers wait.
type lockWatch struct {
	waiting lock.Watchers

	mu       sync.Mutex
	running  bool
	useless  bool // behind a pooler, so no notification would arrive
	changed  chan struct{}
	listened map[string]bool // names whose advisory lock is held
}

var _ lock.Notifier = (*Locks)(nil)

// Watch implements lock.Notifier, with a connection that is taken from the pool
// while callers wait. It needs pgx, without a pooler.
func (l *Locks) Watch(ctx context.Context, name string) <-chan struct{} {
	if l.pool == nil || l.provider.Invalid() != nil {
		return nil
	}
	w := &l.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.useless {
		return nil
	}
	turn, remove := w.waiting.Add(name)
	context.AfterFunc(ctx, func() {
		remove()
		w.look()
	})
	if w.running {
		w.lookLocked()
		if w.listened[name] {
			w.waiting.Wake(name)
		}
		return turn
	}
	w.running, w.changed, w.listened = true, make(chan struct{}, 1), map[string]bool{}
	go l.listen(context.WithoutCancel(ctx)) // it outlives the caller
	return turn
}

// look makes the listener read the list of waiting callers.
func (w *lockWatch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookLocked()
}

func (w *lockWatch) lookLocked() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// listen runs until no caller has waited for a while, or the connection fails.
// After a failure callers poll, and the next caller starts another listener.
func (l *Locks) listen(ctx context.Context) {
	w := &l.watch
	conn, channel, err := l.listener(ctx)
	if err != nil {
		w.ended()
		return
	}
	defer closeSoon(conn)
	for w.agree(ctx, conn, channel) == nil {
		if len(w.listened) == 0 {
			if w.idle() {
				return
			}
			continue
		}
		if w.hear(ctx, conn) != nil {
			break
		}
	}
	w.ended()
}

// ended records that no connection listens any more.
func (w *lockWatch) ended() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.listened = false, nil
}

// idle waits for a caller, and reports whether no caller came, so that the
// listener has ended.
func (w *lockWatch) idle() bool {
	timer := time.NewTimer(lingering)
	defer timer.Stop()
	select {
	case <-w.changed:
		return false
	case <-timer.C:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting.Names()) > 0 {
		return false
	}
	w.running, w.listened = false, nil
	return true
}

// agree makes the set of advisory locks equal to the set of names for which
// callers wait. A caller that has just begun to wait gets a turn, because an
// earlier release was not notified.
func (w *lockWatch) agree(ctx context.Context, conn *pgx.Conn, channel string) error {
	ctx, cancel := context.WithTimeout(ctx, locksql.Patience)
	defer cancel()
	wanted := map[string]bool{}
	for _, name := range w.waiting.Names() {
		wanted[name] = true
		if !w.listened[name] {
			if _, err := conn.Exec(ctx, "select pg_advisory_lock_shared(hashtextextended($1::text || $2::text, 0))", channel, name); err != nil {
				return err
			}
			w.set(name, true)
			w.waiting.Wake(name)
		}
	}
	for _, name := range slices.Collect(maps.Keys(w.listened)) {
		if !wanted[name] {
			if _, err := conn.Exec(ctx, "select pg_advisory_unlock_shared(hashtextextended($1::text || $2::text, 0))", channel, name); err != nil {
				return err
			}
			w.set(name, false)
		}
	}
	return nil
}

func (w *lockWatch) setUseless() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.useless = true
}

func (w *lockWatch) set(name string, listened bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if listened {
		w.listened[name] = true
	} else {
		delete(w.listened, name)
	}
}

// hear waits for one notification, or until another caller begins to wait.
// After some time without either it checks that the connection still works.
func (w *lockWatch) hear(ctx context.Context, conn *pgx.Conn) error {
	quiet, cancel := context.WithTimeout(ctx, quietTime)
	defer cancel()
	interrupted := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-w.changed:
			interrupted = true
			cancel()
		case <-quiet.Done():
		}
	}()
	got, err := conn.WaitForNotification(quiet)
	cancel()
	<-done
	switch {
	case err == nil:
		w.waiting.Wake(got.Payload)
		if interrupted {
			w.look()
		}
		return nil
	case !pgconn.Timeout(err) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
		return err
	case interrupted:
		return nil
	default:
		return tryConn(ctx, conn)
	}
}

// listener opens a connection that listens.
func (l *Locks) listener(ctx context.Context) (conn *pgx.Conn, channel string, err error) {
	ctx, cancel := context.WithTimeout(ctx, locksql.Patience)
	defer cancel()
	pooled, err := l.pool.Acquire(ctx)
	if err != nil {
		return nil, "", err
	}
	schema, err := l.provider.SchemaBy(ctx, poolConn{pooled})
	if err != nil {
		pooled.Release()
		return nil, "", err
	}
	conn, channel = pooled.Hijack(), lockChannel(schema, l.provider.Table())
	var pid int64
	err = conn.QueryRow(ctx, "select pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	if err == nil && pid != int64(conn.PgConn().PID()) {
		l.watch.setUseless()
		err = errPooler
	}
	if err == nil {
		_, err = conn.Exec(ctx, "listen "+pgx.Identifier{channel}.Sanitize())
	}
	if err != nil {
		closeSoon(conn)
		return nil, "", err
	}
	return conn, channel, nil
}
