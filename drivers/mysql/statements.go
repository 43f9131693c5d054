package mysql

import (
	"embed"
	"strconv"
	"strings"
	"sync"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
	"github.com/hourbell/hourbell/store/sqltext"
)

//go:generate go run github.com/hourbell/hourbell/store/sqltext/declare

//go:embed sql/*.sql sql/macros/*.sql
var sqlFiles embed.FS

// statement is one of the SQL statements that the driver sends. Each has a file in
// sql/; a file whose lines depend on conditions has several statements.
type statement = sqlrows.Statement

// text is the text of a statement.
type text struct {
	sqlrows.Text
	pieces []sqltext.Piece // of the text; nil for a listing, whose lines each call picks
	rows   *rowsText       // of a statement that inserts rows
}

// texts holds the text of each statement.
type texts []text

// variant is what the texts of statements depend on.
type variant struct {
	mariaDB bool
	callers bool // they run in a transaction of the program
}

// readTexts are the texts that were read, by variant. The texts are the same for all servers of a kind, so a process reads
// them once.
var (
	readMu    sync.Mutex
	readTexts = map[variant]texts{}
)

// textsFor returns the text of each statement.
func textsFor(v variant) (texts, error) {
	readMu.Lock()
	defer readMu.Unlock()
	if ready := readTexts[v]; ready != nil {
		return ready, nil
	}
	all, err := v.read()
	if err == nil {
		readTexts[v] = all
	}
	return all, err
}

// rules complete the files in sql/. Besides the words of package store there are
//
//   - {at(X)}: the instant X, which is a number of microseconds since 1970, as DATETIME(6).
//   - {micros(X)}: the way back. Instants are numbers between the driver and the server, so
//     that neither the time zone of the session nor settings of a program's connections matter.
//   - {started(X)}: when the last attempt of a live job began, from its column X: NULL for the instant that means none.
//   - {schedule_columns}: the columns of a schedule; instants are numbers.
//   - {rare_columns}: see rareColumns.
//   - {bin}: the collation that compares by bytes, also spaces at the end.
//   - {share}: at the end of a statement that only finds rows, by which the caller decides. In
//     a program's transaction, which may see an old snapshot, it makes the statement read, and lock,
//     the newest rows.
//   - {node_name}: the name of the node of job j, for an insert of selected rows. In a program's transaction
//     such a statement would lock the node, so there the caller passes the name in row o; see session.nodeNames.
func (v variant) rules() sqltext.Rules {
	words := store.OriginWords()
	words["bin"] = v.collation()
	words["share"], words["node_name"] = "", "COALESCE((SELECT n.name FROM hourbell_node AS n WHERE n.id = j.node), _utf8mb4'')"
	words["returning_at"] = ""
	if v.mariaDB {
		words["returning_at"] = "RETURNING " + macros["micros"]("at") + " AS at"
	}
	if v.callers {
		words["share"], words["node_name"] = "LOCK IN SHARE MODE", "COALESCE(o.node_name, _utf8mb4'')"
	}
	lists := sqlrows.Lists()
	lists["rare_columns"] = rareColumns
	return sqltext.Rules{Words: words, Lists: lists}
}

// included is {statement(F)}: the statement of the file F, without the lines that have conditions.
var included = map[string]func(string) string{
	"statement": func(file string) string {
		text, err := sqlFiles.ReadFile("sql/" + file + ".sql")
		if err != nil {
			return "{no file " + file + "}" // braces without a rule are an error
		}
		var lines []string
		for line := range strings.Lines(sqltext.Pick(string(text))) {
			if !strings.HasPrefix(line, "--") {
				lines = append(lines, line)
			}
		}
		return strings.TrimSpace(strings.Join(lines, ""))
	},
}

// macros are {at(X)}, {micros(X)}, {started(X)}, {schedule_columns}, {limit_columns}, {claimable(J)}: the job J is due, and of a kind that the
// claim takes, or exact; and {each_priority(SELECT …)}: the rows of that SELECT for each priority, which it names PRIORITY. A
// priority from a row would not let the server read in the order of an index.
var macros = map[string]func(string) string{
	"schedule_columns": func(string) string { return scheduleSelect },
	"at": func(x string) string {
		return "(TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL (" + x + ") MICROSECOND)"
	},
	"micros": func(x string) string {
		return "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00.000000', " + x + ")"
	},
	"started": func(x string) string { // NULLIF of MySQL loses microseconds
		return "CASE WHEN " + x + " <> TIMESTAMP'1970-01-01 00:00:00.000000' THEN " + x + " END"
	},
	"each_priority": func(query string) string {
		var all []string
		for priority := 1; priority <= 9; priority++ {
			all = append(all, "("+strings.ReplaceAll(query, "PRIORITY", strconv.Itoa(priority))+")")
		}
		return strings.Join(all, " UNION ALL ")
	},
	"limit_columns": func(string) string { return limitSelect },
	"claimable": func(job string) string {
		return strings.ReplaceAll("(j.queue = :queue AND j.state = 0 AND j.run_at <= {at(:now)} AND (j.kind IN (:kinds) "+
			"OR j.kind IN (:exact_kinds) AND CONCAT(LOWER(SHA2(j.args, 256)), j.kind) IN (:exact)))", "j.", job+".")
	},
}

// read reads the text of each statement. Comments are left out.
func (v variant) read() (texts, error) {
	read, err := sources.Read(sqlFiles, v.rules(), func(sql string) string { return sqltext.Expand(sqltext.Expand(sql, included), macros) })
	if err != nil {
		return nil, err
	}
	all := make(texts, len(read))
	for s, one := range read {
		all[s].Text = one
		if !sources[s].Lists {
			all[s].pieces, all[s].rows = sqltext.Pieces(one.SQL), readRows(one.SQL, nil)
		}
	}
	all[insertJobs].rows = readRows(all[insertJobs].SQL, usualJob)
	return all, nil
}
