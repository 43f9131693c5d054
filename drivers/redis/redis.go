// Package redis keeps locks in Redis (5 or later) or Valkey, and can share them
// with programs that use ShedLock's Redis providers.
//
// # Keys
//
// The lock of a name is ShedLock's own key, job-lock:<environment>:<name>. It
// exists while the lock is held; its end is the key's expiry, and its value is
// ADDED:<instant>@<owner>, the instant in milliseconds since 1970. Any value
// that a Java program writes is respected. The state of the name (the last
// token, and the mark of Every) is a hash at
// hourbell:{job-lock:<environment>:<name>}, which never expires. On a cluster
// both keys are in one slot, whatever client the Java programs use: the braces
// contain exactly the text of ShedLock's key that Redis hashes. A name with a }
// whose first brace opens no {tag} cannot be used on a cluster; on other
// servers it can.
//
// Every operation is a script on the server, where scripts are atomic, and
// reads the server's clock (TIME). On a cluster this is the clock of the node
// that owns the slot.
//
// A release is published on the channel hourbell:released:<key of the lock>, and
// while callers wait for locks one more connection subscribes. A Client of the
// program's own, or a user without the right to the channel, leaves them polling;
// so does a lock that a Java program releases.
//
// # What Redis promises, and what it does not
//
// Redis replicates asynchronously. When a primary dies, its last writes may be
// unknown to the replica that takes over: a lock that was granted by one of
// these writes is granted a second time, and both holders rely on their lock
// until the first fails to extend it. No client can prevent this. Two measures
// limit the damage. First, tokens are taken from the server's clock in
// microseconds, and are at least one greater than the last token; so the second
// holder's token is greater, even after a failover, FLUSHALL or a restored
// backup, provided that the servers' clocks differ by less than the failover
// takes. The protected resource can then refuse the first holder by its token.
// Second, min-replicas-to-write with min-replicas-max-lag keeps a primary that
// has lost its replicas from accepting writes for long. A slot of Every whose
// grant was lost is granted again. If a job must not run twice even then, keep
// its lock in a database that cannot lose acknowledged writes.
//
// A Redis without persistence (save "" and appendonly no, which many caches and
// container images use) forgets every lock when it restarts: a lock that is held is
// granted a second time at once, and a slot of Every again. With snapshots (save)
// Redis forgets what was written after the last snapshot, with appendfsync everysec
// the last second or two. Only appendonly yes with appendfsync always keeps every
// acknowledged grant. Tokens grow through all of this, as above, and a holder whose
// lock was forgotten gets lock.ErrLost from its next renewal.
//
// Set the server's maxmemory-policy to noeviction, or keep locks on a separate
// server: an evicted key is a lost lock.
//
// # Together with Java programs
//
// A Java program's unlock deletes the key even if another owner holds the lock
// by then, unless its provider was built with safeUpdate(true): a program that
// runs past its at-most time then frees its successor's lock. Java computes its
// at-least time with its own clock. Locks granted to Java programs draw no
// token.
package redis

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	goredis "github.com/redis/go-redis/v9"
)

// Provider implements [lock.Provider] and [lock.Inspector]. It is safe for
// concurrent use. The zero value is not usable; see Open and New.
type Provider struct {
	client      Client
	prefix      string
	environment string
	close       func() error
	watch       watch
}

// Option is an option of Open and New.
type Option func(*Provider)

// Environment sets the middle part of the keys, as configured in the Java
// programs. Default "default".
func Environment(name string) Option { return func(p *Provider) { p.environment = name } }

// KeyPrefix sets the first part of the keys. Default "job-lock", ShedLock's
// own.
func KeyPrefix(prefix string) Option { return func(p *Provider) { p.prefix = prefix } }

// Open makes a provider for the server in a URL, redis:// or rediss:// as
// go-redis reads it: redis://user:password@host:port/database. The URL
// parameters environment and key_prefix set the options of these names. No
// connection is made before the first call. For a cluster, or a primary behind
// Sentinel, make your own client and call [New].
func Open(_ context.Context, text string, opts ...Option) (*Provider, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errURL // do not wrap err: it may contain the password
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
	// A script whose answer was lost must not be sent again: the second
	// execution would find the lock held by the first.
	config.MaxRetries = -1
	client := goredis.NewClient(config)
	p := New(GoRedis(client), opts...)
	p.close = client.Close
	return p, nil
}

var errURL = errors.New("open Redis: the store URL is not valid; write redis://user:password@host:port/database, with " +
	"special characters of user and password percent-encoded")

// New makes a provider for the program's own client, which stays open when the
// Provider is closed. See [GoRedis] for go-redis clients.
func New(client Client, opts ...Option) *Provider {
	p := &Provider{client: client, prefix: "job-lock", environment: "default", close: func() error { return nil }}
	for _, opt := range opts {
		opt(p)
	}
	return p
}

// Close closes the connections that Open made.
func (p *Provider) Close() error {
	p.watch.closeNow()
	if err := p.close(); err != nil {
		return fmt.Errorf("close Redis: %w", err)
	}
	return nil
}
