// Package testserver helps tests that start a database server of their own, also
// with a clock that can be set. It is used by tests only.
package testserver

import (
	"context"
	"errors"
	"math/rand/v2"
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
)

// Server is a server that is to be started: a folder, and what has to run in it.
type Server struct {
	// Folder is removed after the test. Data is a folder in it, which belongs to
	// the server's user.
	Folder, Data string
	// Port is free on 127.0.0.1.
	Port int

	t          testing.TB
	credential *syscall.SysProcAttr
}

// New makes the folders of a server. If the test is run by root, the server runs
// as another user, because database servers refuse root. With -short the test is skipped.
func New(t testing.TB) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := &Server{Folder: t.TempDir(), t: t}
	s.must(os.Chmod(filepath.Dir(s.Folder), 0o755)) //nolint:gosec // the server's user has to reach its folder
	s.Data = filepath.Join(s.Folder, "data")
	s.must(os.Mkdir(s.Data, 0o700))
	if os.Getuid() == 0 {
		other, err := user.Lookup("nobody")
		s.must(err)
		uid, err := strconv.Atoi(other.Uid)
		s.must(err)
		gid, err := strconv.Atoi(other.Gid)
		s.must(err)
		s.must(os.Chown(s.Data, uid, gid))
		s.credential = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	s.Port = freePort(s)
	return s
}

// freePort returns a port that is free on 127.0.0.1, below the range that systems use for outgoing connections: such a
// connection could take the port of a server that was killed and is to start again.
func freePort(s *Server) int {
	s.t.Helper()
	for {
		port := 20_000 + rand.IntN(12_000)
		listener, err := new(net.ListenConfig).Listen(s.t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		s.must(err)
		s.must(listener.Close())
		return port
	}
}

func (s *Server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// Command returns a command that runs a program in Data, as the server's user, with
// the clock if it is not nil. The end of the test does not end it.
func (s *Server) Command(clock *Clock, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(s.t.Context()), program, args...) // a signal ends it
	cmd.Dir, cmd.SysProcAttr = s.Data, s.credential
	if clock != nil {
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+clock.library, "FAKETIME_TIMESTAMP_FILE="+clock.file,
			"FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_RESET=1")
	}
	return cmd
}

// Prepare runs a program that prepares Data.
func (s *Server) Prepare(program string, args ...string) {
	s.t.Helper()
	if out, err := s.Command(nil, program, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// Start starts the server, with the clock if it is not nil, and waits until it
// listens. The test's end sends the signal, which must end the server at once.
func (s *Server) Start(signal os.Signal, clock *Clock, program string, args ...string) {
	s.t.Helper()
	server := s.Command(clock, program, args...)
	log := s.logTo(server, "server.log")
	s.must(server.Start())
	s.t.Cleanup(func() {
		_ = server.Process.Signal(signal) // it may have ended
		timer := time.AfterFunc(10*time.Second, func() { _ = server.Process.Kill() })
		_ = server.Wait() // the signal is its error
		timer.Stop()
	})
	s.awaitPort(s.Port, startLimit, log)
}

// startLimit is how long a server may take to listen.
const startLimit = 30 * time.Second

// logTo has a server write what it prints to a file in Folder, and returns the file's path.
func (s *Server) logTo(server *exec.Cmd, name string) string {
	s.t.Helper()
	log, err := os.Create(filepath.Join(s.Folder, name))
	s.must(err)
	s.t.Cleanup(func() { _ = log.Close() }) // the server writes to a copy
	server.Stdout, server.Stderr = log, log
	return log.Name()
}

// awaitPort waits until a server listens. After a limit it fails the test, with the end of the server's log.
func (s *Server) awaitPort(port int, limit time.Duration, log string) {
	s.t.Helper()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if conn, err := new(net.Dialer).DialContext(s.t.Context(), "tcp", address); err == nil {
			conn.Close()
			return
		}
	}
	text, err := os.ReadFile(log)
	s.must(err)
	s.t.Fatalf("the server did not start; the end of its log:\n%s", text[max(0, len(text)-4000):])
}

// Clock is the clock of a server that is started under libfaketime.
type Clock struct {
	t             testing.TB
	library, file string
}

// NewClock makes a clock that shows the right time. The test is skipped, or fails
// if HOURBELL_TEST_REQUIRE=1, if libfaketime is not installed.
func (s *Server) NewClock() *Clock {
	s.t.Helper()
	found, err := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1") // for programs with several threads
	s.must(err)
	if len(found) == 0 {
		Missing(s.t, "faketime is not installed")
	}
	c := &Clock{s.t, found[0], filepath.Join(s.Folder, "clock")}
	c.Set(0)
	return c
}

// Set makes the clock differ from this machine's clock by an offset in whole
// seconds.
func (c *Clock) Set(offset time.Duration) {
	c.t.Helper()
	text := strconv.Itoa(int(offset.Seconds()))
	if !strings.HasPrefix(text, "-") {
		text = "+" + text
	}
	err := os.WriteFile(c.file+".new", []byte(text), 0o644) //nolint:gosec // the server's user reads it
	if err == nil {
		err = os.Rename(c.file+".new", c.file)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// Missing skips a test, or fails it if HOURBELL_TEST_REQUIRE=1, because what it
// needs is missing.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("HOURBELL_TEST_REQUIRE") == "1" {
		t.Fatalf("%s, and HOURBELL_TEST_REQUIRE=1 asks for this test", what)
	}
	t.Skip(what)
}

// URL returns the URL of a running server from the environment; see Missing.
func URL(t testing.TB, variable string) string {
	t.Helper()
	url := os.Getenv(variable)
	if url == "" {
		Missing(t, variable+" is not set; this test needs that server")
	}
	return url
}
