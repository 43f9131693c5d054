// Package mongodb keeps locks in MongoDB (4.4 or later), beside programs that
// use ShedLock's MongoLockProvider.
//
// # Collections
//
// The lock row is ShedLock's own document, in the collection shedLock: _id,
// lockUntil, lockedAt and lockedBy, the instants as dates with milliseconds. It
// is never deleted. The state of a name (the last token, and the mark of Every)
// is a document of the same _id in the collection hourbellLock. Names are
// compared byte by byte as long as nobody has created the collections with a
// collation.
//
// # Clock and order
//
// Whether a lock is free, or still its holder's, is decided by $$NOW in the very
// statement that changes the row. The instants that are written come from $$NOW
// too, read on the server by the request before: by a round trip they are too
// early, never too late, so a hold is shorter than asked for by no more than
// that. A program that was stopped in between writes a hold that has ended, and
// is refused by the check that ends every grant. Where $$NOW comes from a router
// (mongos) or from a new primary, it is that machine's clock: keep the servers'
// clocks in step. The clock is read beside a document, so the first request for
// a name writes its row, as a free one.
//
// The row and the state are two writes, in the order that package lock
// prescribes: take the row, draw the token, make sure of the row. Each waits
// for the majority of the replica set, whatever write concern the client has,
// and the last look at the row is a write as well: a primary that was voted out
// and has not noticed cannot confirm a lock. So a failover loses no lock and
// gives no token twice. Restoring a backup takes tokens back to what they were
// then: set them higher than any that was handed out before work goes on,
//
//	db.hourbellLock.updateMany({}, {$inc: {token: NumberLong("1000000000")}})
//
// # Beside Java
//
// The Java provider looks at its own clock and writes instants of it, so keep
// those machines' clocks in step with the database's. Its unlock sets lockUntil
// whoever holds the lock by then: one that runs past its at-most time ends its
// successor's hold. Its grants draw no token.
package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"
)

// Provider implements [lock.Provider] and [lock.Inspector]. Any number of
// goroutines may use it. The zero value is not usable; see Open and New.
type Provider struct {
	rows   *mongo.Collection
	states *mongo.Collection
	close  func(ctx context.Context) error
}

// names are those of the collections.
type names struct{ rows, states string }

// Option is a choice for Open and New.
type Option func(*names)

// Collection is the name of the collection of rows. Default "shedLock", as
// Java programs have it.
func Collection(name string) Option { return func(n *names) { n.rows = name } }

// StateCollection is the name of the collection of states. Default
// "hourbellLock".
func StateCollection(name string) Option { return func(n *names) { n.states = name } }

// Open connects to the servers that a URL names and uses the database in its
// path: mongodb://user:password@host:port/database, or mongodb+srv://. It does
// not wait for them.
func Open(_ context.Context, url string, opts ...Option) (*Provider, error) {
	parsed, err := connstring.ParseAndValidate(url)
	if err != nil { // which may show the password
		return nil, errors.New("open MongoDB: the store URL is not valid; write mongodb://user:password@host:port/database, with special characters of user and password percent-encoded")
	}
	if parsed.Database == "" {
		return nil, errors.New("open MongoDB: the store URL names no database; write mongodb://host:port/database (and ?authSource=admin if the user is known there)")
	}
	client, err := mongo.Connect(options.Client().ApplyURI(url))
	if err != nil {
		return nil, errors.New("open MongoDB: the options in the store URL do not go together; compare them with MongoDB's documentation of connection strings")
	}
	p := New(client.Database(parsed.Database), opts...)
	p.close = client.Disconnect
	return p, nil
}

// New uses a database of the program's own client, which stays connected when
// the Provider is closed.
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

// Close ends the connections that Open made.
func (p *Provider) Close() error {
	if err := p.close(context.Background()); err != nil {
		return fmt.Errorf("close MongoDB: %w", err)
	}
	return nil
}
