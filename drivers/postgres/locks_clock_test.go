package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
)

// startServer starts a server with further settings, and with the clock if it is
// not nil, until the test ends.
func startServer(t *testing.T, s *testserver.Server, clock *testserver.Clock, settings ...string) (url string) {
	t.Helper()
	bin, err := exec.Command("../../scripts/postgres-bin").Output()
	if err != nil {
		testserver.Missing(t, "PostgreSQL is not installed")
	}
	program := func(name string) string { return filepath.Join(strings.TrimSpace(string(bin)), name) }
	s.Prepare(program("initdb"), "--pgdata="+s.Data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")
	args := []string{"-D", s.Data, "-p", fmt.Sprint(s.Port)}
	for _, setting := range append([]string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"}, settings...) {
		args = append(args, "-c", setting)
	}
	s.Start(syscall.SIGQUIT, clock, program("postgres"), args...)
	url = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.Port)
	awaitThat(t, "the server to accept connections", func() bool {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			conn.Close(t.Context())
		}
		return err == nil
	})
	return url
}

func TestLockUnderFalseClocks(t *testing.T) {
	t.Parallel()
	server := testserver.New(t)
	clock := server.NewClock()
	url := startServer(t, server, clock, "autovacuum=off")
	var providers [2]lock.Provider
	for i := range providers {
		b := openAt(t, url, DefaultSchema)
		migrate(t, b)
		providers[i] = b.Locks()
	}
	locktest.RunFalseClock(t, providers, clock.Set)
	clock.Set(0)
	locker, err := lock.New(providers[0], lock.Config{})
	must(t, err)
	checkedByDefault(t, url, locker)
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
