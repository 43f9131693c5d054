package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hourbell/hourbell/store"
)

const (
	probeTime = 2 * time.Second // in which a notification to ourselves must arrive
	quietTime = time.Minute     // of silence, after which the connection is tried
	pingTime  = 5 * time.Second // in which it must answer then
)

// channelOf is the name of the channel for wake-ups, at most 63 bytes.
func channelOf(schema string) string {
	name := "hourbell:" + schema
	if len(name) <= 63 {
		return name
	}
	sum := sha256.Sum256([]byte(schema))
	return "hourbell:" + hex.EncodeToString(sum[:16])
}

// Listen calls wake for each change; see store.Listener. It uses a connection
// of its own: from ListenURL, else one that it takes out of a pool for good.
// It ends with store.ErrNoPush where a notification that it sends to itself
// does not come back.
func (b *Backend) Listen(ctx context.Context, wake func(store.Wake)) error {
	const what = "listen for wake-ups"
	if b.invalid != nil {
		return b.explain(what, b.invalid)
	}
	conn, err := b.listenConn(ctx)
	if err != nil {
		return b.explain(what, err)
	}
	defer closeSoon(conn)
	if err := b.startListening(ctx, conn); err != nil {
		return b.explain(what, err)
	}
	wake(store.Wake{Kind: store.WakeAll})
	defer b.ears.add(wake)()
	for {
		payload, err := nextPayload(ctx, conn)
		if err != nil {
			return b.explain(what, err)
		}
		if w, ok := parseWake(payload); ok {
			wake(w)
		}
	}
}

func (b *Backend) listenConn(ctx context.Context) (*pgx.Conn, error) {
	if b.listenConf != nil {
		return b.listenLogins.connect(ctx, b.listenConf)
	}
	conn, err := b.poolOf(nodeConns).Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return conn.Hijack(), nil
}

func closeSoon(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn.Close(ctx) // nothing is lost if this fails
}

// startListening listens and proves that notifications arrive: a pooler in
// transaction mode takes LISTEN and stays silent for ever.
func (b *Backend) startListening(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{b.channel}.Sanitize()); err != nil {
		return err
	}
	probe := "p" + rand.Text()
	if _, err := b.poolOf(nodeConns).Exec(ctx, notify, b.channel, probe); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	for {
		got, err := conn.WaitForNotification(limited)
		switch {
		case err == nil && got.Payload == probe:
			return nil
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case limited.Err() != nil:
			_, _ = conn.Exec(ctx, "unlisten *") // leaves the pooler's connection as it was, if it can
			return fmt.Errorf("%w: a notification to ourselves did not arrive within %v; %s", store.ErrNoPush, probeTime, b.whyDeaf())
		default:
			return err
		}
	}
}

// whyDeaf returns why notifications probably do not arrive, and the remedy.
func (b *Backend) whyDeaf() string {
	if b.listenConf != nil {
		return "the URL for listening seems to name another database than the store's URL, or a connection pooler in transaction mode; " +
			"give the URL of a direct connection to the same database (ListenURL, serve --notify-url)"
	}
	return "a connection pooler in transaction mode seems to stand in between; " +
		"give the URL of a direct connection to the same database for listening (ListenURL, serve --notify-url)"
}

// nextPayload waits for a notification. After some silence it tries whether the
// connection is still there.
func nextPayload(ctx context.Context, conn *pgx.Conn) (string, error) {
	for {
		quiet, cancel := context.WithTimeout(ctx, quietTime)
		got, err := conn.WaitForNotification(quiet)
		cancel()
		switch {
		case err == nil:
			return got.Payload, nil
		case ctx.Err() != nil:
			return "", ctx.Err()
		case !pgconn.Timeout(err) && !errors.Is(err, context.DeadlineExceeded):
			return "", err
		}
		if err := tryConn(ctx, conn); err != nil {
			return "", err
		}
	}
}

func tryConn(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	return conn.Ping(ctx)
}

// notify sends a payload with the commit of the transaction it runs in. Equal
// payloads of one transaction are delivered once.
const notify = "select pg_notify($1::text, $2::text)"

// sendWakes sends wake-ups by themselves. They are hints: an error loses them.
func (b *Backend) sendWakes(ctx context.Context, payloads []string) {
	_ = b.sendPayloads(ctx, b.poolOf(nodeConns), payloads)
}

// sendPayloads sends wake-ups of one kind for some queues: for any queue if there are many.
func (b *Backend) sendPayloads(ctx context.Context, conn interface {
	Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error)
}, payloads []string,
) error {
	if len(payloads) > maxPayloads {
		payloads = []string{payloads[0][:1]}
	}
	_, err := conn.Exec(ctx, "select pg_notify($1::text, payload) from unnest($2::text[]) as payload", b.channel, payloads)
	return err
}

// ears are the running calls of Listen. It is safe for concurrent use.
type ears struct {
	mu  sync.Mutex
	all map[*func(store.Wake)]bool
}

// add adds a call of Listen until remove is called.
func (e *ears) add(wake func(store.Wake)) (remove func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all == nil {
		e.all = map[*func(store.Wake)]bool{}
	}
	e.all[&wake] = true
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.all, &wake)
	}
}

// wake passes a wake-up to the running calls of Listen.
func (e *ears) wake(w store.Wake) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for one := range e.all {
		(*one)(w)
	}
}

func (b *Backend) wake(ctx context.Context, tx querier, w store.Wake) error {
	_, err := tx.Exec(ctx, notify, b.channel, wakeText(w))
	return err
}

// queuePolled adds the message that a node polls; see store.Connection.
func (b *Backend) queuePolled(batch *pgx.Batch, note string) {
	if note != "" {
		b.queueWake(batch, store.Wake{Kind: store.WakePolled, Note: note})
	}
}

func (b *Backend) queueWake(batch *pgx.Batch, w store.Wake) {
	batch.Queue(notify, b.channel, wakeText(w))
}

// wakeQueues wakes the claimers of queues: by name if there is but one.
func (b *Backend) wakeQueues(ctx context.Context, tx querier, queues []string) error {
	if len(queues) == 0 {
		return nil
	}
	queue := queues[0]
	for _, other := range queues[1:] {
		if other != queue {
			queue = "" // any
		}
	}
	return b.wake(ctx, tx, store.Wake{Kind: store.WakeJobs, Queue: queue})
}

// Payloads are one letter for the kind, and the queue's name or the note.
var wakeLetters = map[store.WakeKind]string{
	store.WakeAll: "a", store.WakeJobs: "j", store.WakeSchedules: "s", store.WakeCancels: "c", store.WakeWatch: "w", store.WakePolled: "l",
}

func wakeText(w store.Wake) string { return wakeLetters[w.Kind] + w.Queue + w.Note }

// parseWake is the inverse of wakeText; false: it is a probe, or of a newer release.
func parseWake(text string) (store.Wake, bool) {
	for kind, letter := range wakeLetters {
		if len(text) > 0 && text[:1] == letter {
			if kind == store.WakePolled {
				return store.Wake{Kind: kind, Note: text[1:]}, true
			}
			return store.Wake{Kind: kind, Queue: text[1:]}, true
		}
	}
	return store.Wake{}, false
}
