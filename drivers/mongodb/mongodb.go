// Package mongodb keeps locks in MongoDB (4.4 or later), and can share them
// with programs that use ShedLock's MongoLockProvider.
//
// # Collections
//
// The lock row is ShedLock's own document, in the collection shedLock: _id,
// lockUntil, lockedAt and lockedBy, the instants as dates with milliseconds. It
// is never deleted. The state of a name (the last token, and the mark of Every)
// is a document with the same _id in the collection hourbellLock. Names are
// compared byte by byte unless the collections were created with a collation.
//
// # Clock and order
//
// The statement that changes a row decides, by $$NOW, whether the lock is free
// or still its holder's. The instants that are written also come from $$NOW,
// read on the server by the previous request: they are too early by one round
// trip, never too late, so a hold is shorter than requested by at most one
// round trip. A program that was stopped between the two requests writes a hold
// that has ended already, and is refused by the check that ends every grant. If
// $$NOW comes from a router (mongos) or from a new primary, it is the clock of
// that machine: keep the servers' clocks synchronised. The clock is read
// together with a document, so the first request for a name writes its row, as
// a free row.
//
// The row and the state are two writes, in the order that package lock
// prescribes: take the row, draw the token, confirm the row. Each write waits
// for the majority of the replica set, whatever write concern the client has,
// and the confirmation of the row is a write as well: a primary that was voted
// out and has not noticed cannot confirm a lock. So a failover loses no lock
// and gives no token twice. Restoring a backup resets tokens to their values at
// that time: before work continues, set them higher than every token that was
// handed out,
//
//	db.hourbellLock.updateMany({}, {$inc: {token: NumberLong("1000000000")}})
//
// # Together with Java programs
//
// The Java provider compares with its own clock and writes instants of it, so
// keep the clocks of those machines synchronised with the database's. Its
// unlock sets lockUntil even if another owner holds the lock by then: a Java
// program that runs past its at-most time ends its successor's hold. Locks
// granted to Java programs draw no token.
package mongodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"
)

// lockPatience bounds what no Locker bounds: the calls of an Inspector, and Close.
const lockPatience = 10 * time.Second

// Provider implements [lock.Provider] and [lock.Inspector]. It is safe for
// concurrent use. The zero value is not usable; see Open and New.
type Provider struct {
	rows   *mongo.Collection
	states *mongo.Collection
	close  func(ctx context.Context) error
}

// names are the names of the collections.
type names struct{ rows, states string }

// Option is an option of Open and New.
type Option func(*names)

// Collection sets the name of the collection of rows. Default "shedLock", as in
// Java programs.
func Collection(name string) Option { return func(n *names) { n.rows = name } }

// StateCollection sets the name of the collection of states. Default
// "hourbellLock".
func StateCollection(name string) Option { return func(n *names) { n.states = name } }

// Open makes a provider for the servers in a URL and the database in its path:
// mongodb://user:password@host:port/database, or mongodb+srv://. It does not
// wait for a connection.
func Open(_ context.Context, url string, opts ...Option) (*Provider, error) {
	parsed, err := connstring.ParseAndValidate(url)
	if err != nil { // do not wrap it: it may contain the password
		return nil, errors.New("open MongoDB: the store URL is not valid; write mongodb://user:password@host:port/database, " +
			"with special characters of user and password percent-encoded")
	}
	if parsed.Database == "" {
		return nil, errors.New("open MongoDB: the store URL names no database; write mongodb://host:port/database (and ?authSource=admin if the user is known there)")
	}
	client, err := mongo.Connect(options.Client().ApplyURI(url))
	if err != nil {
		return nil, errors.New("open MongoDB: the options in the store URL contradict each other; compare them with MongoDB's documentation of connection strings")
	}
	p := New(client.Database(parsed.Database), opts...)
	p.close = client.Disconnect
	return p, nil
}

// New makes a provider for a database of the program's own client, which stays
// connected when the Provider is closed.
func New(db *mongo.Database, opts ...Option) *Provider {
	n := names{rows: "shedLock", states: "hourbellLock"}
	for _, opt := range opts {
		opt(&n)
	}
	strict := options.Collection().
		SetWriteConcern(writeconcern.Majority()).SetReadConcern(readconcern.Local()).SetReadPreference(readpref.Primary())
	return &Provider{
		rows:   db.Collection(n.rows, strict),
		states: db.Collection(n.states, strict),
		close:  func(context.Context) error { return nil },
	}
}

// Close closes the connections that Open made.
func (p *Provider) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	if err := p.close(ctx); err != nil {
		return fmt.Errorf("close MongoDB: %w", err)
	}
	return nil
}
