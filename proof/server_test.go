package proof

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/internal/testserver"
)

// server is a database server of the test's own, which can be stopped and put back.
type server struct {
	*testserver.Server
	t     *testing.T
	url   string
	data  string            // the name of the folder of its files
	clock *testserver.Clock // nil: the clock of this machine
	// command makes the command that runs the server.
	command func() *exec.Cmd
	// answers reports whether the server answers.
	answers func(ctx context.Context) bool
	fast    syscall.Signal // stops the server, and cuts clients off
	abrupt  syscall.Signal // ends the server as a crash does: it recovers from its log
	cmd     *exec.Cmd
}

// newServer prepares a server of a kind.
func newServer(t *testing.T, kind string) *server {
	t.Helper()
	s := &server{Server: testserver.New(t), t: t}
	if kind == inMySQL {
		s.prepareMariaDB()
	} else {
		s.preparePostgres()
	}
	t.Cleanup(s.stop)
	return s
}

func (s *server) preparePostgres() {
	s.t.Helper()
	bin, err := exec.Command("../scripts/postgres-bin").Output()
	if err != nil {
		testserver.Missing(s.t, "PostgreSQL is not installed")
	}
	program := func(name string) string { return filepath.Join(strings.TrimSpace(string(bin)), name) }
	s.data, s.fast, s.abrupt = "postgres", syscall.SIGINT, syscall.SIGQUIT
	s.Prepare(program("initdb"), "--pgdata="+s.data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")
	s.url = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.Port)
	s.command = func() *exec.Cmd {
		return s.Command(s.clock, program("postgres"), "-D", s.data, "-p", strconv.Itoa(s.Port),
			"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off")
	}
	s.answers = func(ctx context.Context) bool {
		conn, err := pgx.Connect(ctx, s.url)
		if err == nil {
			conn.Close(ctx)
		}
		return err == nil
	}
}

func (s *server) prepareMariaDB() {
	s.t.Helper()
	program, args, at := s.PrepareMariaDB("--innodb-flush-log-at-trx-commit=2") // what is committed survives the end of the process
	s.url, s.data, s.fast, s.abrupt = at, "mariadb", syscall.SIGTERM, syscall.SIGKILL
	s.command = func() *exec.Cmd { return s.Command(s.clock, program, args...) }
	s.answers = func(ctx context.Context) bool {
		db, err := openMySQL(s.url)
		if err != nil {
			return false
		}
		defer db.Close()
		return db.PingContext(ctx) == nil
	}
}

// start starts the server and waits until it answers.
func (s *server) start() {
	s.t.Helper()
	s.cmd = s.command()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	until(s.t, 30*time.Second, "the server to answer", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return s.answers(ctx)
	})
}

// stop stops the server as an operator does; clients are cut off.
func (s *server) stop() { s.end(s.fast) }

// crash ends the server without the work of an orderly end.
func (s *server) crash() { s.end(s.abrupt) }

func (s *server) end(signal os.Signal) {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(signal)
	timer := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait()
	timer.Stop()
	s.cmd = nil
}

// store returns the URL of an empty store for a ledger.
func (s *server) store(t *testing.T) string {
	t.Helper()
	if kindOf(s.url) == inPostgres {
		return withParameter(t, s.url, "schema", "proof")
	}
	return s.url
}

// copyTo and restore copy the folder of a server that is stopped.
func (s *server) copyTo(name string) { s.t.Helper(); s.Prepare("cp", "-a", s.data, name) }

func (s *server) restore(name string) {
	s.t.Helper()
	s.Prepare("mv", s.data, "lost")
	s.Prepare("cp", "-a", name, s.data)
}
