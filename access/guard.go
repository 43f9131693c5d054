package access

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config has the settings of a Guard.
type Config struct {
	// File is the path of a file of users; empty: there are no users and no tokens.
	File string
	// Trust are the addresses of proxies. Their headers X-Forwarded-For and
	// X-Forwarded-Proto say where a request came from, and whether it came with TLS;
	// from other addresses these headers have no effect.
	Trust []netip.Prefix
	// UserHeader is the header in which a trusted proxy sends the name of the
	// caller. A caller who is a user of the file has the role of that user, any
	// other caller is a viewer. From other addresses the header has no effect.
	UserHeader string
	// Report receives problems that no caller may see, such as a file of users
	// that has become unreadable; it may be nil. It never gets a secret.
	Report func(err error)
}

// Guard recognises callers: by an API token, by a session that began with a password,
// or by the header of a trusted proxy. It reads the file of users again when the file
// changes; if the new content is not valid, the old content stays in force. Concurrent
// calls are allowed.
type Guard struct {
	cfg      Config
	sessions sessions
	attempts ration
	hashing  chan struct{} // a place for each password that is hashed at the same time

	untrusted sync.Once // see reportProxy

	mu      sync.Mutex
	users   *Users
	changed fileState // of the file that was read last
}

// fileState is how a change of the file is noticed.
type fileState struct {
	modified time.Time
	size     int64
}

// NewGuard reads the file of users. The error is as from ReadUsers.
func NewGuard(cfg Config) (*Guard, error) {
	if cfg.Report == nil {
		cfg.Report = func(error) {}
	}
	g := &Guard{cfg: cfg, users: &Users{}, hashing: make(chan struct{}, mostHashing)}
	if cfg.File == "" {
		return g, nil
	}
	g.changed = stateOf(cfg.File)
	users, err := ReadUsers(cfg.File)
	if err != nil {
		return nil, err
	}
	g.users = users
	return g, nil
}

func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}
	}
	return fileState{info.ModTime(), info.Size()}
}

// current returns the users, from the file if it has changed. Callers must not change
// the result.
func (g *Guard) current() *Users {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cfg.File == "" {
		return g.users
	}
	state := stateOf(g.cfg.File)
	if state == g.changed {
		return g.users
	}
	g.changed = state
	users, err := ReadUsers(g.cfg.File)
	if err != nil {
		g.cfg.Report(fmt.Errorf("the changed users are not used: %w", err))
		return g.users
	}
	g.users = users
	return users
}

// Authorize is an Authorize.
func (g *Guard) Authorize(r *http.Request) (Identity, error) {
	id, err := g.recognise(r)
	id.Address = g.address(r)
	return id, err
}

// address returns the address of the caller as a text.
func (g *Guard) address(r *http.Request) string {
	if from := g.sender(r); from.IsValid() {
		return from.String()
	}
	return r.RemoteAddr
}

// sender returns the address of the caller; it is not valid if the server does not listen on TCP. A
// trusted proxy appends to X-Forwarded-For the address from which it got the request; what stands
// before that, the caller can choose.
func (g *Guard) sender(r *http.Request) netip.Addr {
	from := remote(r)
	parts := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(parts) - 1; i >= 0 && g.trusts(from); i-- {
		before, err := netip.ParseAddr(strings.TrimSpace(parts[i]))
		if err != nil {
			break
		}
		from = before.Unmap()
	}
	return from
}

// secure reports whether the caller's connection has TLS: to this server, or to a trusted proxy that says so.
func (g *Guard) secure(r *http.Request) bool {
	return r.TLS != nil || g.trusts(remote(r)) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// reportProxy reports once that a log-in came through a proxy that is not trusted: all clients of the proxy
// have one ration of attempts.
func (g *Guard) reportProxy(r *http.Request) {
	if from := remote(r); forwarded(r) && !g.trusts(from) {
		g.untrusted.Do(func() {
			g.cfg.Report(fmt.Errorf("a log-in was forwarded by %[1]s, which is not trusted: "+
				"all clients of this address share their attempts; if it is a proxy, give --trust-proxy %[1]s", senderOf(r)))
		})
	}
}

// trusts reports whether an address belongs to a trusted proxy.
func (g *Guard) trusts(from netip.Addr) bool {
	return slices.ContainsFunc(g.cfg.Trust, func(p netip.Prefix) bool { return p.Contains(from) })
}

// recognise returns who sent a request, without the address.
func (g *Guard) recognise(r *http.Request) (Identity, error) {
	if token, given := bearer(r); given {
		return g.byToken(token, time.Now())
	}
	if name := g.proxied(r); name != "" {
		return g.named(name), nil
	}
	if id, ok := g.bySession(r); ok {
		return id, nil
	}
	return Identity{}, ErrUnknownCaller
}

// byToken compares the digests of all tokens, so that the time does not depend on
// which token was guessed.
func (g *Guard) byToken(text string, now time.Time) (Identity, error) {
	sum := []byte(digest(text))
	found := -1
	tokens := g.current().Tokens
	for i, t := range tokens {
		if subtle.ConstantTimeCompare(sum, []byte(t.SHA256)) == 1 {
			found = i
		}
	}
	switch {
	case found < 0:
		return Identity{}, &RefusedError{Status: http.StatusUnauthorized, Problem: "the token is not known", Remedy: "make a token with `hourbell auth token`"}
	case tokens[found].expired(now):
		return Identity{}, &RefusedError{Status: http.StatusUnauthorized, Problem: "the token has expired", Remedy: "make a new token with `hourbell auth token`"}
	}
	return Identity{Name: tokens[found].Name, Role: tokens[found].Role, Source: SourceToken}, nil
}

// proxied returns the name that a trusted proxy sent; empty: none.
func (g *Guard) proxied(r *http.Request) string {
	if g.cfg.UserHeader == "" {
		return ""
	}
	names := r.Header.Values(g.cfg.UserHeader)
	if !g.trusts(remote(r)) || len(names) != 1 { // two headers: the proxy passed on a header of the caller
		return ""
	}
	return names[0]
}

// named returns the identity of a caller whom a proxy named.
func (g *Guard) named(name string) Identity {
	id := Identity{Name: name, Role: Viewer, Source: SourceProxy}
	users := g.current()
	if i := users.find(name); i >= 0 {
		id.Role = users.Users[i].Role
	}
	return id
}
