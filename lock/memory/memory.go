// Package memory keeps locks in the memory of one process.
//
// It is the reference with which other providers are compared, and is useful in
// tests of code that uses locks. Its locks only exclude other goroutines of the
// process; its clock is the process's own clock, and a restart forgets
// everything.
package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// Provider implements [lock.Provider] and [lock.Inspector]. Concurrent calls
// are allowed. The zero value is not usable; see New.
type Provider struct {
	mu     sync.Mutex
	rows   map[string]row
	states map[string]state

	watchers lock.Watchers
}

// row is the lock row, as in the table of ShedLock.
type row struct {
	owner    string
	lockedAt time.Time
	until    time.Time
}

// state is the state of a name in addition to its row.
type state struct {
	token     int64
	mark      lock.Mark
	grantedAt time.Time
}

// New returns a provider without locks.
func New() *Provider {
	return &Provider{rows: map[string]row{}, states: map[string]state{}}
}

// TryLock implements [lock.Provider].
func (p *Provider) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("take lock %q: %w", req.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := clock(req.Now)
	if r := p.rows[req.Name]; r.until.After(now) {
		return nil, &lock.HeldError{Name: req.Name, Owner: r.owner, Until: r.until, Now: now}
	}
	s := p.states[req.Name]
	if req.Slot != nil {
		if !holds(req.Slot, s, now) {
			return nil, &lock.NotDueError{Name: req.Name, State: s.at(now)}
		}
		s.mark, s.grantedAt = req.Slot.Mark, now
	}
	s.token++
	p.states[req.Name] = s
	p.rows[req.Name] = row{owner: req.Owner, lockedAt: now, until: now.Add(req.Hold)}
	return &lease{provider: p, req: req, token: s.token, rest: lock.NewRest(req)}, nil
}

// holds reports whether the conditions of a slot hold.
func holds(slot *lock.Slot, s state, now time.Time) bool {
	return s.token == slot.Seen && !now.Before(slot.From) && now.Before(slot.Until)
}

// DeleteRow deletes a lock's row, as an operator might do by hand, but not its
// state, and reports whether the row existed. It is for tests.
func (p *Provider) DeleteRow(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, existed := p.rows[name]
	delete(p.rows, name)
	return existed
}

// Locks implements [lock.Inspector].
func (p *Provider) Locks(ctx context.Context, req lock.LocksRequest) ([]lock.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("list locks: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := clock(req.Now)
	var infos []lock.Info
	for _, name := range p.names() {
		wanted := len(req.Names) == 0 || slices.Contains(req.Names, name)
		if !wanted || name <= req.After || len(infos) == req.Limit {
			continue
		}
		r := p.rows[name]
		infos = append(infos, lock.Info{
			Name: name, Owner: r.owner, LockedAt: r.lockedAt, Until: r.until, State: p.states[name].at(now),
		})
	}
	return infos, nil
}

// names returns the names of all rows and states, in byte order.
func (p *Provider) names() []string {
	all := maps.Clone(p.states)
	for name := range p.rows {
		all[name] = state{}
	}
	return slices.Sorted(maps.Keys(all))
}

// ForceRelease implements [lock.Inspector].
func (p *Provider) ForceRelease(ctx context.Context, req lock.ForceReleaseRequest) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("release lock %q by force: %w", req.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := clock(req.Now)
	r, hasRow := p.rows[req.Name]
	s, hasState := p.states[req.Name]
	if !hasRow && !hasState {
		return fmt.Errorf("release lock %q by force: %w", req.Name, lock.ErrNotFound)
	}
	if r.until.After(now) {
		r.until = now
		p.rows[req.Name] = r
		p.watchers.Wake(req.Name)
	}
	if s.grantedAt.After(now) {
		p.states[req.Name] = state{token: s.token}
	}
	return nil
}

// Watch implements [lock.Notifier].
func (p *Provider) Watch(ctx context.Context, name string) <-chan struct{} {
	turn, remove := p.watchers.Add(name)
	context.AfterFunc(ctx, func() { remove() })
	return turn
}

// at returns the state as requests see it.
func (s state) at(now time.Time) lock.State {
	return lock.State{Now: now, Token: s.token, Mark: s.mark, GrantedAt: s.grantedAt}
}

// clock reads the store's clock, or the clock of a test.
func clock(now func() time.Time) time.Time {
	if now != nil {
		return now()
	}
	return time.Now().UTC()
}
