package locksql

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// Config selects the tables of a Provider.
type Config struct {
	// Schema is the schema of the default tables; empty: the connection's.
	Schema string

	// Table is the name of a table that a user gave: table, or schema.table in a
	// dialect with qualified names. It only counts if Named is set.
	Table string

	// Named means that the user named the table. Then other programs may take
	// its locks without drawing a token.
	Named bool
}

// Provider is a lock.Provider and a lock.Inspector. Concurrent calls are
// allowed.
type Provider struct {
	db      DB
	dialect *Dialect
	schema  string // empty: the connection's
	table   string
	shared  bool  // other programs may take locks without drawing a token
	invalid error // the mistake in the configuration; every call returns it

	mu    sync.Mutex
	shape *shape // the properties of the tables; nil until they are read
}

var (
	_ lock.Provider  = (*Provider)(nil)
	_ lock.Inspector = (*Provider)(nil)
)

// New makes a Provider. Every call returns a mistake in the configuration.
func New(db DB, dialect *Dialect, config Config) *Provider {
	p := &Provider{db: db, dialect: dialect, schema: config.Schema, table: dialect.Table, shared: config.Named}
	if config.Named {
		p.schema, p.table, p.invalid = dialect.readTableName(config.Table)
	}
	return p
}

// Refuse makes every call return an error. It must be called before the
// Provider is used.
func (p *Provider) Refuse(err error) { p.invalid = err }

// Invalid returns the mistake in the configuration that every call returns, or
// nil.
func (p *Provider) Invalid() error { return p.invalid }

// ConfiguredSchema returns the schema that the configuration names; empty: the
// connection's. See Schema for the schema in which the tables are.
func (p *Provider) ConfiguredSchema() string { return p.schema }

// Table returns the name of the lock table without its schema.
func (p *Provider) Table() string { return p.table }

// tries bounds how often a call runs again because of other transactions, or
// because a lock was found free but taken and released by other callers
// concurrently.
const tries = 8

// TryLock implements lock.Provider. It is one statement if the lock can be
// taken, unless the dialect looks first; otherwise a second statement finds the
// reason.
func (p *Provider) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	var granted lock.Lease
	err := p.call(ctx, OtherUse, fmt.Sprintf("take lock %q", req.Name), func(s session) (err error) {
		if err := p.dialect.checkText(s.shape.name, "name", req.Name, "use a shorter name, or widen the column name"); err != nil {
			return err
		}
		if err := p.dialect.checkText(s.shape.owner, "owner", req.Owner, "widen the column locked_by to 255"); err != nil {
			return err
		}
		granted, err = p.tryLock(s, req)
		return err
	})
	return granted, err
}

func (p *Provider) tryLock(s session, req lock.Request) (lock.Lease, error) {
	looks := p.dialect.LookFirst
	for range tries {
		if looks {
			found, err := s.look(req.Name, req.Now)
			if err != nil {
				return nil, err
			}
			if err := found.refusal(req, p.dialect.CollationAdvice); err != nil {
				return nil, err
			}
			if err := s.seed(found, req.Name); err != nil {
				return nil, err
			}
		}
		token, err := s.take(req)
		if err != nil {
			return nil, err
		}
		if token > 0 {
			return &lease{provider: p, req: req, token: token, rest: lock.NewRest(req)}, nil
		}
		looks = true
	}
	return nil, &lock.HeldError{Name: req.Name}
}

// take returns the token of the grant, or 0 if the lock was not granted.
func (s session) take(req lock.Request) (token int64, err error) {
	verb, v := takeSQL, values{
		pName: req.Name, pOwner: req.Owner, pHold: req.Hold.Milliseconds(), pNow: s.clock(req.Now), pPatience: s.patience(),
	}
	if slot := req.Slot; slot != nil {
		if !slot.From.Before(slot.Until) {
			return 0, nil // no instant lies in between
		}
		verb = takeSlotSQL
		v[pSeen], v[pFrom], v[pUntil] = slot.Seen, s.dialect.Instant(slot.From), s.dialect.Instant(slot.Until)
		v[pSlot], v[pAnchor] = s.instant(slot.Mark.Slot), s.instant(slot.Mark.Anchor)
		if slot.Mark.Interval != 0 {
			v[pStep] = slot.Mark.Interval.Milliseconds()
		}
	}
	return s.conn.Take(s.ctx, s.commands(verb, &v))
}

// patience returns how many milliseconds the server may wait for other
// transactions: a little less than this caller waits, so that no lock is taken
// after the caller has left.
func (s session) patience() int64 {
	deadline, _ := s.ctx.Deadline() // connected has set a deadline
	return max(1, time.Until(deadline).Milliseconds()*9/10)
}

// look reads the row and the state of a name.
func (s session) look(name string, now func() time.Time) (record, error) {
	found := record{dialect: s.dialect}
	err := s.query(lookSQL, &values{pName: name, pNow: s.clock(now)}, found.scan)
	return found, err
}

// seed makes the rows of a name if they are missing and take needs them.
func (s session) seed(found record, name string) error {
	if found.complete() || !s.has(seedSQL) {
		return nil
	}
	_, err := s.exec(seedSQL, &values{pName: name})
	return err
}

// lease is a grant, identified by name and owner.
type lease struct {
	provider *Provider
	req      lock.Request
	token    int64
	rest     lock.Rest
}

// Token implements lock.Lease.
func (g *lease) Token() int64 { return g.token }

// Extend implements lock.Lease.
func (g *lease) Extend(ctx context.Context, hold time.Duration) error {
	return g.change(ctx, extendSQL, values{pHold: hold.Milliseconds()})
}

// Release implements lock.Lease.
func (g *lease) Release(ctx context.Context) error {
	return g.change(ctx, releaseSQL, values{pAtLeast: g.req.AtLeast.Milliseconds(), pRest: g.rest.Left().Milliseconds()})
}

// change runs a statement on a lock that the lease must still hold.
func (g *lease) change(ctx context.Context, verb statement, v values) error {
	return g.provider.call(ctx, Upkeep, fmt.Sprintf("%s lock %q", files[verb], g.req.Name), func(s session) error {
		v[pName], v[pOwner], v[pNow] = g.req.Name, g.req.Owner, s.clock(g.req.Now)
		rows, err := s.exec(verb, &v)
		if err != nil || rows > 0 {
			return err
		}
		stands := false
		if s.has(ownedSQL) {
			if err := s.query(ownedSQL, &v, func(r Row) error { return r.Scan(&stands) }); err != nil {
				return err
			}
		}
		if !stands {
			return lock.ErrLost
		}
		return nil
	})
}
