package access

import (
	"net/netip"
	"sync"
	"time"
)

// How often a password may be tried from one address: a few times at once, then once
// in a while.
const (
	triesAtOnce = 5
	tryEvery    = 12 * time.Second
	mostTriers  = 100_000 // addresses that are remembered
)

// ration bounds how often passwords are tried. The zero value is ready.
type ration struct {
	mu sync.Mutex
	// next is, by address, the instant at which a caller who had not tried for long
	// would have used up as many tries as this caller.
	next map[netip.Prefix]time.Time
}

// take reports whether a caller may try now, and counts the try.
func (r *ration) take(from netip.Addr, now time.Time) bool {
	key := neighbours(from)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = map[netip.Prefix]time.Time{}
	}
	next := r.next[key]
	if next.Before(now) {
		next = now
	}
	if next = next.Add(tryEvery); next.Sub(now) > triesAtOnce*tryEvery {
		return false
	}
	if _, known := r.next[key]; !known && len(r.next) >= mostTriers {
		r.makeRoom(now)
	}
	r.next[key] = next
	return true
}

// makeRoom forgets the callers who have not tried for long, or else the caller who would be forgotten first. A caller
// with very many addresses must not lock out all other callers.
func (r *ration) makeRoom(now time.Time) {
	var first netip.Prefix
	for key, until := range r.next {
		if until.Before(now) {
			delete(r.next, key)
		} else if least, found := r.next[first]; !found || until.Before(least) {
			first = key
		}
	}
	if len(r.next) >= mostTriers {
		delete(r.next, first)
	}
}

// neighbours returns the addresses that count as one caller: one IPv4 address, or
// the /64 that an IPv6 host has.
func neighbours(addr netip.Addr) netip.Prefix {
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	prefix, err := addr.WithZone("").Prefix(bits)
	if err != nil { // not a TCP address: all such callers are one
		return netip.Prefix{}
	}
	return prefix
}
