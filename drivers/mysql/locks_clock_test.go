package mysql

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/locktest"
)

func TestLockUnderFalseClocks(t *testing.T) {
	server := testserver.New(t)
	clock := server.NewClock()
	// mariadbd is in a folder that only root's PATH contains.
	program, err := exec.LookPath("mariadbd")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/mariadbd"); err != nil {
			testserver.Missing(t, "MariaDB is not installed")
		}
	}
	server.Prepare("mariadb-install-db", "--no-defaults", "--datadir="+server.Data, "--skip-test-db", "--skip-name-resolve")
	users := filepath.Join(server.Folder, "init.sql")
	must(t, os.WriteFile(users, []byte("CREATE USER u@'127.0.0.1' IDENTIFIED BY 'p';\nGRANT ALL ON *.* TO u@'127.0.0.1';\nCREATE DATABASE db;\n"), 0o644))
	server.Start(syscall.SIGKILL, clock, program, "--no-defaults", "--datadir="+server.Data, "--socket="+filepath.Join(server.Data, "socket"),
		"--pid-file="+filepath.Join(server.Data, "pid"), "--bind-address=127.0.0.1", fmt.Sprint("--port=", server.Port), "--skip-name-resolve",
		"--init-file="+users, "--innodb-flush-log-at-trx-commit=0")
	var providers [2]lock.Provider
	for i := range providers {
		locks := NewLocks(openDB(t, fmt.Sprintf("mysql://u:p@127.0.0.1:%d/db", server.Port)))
		must(t, locks.CreateTables(t.Context()))
		providers[i] = locks
	}
	locktest.RunFalseClock(t, providers, clock.Set)
}
