package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// server is what differs between servers. All that is decided by it is in this file.
type server struct {
	mariaDB      bool
	major, minor int
	patch        int
	galera       bool // a node of a Galera cluster
	packet       int  // the size of the longest message that it accepts
}

// sqlMode is the sql_mode of the Backend's own connections: values that do not fit are errors, and
// tables are in InnoDB or not at all.
const sqlMode = "STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// collation compares texts by their bytes, also spaces at their ends.
func (v variant) collation() string {
	if v.mariaDB {
		return "utf8mb4_nopad_bin"
	}
	return "utf8mb4_0900_bin"
}

// versionPattern matches the beginning of what VERSION() returns.
var versionPattern = regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)`)

// parseVersion reads the version of a server.
func parseVersion(version string) (s server, err error) {
	s.mariaDB = strings.Contains(strings.ToLower(version), "mariadb")
	version = strings.TrimPrefix(version, "5.5.5-") // an old prefix of MariaDB
	parts := versionPattern.FindStringSubmatch(version)
	if parts == nil {
		return s, fmt.Errorf("the server's version %q is not known: use MySQL 8.0.21 or later, or MariaDB 10.6 or later", version)
	}
	s.major, _ = strconv.Atoi(parts[1])
	s.minor, _ = strconv.Atoi(parts[2])
	s.patch, _ = strconv.Atoi(parts[3])
	switch {
	case s.mariaDB && !s.atLeast(10, 6, 0):
		return s, fmt.Errorf("the server is MariaDB %s: use MariaDB 10.6 or later, which can leave out locked rows", parts[0])
	case !s.mariaDB && !s.atLeast(8, 0, 21):
		return s, fmt.Errorf("the server is MySQL %s: use MySQL 8.0.21 or later", parts[0])
	}
	return s, nil
}

// atLeast reports whether the server has this version or a later version.
func (s server) atLeast(major, minor, patch int) bool {
	if s.major != major {
		return s.major > major
	}
	if s.minor != minor {
		return s.minor > minor
	}
	return s.patch >= patch
}

// probe reads what the server and the connections are like, and returns an error with the
// remedy if they do not fit. It changes nothing.
func probe(ctx context.Context, db *sql.DB) (s server, database string, err error) {
	var version, mode string
	var autocommit bool
	var packet int
	var logs bool
	var format string
	var client, connection, results, completion string
	var limit uint64
	var safe bool
	err = db.QueryRowContext(ctx, "SELECT VERSION(), COALESCE(DATABASE(), ''), @@autocommit, @@sql_mode, "+
		"@@max_allowed_packet, @@GLOBAL.log_bin, @@SESSION.binlog_format, "+
		"@@character_set_client, @@character_set_connection, COALESCE(@@character_set_results, 'NULL'), @@completion_type, @@sql_select_limit, @@sql_safe_updates").
		Scan(&version, &database, &autocommit, &mode, &packet, &logs, &format, &client, &connection, &results, &completion, &limit, &safe)
	if err != nil {
		return s, "", err
	}
	if s, err = parseVersion(version); err != nil {
		return s, "", err
	}
	s.packet = packet
	switch {
	case database == "":
		return s, "", fmt.Errorf("the connections have no database: name one in the URL or DSN")
	case !autocommit:
		return s, "", fmt.Errorf("the connections have autocommit=0: leave that parameter out of the DSN")
	case !strings.Contains(mode, "STRICT_"):
		return s, "", fmt.Errorf("the connections' sql_mode %q is not strict, so that values would be cut without an error: "+
			"add STRICT_TRANS_TABLES to it, in the DSN or on the server", mode)
	case client != "utf8mb4" || connection != "utf8mb4" || results != "utf8mb4":
		return s, "", fmt.Errorf("the connections have the character sets %s (client), %s (connection) and %s (results), in "+
			"which texts would lose characters: write charset=utf8mb4 into the DSN", client, connection, results)
	case completion != "NO_CHAIN":
		return s, "", fmt.Errorf("the connections have completion_type=%s, so that the server does more at the end of a "+
			"transaction than to end it: write completion_type=0 into the DSN", completion)
	case limit < math.MaxUint32:
		return s, "", fmt.Errorf("the connections have sql_select_limit=%d, so that answers would lack rows: write "+
			"sql_select_limit=%d into the DSN", limit, uint64(math.MaxUint64))
	case safe:
		return s, "", fmt.Errorf("the connections have sql_safe_updates=1, with which the server refuses statements of " +
			"Hourbell: write sql_safe_updates=0 into the DSN")
	}
	if logs && format == "STATEMENT" {
		return s, "", fmt.Errorf("the server's binlog_format is STATEMENT, with which it refuses what READ COMMITTED " +
			"transactions write: set binlog_format to ROW or MIXED")
	}
	s.galera, err = inGalera(ctx, db)
	return s, database, err
}

// inGalera reports whether the server is a node of a Galera cluster.
func inGalera(ctx context.Context, db conn) (galera bool, err error) {
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'") //nolint:rowserrcheck // EachRow returns rows.Err
	err = sqlrows.EachRow(rows, err, func(r row) error {
		var name, on string
		err := r.Scan(&name, &on)
		galera = on == "ON"
		return err
	})
	return galera, err
}

// tableOptions are at the end of each CREATE TABLE.
func (s server) tableOptions() string {
	return "ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE " + variant{mariaDB: s.mariaDB}.collation()
}

// bounded returns a SELECT that the server gives up after a while.
func (s server) bounded(text string, within time.Duration) string {
	millis := max(within.Milliseconds(), 1)
	if s.mariaDB {
		return fmt.Sprintf("SET STATEMENT max_statement_time = %d.%03d FOR %s", millis/1000, millis%1000, text)
	}
	return strings.Replace(text, "SELECT", fmt.Sprintf("SELECT /*+ MAX_EXECUTION_TIME(%d) */", millis), 1)
}
