package locktest

import (
	"context"
	"errors"
	"net"
	"net/rpc"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/memory"
)

// server serves lock/memory to other processes, so that the suite's own tests
// have a store that real processes share, without a database server.
type server struct {
	provider lock.Provider
	mu       sync.Mutex
	leases   []lock.Lease
	now      func() time.Time // the time of the current call, in a test
}

// Ask is a request, or a call of a lease, as a message.
type Ask struct {
	Lease   int // index of the lease; not used with a request
	Request *lock.Request
	Hold    time.Duration // Extend; 0: Release
	Now     time.Time     // in a test; functions cannot be sent
}

// Reply has at most one of the errors.
type Reply struct {
	Lease  int
	Token  int64
	Held   *lock.HeldError
	NotDue *lock.NotDueError
	Lost   bool
}

// Call is the one method of the service.
func (s *server) Call(ask Ask, reply *Reply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = time.Now
	if !ask.Now.IsZero() {
		s.now = func() time.Time { return ask.Now }
	}
	err := s.call(ask, reply)
	switch {
	case errors.As(err, &reply.Held), errors.As(err, &reply.NotDue):
		return nil
	case errors.Is(err, lock.ErrLost):
		reply.Lost = true
		return nil
	}
	return err
}

func (s *server) call(ask Ask, reply *Reply) error {
	ctx := context.Background()
	switch {
	case ask.Request == nil && ask.Hold == 0:
		return s.leases[ask.Lease].Release(ctx)
	case ask.Request == nil:
		return s.leases[ask.Lease].Extend(ctx, ask.Hold)
	}
	ask.Request.Now = func() time.Time { return s.now() }
	l, err := s.provider.TryLock(ctx, *ask.Request)
	if err != nil {
		return err
	}
	s.leases = append(s.leases, l)
	reply.Lease, reply.Token = len(s.leases)-1, l.Token()
	return nil
}

// serve starts a server on a socket, and returns its address.
func serve(t testing.TB, p lock.Provider) string {
	t.Helper()
	address := filepath.Join(t.TempDir(), "socket")
	listener, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	service := rpc.NewServer()
	if err := service.RegisterName("Locks", &server{provider: p}); err != nil {
		t.Fatal(err)
	}
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			go service.ServeConn(conn)
		}
	}()
	t.Cleanup(func() { listener.Close() })
	return address
}

// client is a provider that uses a server's socket.
type client struct{ *rpc.Client }

func dial(_ context.Context, address string) (lock.Provider, func(), error) {
	c, err := rpc.Dial("unix", address)
	if err != nil {
		return nil, nil, err
	}
	return client{c}, func() { c.Close() }, nil
}

func (c client) call(ctx context.Context, ask Ask) (Reply, error) {
	var reply Reply
	if err := ctx.Err(); err != nil {
		return reply, err
	}
	select {
	case done := <-c.Go("Locks.Call", ask, &reply, make(chan *rpc.Call, 1)).Done:
		if done.Error != nil {
			return reply, done.Error
		}
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
	switch {
	case reply.Held != nil:
		return reply, reply.Held
	case reply.NotDue != nil:
		return reply, reply.NotDue
	case reply.Lost:
		return reply, lock.ErrLost
	}
	return reply, nil
}

func (c client) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	l := clientLease{client: c, now: req.Now}
	req.Now = nil
	var err error
	l.reply, err = c.call(ctx, Ask{Request: &req, Now: l.clock()})
	if err != nil {
		return nil, err
	}
	return l, nil
}

type clientLease struct {
	client client
	reply  Reply
	now    func() time.Time
}

// clock returns the time of a test, or zero.
func (l clientLease) clock() time.Time {
	if l.now == nil {
		return time.Time{}
	}
	return l.now()
}

func (l clientLease) Token() int64 { return l.reply.Token }

func (l clientLease) Extend(ctx context.Context, hold time.Duration) error {
	_, err := l.client.call(ctx, Ask{Lease: l.reply.Lease, Hold: hold, Now: l.clock()})
	return err
}

func (l clientLease) Release(ctx context.Context) error {
	_, err := l.client.call(ctx, Ask{Lease: l.reply.Lease, Now: l.clock()})
	return err
}

func TestMain(m *testing.M) {
	Contend(dial)
	os.Exit(m.Run())
}

func TestSuiteWithProcesses(t *testing.T) {
	p := memory.New()
	Run(t, Store{
		Target: serve(t, p), Open: dial,
		DeleteRow: func(_ context.Context, name string) (bool, error) { return p.DeleteRow(name), nil },
	})
}

// TestSuiteInRealTime checks that a provider that cannot replace the clock
// passes the tests that are possible for it.
func TestSuiteInRealTime(t *testing.T) {
	t.Parallel()
	p := memory.New()
	run(t, Store{
		InProcess: true, RealTime: true,
		Open:      func(context.Context, string) (lock.Provider, func(), error) { return p, func() {}, nil },
		DeleteRow: func(_ context.Context, name string) (bool, error) { return p.DeleteRow(name), nil },
	}, []group{{"Grant", grantTests}, {"Lease", leaseTests}, {"Token", tokenTests}, {"Slot", slotTests}, {"Inspect", inspectTests}})
}
