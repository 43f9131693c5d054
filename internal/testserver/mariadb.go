package testserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// mariadbUser is the account of the servers that StartMariaDB and StartGalera start.
const mariadbUser = "CREATE USER IF NOT EXISTS u@'127.0.0.1' IDENTIFIED BY 'p';\nGRANT ALL ON *.* TO u@'127.0.0.1' " +
	"WITH GRANT OPTION;\nCREATE DATABASE IF NOT EXISTS db;\n"

// StartMariaDB prepares and starts a MariaDB server, with the clock if it is not nil,
// and with further options. It returns the URL of a database for a user with all
// rights. The server is killed at the end of the test. The test is skipped, or fails if
// HOURBELL_TEST_REQUIRE=1, if MariaDB is not installed.
func (s *Server) StartMariaDB(clock *Clock, options ...string) (url string) {
	s.t.Helper()
	program, all, url := s.PrepareMariaDB(options...)
	s.Start(syscall.SIGKILL, clock, program, all...)
	return url
}

// PrepareMariaDB prepares what StartMariaDB starts, in the folder "mariadb" of Data. It returns the server's program
// and its arguments, and the URL of the database.
func (s *Server) PrepareMariaDB(options ...string) (program string, all []string, url string) {
	s.t.Helper()
	program = s.mariadbd()
	data := filepath.Join(s.Data, "mariadb")
	s.prepareMariaDB(data)
	return program, append(s.mariadbOptions(data, s.Port), options...), mariadbURL(s.Port)
}

// prepareMariaDB makes the files of a server in data. A server that starts removes all temporary tables in the folder of
// temporary files, also of other servers, so each server has its own folder.
func (s *Server) prepareMariaDB(data string) {
	s.t.Helper()
	s.Prepare("mkdir", data+temporary)
	s.Prepare("mariadb-install-db", "--no-defaults", "--datadir="+data, "--tmpdir="+data+temporary, "--skip-test-db", "--skip-name-resolve")
}

// temporary is what follows the path of a server's data in the path of its temporary files.
const temporary = ".tmp"

// mariadbd returns the path of the server.
func (s *Server) mariadbd() string {
	s.t.Helper()
	// mariadbd is in a folder that only root's PATH contains.
	for _, name := range []string{"mariadbd", "/usr/sbin/mariadbd"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	Missing(s.t, "MariaDB is not installed")
	return ""
}

// mariadbOptions returns the options of a server that has its files in data. The
// option --no-defaults has to be the first.
func (s *Server) mariadbOptions(data string, port int) []string {
	s.t.Helper()
	users := filepath.Join(s.Folder, "init.sql")
	s.must(os.WriteFile(users, []byte(mariadbUser), 0o644)) //nolint:gosec // the server's user reads it
	return []string{
		"--no-defaults", "--datadir=" + data, "--tmpdir=" + data + temporary, "--socket=" + filepath.Join(data, "socket"), "--pid-file=" + filepath.Join(data, "pid"),
		"--bind-address=127.0.0.1", fmt.Sprint("--port=", port), "--skip-name-resolve", "--init-file=" + users,
		"--innodb-flush-log-at-trx-commit=0",
	}
}

func mariadbURL(port int) string { return fmt.Sprintf("mysql://u:p@127.0.0.1:%d/db", port) }
