package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"

	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// prepared holds the statements that are prepared on a pool. A statement is prepared when it is run for
// the second time: to prepare all statements takes longer than most programs that make a few calls need
// in all. It is safe for concurrent use.
type prepared struct {
	db    *sql.DB
	texts []sqlrows.Text
	of    [statementCount]use

	mu     sync.Mutex
	wanted []statement
	some   atomic.Bool // whether statements are wanted
}

// use is what the pool has of a statement.
type use struct {
	again atomic.Bool // it was run before
	ready atomic.Pointer[sql.Stmt]
}

// statementsOn returns the prepared statements of a pool.
func (b *Backend) statementsOn(db *sql.DB) *prepared {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.prepared[db]
	if p == nil {
		p = &prepared{db: db, texts: b.texts}
		b.prepared[db] = p
	}
	return p
}

// get returns a statement that is about to be run; nil: it is not prepared.
func (p *prepared) get(name statement) *sql.Stmt {
	u := &p.of[name]
	if ready := u.ready.Load(); ready != nil {
		return ready
	}
	if u.again.Swap(true) {
		p.mu.Lock()
		p.wanted = append(p.wanted, name)
		p.some.Store(true)
		p.mu.Unlock()
	}
	return nil
}

// prepare prepares the statements that were run for the second time. The caller has no transaction on
// the pool, because the transaction may have the pool's only connection. A statement that fails to be
// prepared is run without.
func (p *prepared) prepare(ctx context.Context) {
	if !p.some.Load() {
		return
	}
	for _, name := range p.takeWanted() { // not under the mutex, which transactions take while they have all connections
		u := &p.of[name]
		if u.ready.Load() != nil { // wanted by two transactions
			continue
		}
		ready, err := p.db.PrepareContext(ctx, p.texts[name].SQL)
		if err == nil && !u.ready.CompareAndSwap(nil, ready) {
			ready.Close()
		}
	}
}

// takeWanted returns the statements that are to be prepared, and forgets them.
func (p *prepared) takeWanted() []statement {
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted := p.wanted
	p.wanted = nil
	p.some.Store(false)
	return wanted
}

// close closes the statements.
func (p *prepared) close() {
	for i := range p.of {
		if ready := p.of[i].ready.Load(); ready != nil {
			ready.Close()
		}
	}
}
