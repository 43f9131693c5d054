package shedlock

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// side is one of the two sides that share a lock.
type side interface {
	name() string
	// try requests the lock at an instant and, if the lock is granted and file
	// is not empty, increments the number in the file at once. granted returns
	// the answer.
	try(t *testing.T, when time.Time, atMost, atLeast time.Duration, file string)
	// granted returns the answer to the last try.
	granted(t *testing.T) bool
	// release frees the lock that was granted last.
	release(t *testing.T)
	// count repeatedly takes the lock, increments the number in a file, and
	// releases the lock, the given number of times; counted waits until that is
	// done.
	count(t *testing.T, times int, file string)
	counted(t *testing.T)
}

// now requests the lock at once. The short delay is for Java, whose clock has
// whole milliseconds: within the same millisecond it does not see a release.
func now(t *testing.T, s side, atMost, atLeast time.Duration) bool {
	t.Helper()
	s.try(t, time.Now().Add(2*time.Millisecond), atMost, atLeast, "")
	return s.granted(t)
}

// ours is the side of this program, with a Locker.
type ours struct {
	locker *lock.Locker
	lock   string
	held   *lock.Lock
	answer chan error
}

func newOurs(t *testing.T, p lock.Provider, name string) *ours {
	t.Helper()
	locker, err := lock.New(p, lock.Config{})
	must(t, err)
	return &ours{locker: locker, lock: name, answer: make(chan error)}
}

func (o *ours) name() string { return "Go" }

func (o *ours) try(t *testing.T, when time.Time, atMost, atLeast time.Duration, file string) {
	go func() {
		await(when)
		held, err := o.locker.Try(context.Background(), o.lock, lock.Options{AtMost: atMost, AtLeast: atLeast, NoKeepAlive: true})
		if err == nil {
			o.held = held
			if file != "" {
				err = raise(file)
			}
		}
		o.answer <- err
	}()
}

func (o *ours) granted(t *testing.T) bool {
	t.Helper()
	err := <-o.answer
	if err != nil && !errors.Is(err, lock.ErrHeld) {
		t.Fatal(err)
	}
	return err == nil
}

func (o *ours) release(t *testing.T) {
	t.Helper()
	must(t, o.held.Release(context.Background()))
}

func (o *ours) count(t *testing.T, times int, file string) {
	go func() {
		for range times {
			err := o.locker.Do(context.Background(), o.lock, lock.Options{Wait: time.Minute}, func(context.Context, *lock.Lock) error { return raise(file) })
			if err != nil {
				o.answer <- err
				return
			}
		}
		o.answer <- nil
	}()
}

func (o *ours) counted(t *testing.T) {
	t.Helper()
	must(t, <-o.answer)
}

// await sleeps, and then polls the clock, because sleep may return late.
func await(when time.Time) {
	time.Sleep(time.Until(when) - time.Millisecond)
	for time.Now().Before(when) {
	}
}

// raise adds one to the number in a file, slowly enough that a concurrent
// increment would be lost.
func raise(file string) error {
	n, err := number(file)
	if err != nil {
		return err
	}
	time.Sleep(50 * time.Microsecond)
	return os.WriteFile(file, strconv.AppendInt(nil, n+1, 10), 0o600)
}

func number(file string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// theirs is the side of the Java program, with one of its providers.
type theirs struct {
	java     *java
	provider string
	lock     string
}

func newTheirs(t *testing.T, j *java, provider, name string, open []any) *theirs {
	t.Helper()
	j.order(t, append([]any{"open", provider}, open...)...)
	return &theirs{j, provider, name}
}

func (h *theirs) name() string { return "Java" }

func (h *theirs) try(t *testing.T, when time.Time, atMost, atLeast time.Duration, file string) {
	t.Helper()
	h.java.tell(t, "lock", h.provider, h.lock, atMost.Milliseconds(), atLeast.Milliseconds(), when.UnixMicro(), file)
}

func (h *theirs) granted(t *testing.T) bool {
	t.Helper()
	return h.java.hear(t) == "granted"
}

func (h *theirs) release(t *testing.T) {
	t.Helper()
	h.java.order(t, "unlock", h.provider)
}

func (h *theirs) count(t *testing.T, times int, file string) {
	t.Helper()
	h.java.tell(t, "count", h.provider, h.lock, time.Minute.Milliseconds(), times, file)
}

func (h *theirs) counted(t *testing.T) {
	t.Helper()
	h.java.hear(t)
}
