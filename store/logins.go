package store

import (
	"fmt"
	"sync"
	"time"
)

// LoginGap is how long a driver waits after a server has refused a log-in, before
// it logs in again.
const LoginGap = 5 * time.Second

// Logins keeps the pools of a driver from logging in again and again while the
// server refuses it, as after a password was changed: servers and their logs
// suffer from that, and some lock the account. Instants are of the process. The
// zero value can be used; concurrent calls are allowed.
type Logins struct {
	mu      sync.Mutex
	refused error
	again   time.Time // no log-in before
}

// Begin reports whether a log-in may begin at now: nil, or an error that wraps
// the refusal. After a refusal one log-in may begin in each LoginGap.
func (l *Logins) Begin(now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused == nil {
		return nil
	}
	if now.Before(l.again) {
		return fmt.Errorf("the last log-in was refused, and the next one is in %v: %w", l.again.Sub(now).Round(100*time.Millisecond), l.refused)
	}
	l.again = now.Add(LoginGap)
	return nil
}

// Refuse notes that the server has refused a log-in at now.
func (l *Logins) Refuse(now time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused, l.again = err, now.Add(LoginGap)
}

// Accept notes that the server has accepted a log-in.
func (l *Logins) Accept() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = nil
}
