package locktest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// contenderVariable is set in the environment of processes that contend for
// locks.
const contenderVariable = "HOURBELL_LOCKTEST_CONTENDER"

// Contend makes the process a contender if the suite started it as a contender,
// and then does not return. Otherwise it does nothing. TestMain calls it first,
// because a contender uses standard input and output to communicate.
func Contend(open Opener) {
	if os.Getenv(contenderVariable) == "" {
		return
	}
	if err := contend(open, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "locktest: contender:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// order is a message from the suite to a contender: a line of JSON.
type order struct {
	Do     string // open, try, hold, await, release, count
	Target string // open
	Name   string
	At     int64         // try: the instant, in Unix nanoseconds
	Lease  time.Duration // hold
	File   string        // count
	Times  int           // count
}

// answer is the contender's message after an order: a line of JSON.
type answer struct {
	Token   int64  // the token of a lock that was taken
	Held    bool   // another contender has the lock
	Error   string // any other failure
	Lost    bool   // await: the context ended because the lock was lost
	Extend  bool   // await: an extension was refused as lost
	Release bool   // await: a release was refused as lost
}

// contender is a process or goroutine that contends for locks.
type contender struct {
	open     Opener
	provider lock.Provider
	held     *lock.Lock
	close    func()
}

// contend executes orders until there are no more.
func contend(open Opener, in io.Reader, out io.Writer) error {
	c := &contender{open: open, close: func() {}}
	defer func() { c.close() }()
	orders := bufio.NewScanner(in)
	for orders.Scan() {
		var o order
		if err := json.Unmarshal(orders.Bytes(), &o); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		a, err := c.follow(ctx, o)
		cancel()
		if err != nil {
			a.Error = err.Error()
		}
		if err := json.NewEncoder(out).Encode(a); err != nil {
			return err
		}
	}
	return orders.Err()
}

func (c *contender) follow(ctx context.Context, o order) (answer, error) {
	switch o.Do {
	case "open":
		var err error
		c.provider, c.close, err = c.open(ctx, o.Target)
		return answer{}, err
	case "try":
		return c.try(ctx, o)
	case "hold":
		return c.hold(o)
	case "await":
		return c.await(ctx)
	case "release":
		return answer{}, c.held.Release(ctx)
	case "count":
		return answer{}, c.count(ctx, o)
	default:
		return answer{}, fmt.Errorf("unknown order %q", o.Do)
	}
}

// try takes a lock at an instant that is the same for all contenders.
func (c *contender) try(ctx context.Context, o order) (answer, error) {
	locker, err := lock.New(c.provider, lock.Config{Timeout: 30 * time.Second})
	if err != nil {
		return answer{}, err
	}
	time.Sleep(time.Until(time.Unix(0, o.At)))
	held, err := locker.Try(ctx, o.Name, lock.Options{NoKeepAlive: true})
	switch {
	case errors.Is(err, lock.ErrHeld):
		return answer{Held: true}, nil
	case err != nil:
		return answer{}, err
	}
	c.held = held
	return answer{Token: held.Token()}, nil
}

// hold takes a lock and keeps it alive.
func (c *contender) hold(o order) (answer, error) {
	locker, err := lock.New(c.provider, lock.Config{Lease: o.Lease})
	if err != nil {
		return answer{}, err
	}
	// The context of the order is not used, because it ends with the order.
	c.held, err = locker.Lock(context.Background(), o.Name, lock.Options{Wait: time.Minute})
	if err != nil {
		return answer{}, err
	}
	return answer{Token: c.held.Token()}, nil
}

// await waits until the lock is lost, and then tries to use it.
func (c *contender) await(ctx context.Context) (answer, error) {
	select {
	case <-c.held.Context().Done():
	case <-ctx.Done():
		return answer{}, errors.New("the context of a lost lock did not end")
	}
	lost := context.Cause(c.held.Context())
	extend := c.held.Extend(ctx, time.Hour)
	release := c.held.Release(ctx)
	return answer{
		Token: c.held.Token(), Lost: errors.Is(lost, lock.ErrLost),
		Extend: errors.Is(extend, lock.ErrLost), Release: errors.Is(release, lock.ErrLost),
	}, nil
}

// count increments a number in a file, with no protection other than the lock.
func (c *contender) count(ctx context.Context, o order) error {
	locker, err := lock.New(c.provider, lock.Config{Timeout: 30 * time.Second})
	if err != nil {
		return err
	}
	for done := 0; done < o.Times; {
		err := locker.Do(ctx, o.Name, lock.Options{}, func(context.Context, *lock.Lock) error { return raise(o.File) })
		switch {
		case err == nil:
			done++
		case !errors.Is(err, lock.ErrHeld):
			return err
		}
		time.Sleep(time.Duration(rand.IntN(3_000)) * time.Microsecond) // so that other contenders get the lock too
	}
	return nil
}

// raise adds one to the number in a file, slowly enough that concurrent
// increments would be noticed.
func raise(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	time.Sleep(50 * time.Microsecond)
	return os.WriteFile(file, []byte(strconv.Itoa(n+1)), 0o600)
}
