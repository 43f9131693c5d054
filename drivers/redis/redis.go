// Package redis keeps locks in Redis (5 or later) or Valkey, beside programs
// that use ShedLock's Redis providers.
//
// # Keys
//
// The lock of a name is ShedLock's own key, job-lock:<environment>:<name>. It
// exists while the lock is held; its end is the key's expiry, and its value is
// ADDED:<instant>@<owner>, the instant in milliseconds since 1970. Any value a
// Java program writes is respected. The state of the name (the last token, and
// the mark of Every) is a hash at hourbell:{job-lock:<environment>:<name>},
// which never expires. On a cluster both are in one slot, whatever client the
// Java programs use: the braces hold exactly what Redis hashes of ShedLock's
// key. A name with a } whose first brace opens no {tag} cannot be had on a
// cluster; elsewhere it can.
//
// Every operation is a script on the server, atomic there, and reads the
// server's clock (TIME). On a cluster that is the clock of the node that owns
// the slot.
//
// # What Redis promises, and what it does not
//
// Redis replicates asynchronously. When a primary dies, what it had accepted in
// its last moments may be unknown to the replica that takes over: a lock that
// was granted then is granted a second time, and two holders believe in theirs
// until the first fails to extend. No client can prevent this. Two things limit
// the damage. Tokens are taken from the server's clock in microseconds, and
// are at least one more than the last, so that the second holder's is the
// greater one, also after a failover, FLUSHALL or a restored backup, if only
// the servers' clocks agree better than the failover takes: what the lock
// protects can refuse the first holder by its token. And min-replicas-to-write
// with min-replicas-max-lag keeps a primary that lost its replicas from going
// on for long. A slot of Every whose grant was lost is granted again. Where a
// job must not run twice even then, keep its lock in a database that
// acknowledges nothing it can lose.
//
// Let the server's maxmemory-policy be noeviction, or keep locks on a server of
// their own: a key that is evicted is a lock that is lost.
//
// # Beside Java
//
// A Java program's unlock deletes the key whoever holds it by then, unless its
// provider was built with safeUpdate(true): one that runs past its at-most time
// then frees its successor's lock. Java computes its at-least time with its own
// clock. Its grants draw no token.
package redis

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	goredis "github.com/redis/go-redis/v9"
)

// Provider implements [lock.Provider] and [lock.Inspector]. Any number of
// goroutines may use it. The zero value is not usable; see Open and New.
type Provider struct {
	client      Client
	prefix      string
	environment string
	close       func() error
}

// Option is a choice for Open and New.
type Option func(*Provider)

// Environment is the middle part of the keys, as the Java programs name it.
// Default "default".
func Environment(name string) Option { return func(p *Provider) { p.environment = name } }

// KeyPrefix is the first part of the keys. Default "job-lock", ShedLock's own.
func KeyPrefix(prefix string) Option { return func(p *Provider) { p.prefix = prefix } }

// Open connects to the server that a URL names, redis:// or rediss:// as
// go-redis reads it: redis://user:password@host:port/database. The parameters
// environment and key_prefix in it stand for the options of these names. No
// connection is made before the first call. For a cluster, or a primary that
// Sentinel knows, make a client of your own and call [New].
func Open(_ context.Context, text string, opts ...Option) (*Provider, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errURL // err may show the password
	}
	query := u.Query()
	if query.Has("environment") {
		opts = append([]Option{Environment(query.Get("environment"))}, opts...)
	}
	if query.Has("key_prefix") {
		opts = append([]Option{KeyPrefix(query.Get("key_prefix"))}, opts...)
	}
	query.Del("environment")
	query.Del("key_prefix")
	u.RawQuery = query.Encode()
	config, err := goredis.ParseURL(u.String())
	if err != nil {
		return nil, errURL
	}
	config.ContextTimeoutEnabled = true
	// A script whose answer was lost must not be sent again: the second would find
	// the lock held, by its own owner.
	config.MaxRetries = -1
	client := goredis.NewClient(config)
	p := New(GoRedis(client), opts...)
	p.close = client.Close
	return p, nil
}

var errURL = errors.New("open Redis: the store URL is not valid; write redis://user:password@host:port/database, with special characters of user and password percent-encoded")

// New uses a client of the program's own, which stays open when the Provider
// is closed. See [GoRedis] for those of go-redis.
func New(client Client, opts ...Option) *Provider {
	p := &Provider{client: client, prefix: "job-lock", environment: "default", close: func() error { return nil }}
	for _, opt := range opts {
		opt(p)
	}
	return p
}

// Close closes the connections that Open made.
func (p *Provider) Close() error {
	if err := p.close(); err != nil {
		return fmt.Errorf("close Redis: %w", err)
	}
	return nil
}
