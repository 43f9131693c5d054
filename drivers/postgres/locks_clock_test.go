package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/lock"
)

// falseClock is the clock of a server that was started under libfaketime.
type falseClock struct {
	t    *testing.T
	file string
}

// set makes the clock differ from this machine's clock by offset.
func (c falseClock) set(offset time.Duration) {
	c.t.Helper()
	text := fmt.Sprintf("%+d", int(offset.Seconds()))
	must(c.t, os.WriteFile(c.file+".new", []byte(text), 0o644))
	must(c.t, os.Rename(c.file+".new", c.file))
}

// startSkewed starts a server whose clock can be set, until the test ends.
func startSkewed(t *testing.T) (url string, clock falseClock) {
	t.Helper()
	library := fakeTime(t)
	bin, err := exec.Command("../../scripts/postgres-bin").Output()
	must(t, err)
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755)) // for the user of the server
	clock = falseClock{t, filepath.Join(dir, "clock")}
	clock.set(0)
	data := filepath.Join(dir, "data")
	must(t, os.Mkdir(data, 0o700))
	credential := serverUser(t, data)
	initdb := exec.Command(filepath.Join(strings.TrimSpace(string(bin)), "initdb"), "--pgdata="+data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = data, credential
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	port := freePort(t)
	server := exec.Command(filepath.Join(strings.TrimSpace(string(bin)), "postgres"), "-D", data, "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "autovacuum=off")
	server.Dir, server.SysProcAttr = data, credential
	server.Env = append(os.Environ(), "LD_PRELOAD="+library, "FAKETIME_TIMESTAMP_FILE="+clock.file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_RESET=1")
	runUntilEnd(t, server)
	url = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	await(t, url)
	return url, clock
}

// fakeTime returns the library libfaketime for programs with several threads.
func fakeTime(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	must(t, err)
	switch {
	case len(found) > 0:
		return found[0]
	case os.Getenv("HOURBELL_TEST_REQUIRE") == "1":
		t.Fatal("faketime is not installed, and HOURBELL_TEST_REQUIRE=1 asks for this test")
	default:
		t.Skip("faketime is not installed")
	}
	return ""
}

// serverUser runs the server as another user if the test is run by root,
// because PostgreSQL refuses root, and gives that user the folder.
func serverUser(t *testing.T, folder string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	nobody, err := user.Lookup("nobody")
	must(t, err)
	uid, err := strconv.Atoi(nobody.Uid)
	must(t, err)
	gid, err := strconv.Atoi(nobody.Gid)
	must(t, err)
	must(t, os.Chown(folder, uid, gid))
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// runUntilEnd runs a server until the test ends.
func runUntilEnd(t *testing.T, server *exec.Cmd) {
	t.Helper()
	must(t, server.Start())
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGQUIT)
		timer := time.AfterFunc(10*time.Second, func() { server.Process.Kill() })
		server.Wait()
		timer.Stop()
	})
}

// await waits until a server answers.
func await(t *testing.T, url string) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var conn *pgx.Conn
		if conn, err = pgx.Connect(t.Context(), url); err == nil {
			conn.Close(t.Context())
			return
		}
	}
	t.Fatalf("the server did not start: %v", err)
}

// TestLockUnderFalseClocks checks that the server's clock decides, however
// wrong it is, even if it is set while a lock is held: no work runs twice and
// no owner takes over too early, if the lock is held for longer than the step.
func TestLockUnderFalseClocks(t *testing.T) {
	url, clock := startSkewed(t)
	lockers := make([]*lock.Locker, 2)
	for i := range lockers {
		b := openAt(t, url, DefaultSchema)
		if i == 0 {
			migrate(t, b)
		}
		locker, err := lock.New(b.Locks(), lock.Config{Lease: 2 * time.Second})
		must(t, err)
		lockers[i] = locker
	}
	const step = 5 * time.Minute
	for _, offset := range []time.Duration{step, -step} {
		clock.set(offset)
		t.Run(fmt.Sprint("off by ", offset), func(t *testing.T) { keptToItsEnd(t, lockers) })
	}
	for _, steps := range [][2]time.Duration{{0, step}, {0, -step}, {step, -step}} {
		t.Run(fmt.Sprintf("from %v to %v while held", steps[0], steps[1]), func(t *testing.T) {
			held := heldThroughAStep(t, lockers, clock, steps[0], steps[1])
			must(t, held.Release(t.Context())) // free at once, also after the clock was set back
			next, err := lockers[1].Try(t.Context(), held.Name(), lock.Options{})
			must(t, err)
			if next.Token() <= held.Token() {
				t.Errorf("token %d came after %d", next.Token(), held.Token())
			}
			must(t, next.Release(t.Context()))
		})
		t.Run(fmt.Sprintf("from %v to %v between slots", steps[0], steps[1]), func(t *testing.T) { oncePerInterval(t, lockers, clock, steps[0], steps[1]) })
	}
	t.Run("checked in the default tables", func(t *testing.T) { checkedByDefault(t, url, lockers[0]) })
	t.Run("back after the grant", func(t *testing.T) { releasedAfterAStepBack(t, lockers, clock, step) })
	t.Run("ahead beyond a lease", func(t *testing.T) { clock.set(0); lostByAStep(t, lockers, clock, step) })
}

// keptToItsEnd checks that a lock that is not renewed is free when its time is
// over by any correct clock, not earlier and only slightly later.
func keptToItsEnd(t *testing.T, lockers []*lock.Locker) {
	const atMost = 500 * time.Millisecond
	name := t.Name()
	start := time.Now()
	first, err := lockers[0].Try(t.Context(), name, lock.Options{AtMost: atMost, NoKeepAlive: true})
	must(t, err)
	second, err := lockers[1].Lock(t.Context(), name, lock.Options{Wait: 10 * time.Second})
	must(t, err)
	if took := time.Since(start); took < atMost-20*time.Millisecond || took > 5*time.Second {
		t.Errorf("a lock of %v was taken over after %v", atMost, took)
	}
	if first.Context().Err() == nil || second.Token() <= first.Token() {
		t.Error("the former holder was not told, or has the greater token")
	}
	must(t, second.Release(t.Context()))
}

// heldThroughAStep takes a lock for longer than the step, sets the clock, and
// checks that no other owner gets the lock.
func heldThroughAStep(t *testing.T, lockers []*lock.Locker, clock falseClock, before, after time.Duration) *lock.Lock {
	clock.set(before)
	held, err := lockers[0].Try(t.Context(), t.Name(), lock.Options{AtMost: time.Hour, NoKeepAlive: true})
	must(t, err)
	clock.set(after)
	var refused *lock.HeldError
	if _, err := lockers[1].Try(t.Context(), t.Name(), lock.Options{}); !errors.As(err, &refused) {
		t.Errorf("a lock that is held was taken over: %v", err)
	} else if off := time.Until(refused.Now) - after; off.Abs() > 10*time.Second {
		t.Errorf("the server's clock is off by another %v: it is not the one that was set", off)
	}
	must(t, held.Extend(t.Context(), time.Hour))
	if held.Context().Err() != nil {
		t.Error("the holder was told that its lock is lost")
	}
	return held
}

// releasedAfterAStepBack releases a lock after the clock was set back since the
// grant: the lock is free when its at-least time is over on the holder's own
// clock, not before, and not later by the size of the step.
func releasedAfterAStepBack(t *testing.T, lockers []*lock.Locker, clock falseClock, step time.Duration) {
	const atLeast = 2 * time.Second
	clock.set(0)
	start := time.Now()
	held, err := lockers[0].Try(t.Context(), t.Name(), lock.Options{AtLeast: atLeast, AtMost: time.Hour})
	must(t, err)
	clock.set(-step)
	must(t, held.Release(t.Context()))
	next, err := lockers[1].Lock(t.Context(), t.Name(), lock.Options{Wait: time.Minute})
	must(t, err)
	if took := time.Since(start); took < atLeast-20*time.Millisecond {
		t.Errorf("a lock with an at-least time of %v was free after %v", atLeast, took)
	}
	if next.Token() <= held.Token() {
		t.Errorf("token %d came after %d", next.Token(), held.Token())
	}
	must(t, next.Release(t.Context()))
}

// checkedByDefault checks a lock with the package's Tx and SQLTx, which use the
// default tables.
func checkedByDefault(t *testing.T, url string, locker *lock.Locker) {
	held, err := locker.Try(t.Context(), t.Name(), lock.Options{})
	must(t, err)
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	native, err := conn.Begin(t.Context())
	must(t, err)
	must(t, lock.Check(t.Context(), Tx(native), held.Name(), held.Token()))
	must(t, native.Commit(t.Context()))
	db, err := sql.Open("pgx", url)
	must(t, err)
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	must(t, lock.Check(t.Context(), SQLTx(tx), held.Name(), held.Token()))
	must(t, tx.Commit())
	must(t, held.Release(t.Context()))
}

// oncePerInterval checks that no slot is granted a second time, neither after a
// step of the clock nor when the clock is correct again.
func oncePerInterval(t *testing.T, lockers []*lock.Locker, clock falseClock, before, after time.Duration) {
	clock.set(before)
	opts := lock.Options{Every: time.Hour}
	held, err := lockers[0].Try(t.Context(), t.Name(), opts)
	must(t, err)
	must(t, held.Release(t.Context()))
	for _, offset := range []time.Duration{after, before} {
		clock.set(offset)
		_, err := lockers[1].Try(t.Context(), t.Name(), opts)
		heldAnew := offset < before && errors.Is(err, lock.ErrHeld) // the release came before the step
		if !errors.Is(err, lock.ErrNotDue) && !heldAnew {
			t.Errorf("the slot was given twice, at %v: %v", offset, err)
		}
	}
}

// lostByAStep sets the clock ahead by more than the lease of a lock that is
// kept alive. For the server the lock has expired then. Its holder learns of it
// before the lease is over, and the token of the next grant is greater.
func lostByAStep(t *testing.T, lockers []*lock.Locker, clock falseClock, step time.Duration) {
	held, err := lockers[0].Try(t.Context(), t.Name(), lock.Options{})
	must(t, err)
	clock.set(step)
	next, err := lockers[1].Try(t.Context(), t.Name(), lock.Options{})
	must(t, err)
	select {
	case <-held.Context().Done():
	case <-time.After(5 * time.Second):
		t.Fatal("the former holder was not told")
	}
	if cause := context.Cause(held.Context()); !errors.Is(cause, lock.ErrLost) {
		t.Errorf("the former holder's context ended with %v", cause)
	}
	if next.Token() <= held.Token() {
		t.Errorf("token %d came after %d", next.Token(), held.Token())
	}
	must(t, next.Release(t.Context()))
}
