package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// listenEvery is how often Listen checks for commits of other connections. A
// check reads a counter in shared memory and costs some microseconds.
const listenEvery = 25 * time.Millisecond

// Listen calls wake with store.WakeAll after each commit to the file, of other
// processes and of this one; see store.Listener. SQLite pushes nothing, so it
// asks PRAGMA data_version, which changes with every commit of another
// connection, on a connection that does nothing else. Commits within 25 ms are
// one wake-up.
func (b *Backend) Listen(ctx context.Context, wake func(store.Wake)) error {
	const doing = "listen for changes"
	pool, err := openPool(b.path, b.s, 1, lockWait, "_pragma=query_only(1)") // so that listeners never use up the readers
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return b.explain(ctx, doing, err)
	}
	defer conn.Close()
	look, err := conn.PrepareContext(ctx, "PRAGMA data_version")
	if err != nil {
		return b.explain(ctx, doing, err)
	}
	defer look.Close()
	return b.explain(ctx, doing, watch(ctx, look, wake))
}

// watch wakes once at the start and then whenever the version changed.
func watch(ctx context.Context, look *sql.Stmt, wake func(store.Wake)) error {
	tick := time.NewTicker(listenEvery)
	defer tick.Stop()
	for seen := int64(-1); ; {
		var version int64
		if err := look.QueryRowContext(ctx).Scan(&version); err != nil {
			return err
		}
		if version != seen {
			seen = version
			wake(store.Wake{Kind: store.WakeAll})
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
