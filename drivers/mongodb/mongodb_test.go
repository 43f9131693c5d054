package mongodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
)

// serverVariable is the variable with the server for tests,
// mongodb://host:port/. Without it the tests that need a server are skipped, or
// fail if HOURBELL_TEST_REQUIRE=1. Each test creates its own database and drops
// it.
const serverVariable = "HOURBELL_TEST_MONGO_URL"

func TestMain(m *testing.M) {
	locktest.Contend(open)
	os.Exit(m.Run())
}

func open(ctx context.Context, target string) (lock.Provider, func(), error) {
	p, err := Open(ctx, target)
	if err != nil {
		return nil, nil, err
	}
	return p, func() { p.Close() }, nil
}

// serverURL returns the URL of a new database, which is dropped after the test.
func serverURL(t testing.TB) string {
	t.Helper()
	text := os.Getenv(serverVariable)
	switch {
	case text != "":
	case os.Getenv("HOURBELL_TEST_REQUIRE") == "1":
		t.Fatalf("%s is not set, and HOURBELL_TEST_REQUIRE=1 asks for this test", serverVariable)
	default:
		t.Skipf("%s is not set; this test needs that server", serverVariable)
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatalf("%s is not a URL", serverVariable)
	}
	database := fmt.Sprintf("test_%d_%d", os.Getpid(), time.Now().UnixNano())
	u.Path = "/" + database
	t.Cleanup(func() { must(t, connect(t, text).Database(database).Drop(context.Background())) })
	return u.String()
}

// connect returns a separate client for the test.
func connect(t testing.TB, url string) *mongo.Client {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(url))
	must(t, err)
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	return client
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// at opens a provider on a URL.
func at(t testing.TB, url string) *Provider {
	t.Helper()
	p, err := Open(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	return p
}

func TestSuite(t *testing.T) {
	url := serverURL(t)
	p := at(t, url)
	locktest.Run(t, locktest.Store{
		Target: url,
		Open:   open,
		DeleteRow: func(ctx context.Context, name string) (bool, error) {
			res, err := p.rows.DeleteOne(ctx, bson.D{{Key: "_id", Value: name}})
			return err == nil && res.DeletedCount == 1, err
		},
		Exhausted: exhausted(url),
	})
}

// exhausted returns a provider over a pool whose only connection is in use.
func exhausted(url string) func(t testing.TB) lock.Provider {
	return func(t testing.TB) lock.Provider {
		busy, free := make(chan struct{}), make(chan struct{})
		p := watched(t, url+"?maxPoolSize=1", map[string]func(){"count": func() {
			close(busy)
			<-free
		}})
		done := make(chan struct{})
		go func() {
			p.rows.Database().RunCommand(context.Background(), bson.D{{Key: "count", Value: "none"}})
			close(done)
		}()
		<-busy
		t.Cleanup(func() {
			close(free)
			<-done
		})
		return p
	}
}

// watched returns a provider that calls back before it sends the first command
// of a given name.
func watched(t testing.TB, url string, before map[string]func()) *Provider {
	t.Helper()
	database := at(t, url).rows.Database().Name()
	var mu sync.Mutex
	client, err := mongo.Connect(options.Client().ApplyURI(url).SetMonitor(&event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			mu.Lock()
			act := before[e.CommandName]
			delete(before, e.CommandName)
			mu.Unlock()
			if act != nil {
				act()
			}
		},
	}))
	must(t, err)
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	return New(client.Database(database))
}

func request(name string) lock.Request {
	return lock.Request{Name: name, Owner: "owner of " + name, Hold: time.Minute}
}

func TestDocumentIsShedLocks(t *testing.T) {
	p := at(t, serverURL(t))
	lease, err := p.TryLock(t.Context(), request("send"))
	must(t, err)
	must(t, lease.Release(t.Context()))
	var raw bson.Raw
	must(t, p.rows.FindOne(t.Context(), bson.D{{Key: "_id", Value: "send"}}).Decode(&raw))
	elements, err := raw.Elements()
	must(t, err)
	kinds := map[string]bson.Type{}
	for _, e := range elements {
		kinds[e.Key()] = e.Value().Type
	}
	want := map[string]bson.Type{"_id": bson.TypeString, "lockUntil": bson.TypeDateTime, "lockedAt": bson.TypeDateTime, "lockedBy": bson.TypeString}
	if !maps.Equal(kinds, want) {
		t.Errorf("the row has %v, ShedLock's has %v", kinds, want)
	}
	if name := p.rows.Name(); name != "shedLock" {
		t.Errorf("the rows are in %q", name)
	}
}

// A grant whose row is lost before its token is drawn is refused: its token
// would be greater than the token of the row's owner.
func TestRowLostBeforeTheToken(t *testing.T) {
	url := serverURL(t)
	other := at(t, url)
	p := watched(t, url, map[string]func(){"findAndModify": func() {
		_, err := other.rows.UpdateOne(context.Background(), bson.D{{Key: "_id", Value: "send"}}, bson.D{{Key: "$set", Value: bson.D{{Key: "lockedBy", Value: "Java"}}}})
		must(t, err)
	}})
	_, err := p.TryLock(t.Context(), request("send"))
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Owner != "Java" {
		t.Errorf("a grant whose row was lost in between must be refused as held by Java: %v", err)
	}
}

// A slot that another owner takes after it was read is not granted again, and
// the lock is free.
func TestSlotLostBeforeTheToken(t *testing.T) {
	url := serverURL(t)
	other := at(t, url)
	p := watched(t, url, map[string]func(){"update": func() {
		lease, err := other.TryLock(context.Background(), request("send"))
		must(t, err)
		must(t, lease.Release(context.Background()))
	}})
	req := request("send")
	req.AtLeast = time.Minute
	req.Slot = &lock.Slot{From: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour), Mark: lock.Mark{Slot: time.Now()}}
	_, err := p.TryLock(t.Context(), req)
	var notDue *lock.NotDueError
	if !errors.As(err, &notDue) || notDue.State.Token != 1 {
		t.Errorf("a slot that rests on an old token must be refused with the new state: %v", err)
	}
	lease, err := other.TryLock(t.Context(), request("send"))
	if err != nil || lease.Token() != 2 {
		t.Errorf("a slot that was refused must leave the lock free: %v", err)
	}
}

func TestBadURLs(t *testing.T) {
	for _, url := range []string{
		"", "mongodb://", "mongodb://u:secret@/db", "mongodb://u:sec@ret@h/db", "redis://:secret@h/db",
		"mongodb://u:secret@localhost", "mongodb://u:secret@localhost/db?maxPoolSize=secret", "mongodb://u:secret@localhost/db?directConnection=true&replicaSet=&loadBalanced=true",
	} {
		_, err := Open(t.Context(), url)
		if err == nil || strings.Contains(err.Error(), "ret") {
			t.Errorf("Open(%q) must fail without showing the password: %v", url, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := at(t, "mongodb://u:secret@127.0.0.1:1/db").TryLock(ctx, request("send"))
	if err == nil || !strings.Contains(err.Error(), "cannot reach") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a server that is not there must be named as the cause: %v", err)
	}
}
