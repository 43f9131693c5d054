package sqlite

import (
	"embed"
	"io/fs"
	"strings"
	"time"

	"github.com/hourbell/hourbell/lock/locksql"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

//go:embed sql/locks/*.sql
var lockFiles embed.FS

// lockDialect describes SQLite to locksql. The types of columns do not matter,
// because a column takes values of every type.
func lockDialect() *locksql.Dialect {
	files, err := fs.Sub(lockFiles, "sql/locks")
	if err != nil {
		panic(err) // the files are part of the program
	}
	return &locksql.Dialect{
		Files: files, Table: "hourbell_lock", Migrated: true,
		Fits:        func(_, table string) bool { return !strings.HasPrefix(strings.ToLower(table), "sqlite_") },
		TableAdvice: "give a name such as shedlock",
		Quote:       func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` },
		Instant:     func(t time.Time) any { return t.UnixMilli() },
		Array:       func(names []string) any { return sqlrows.JSONList(names) },
		Tick:        time.Millisecond, TimeAdvice: "let the other programs write milliseconds (date_class=INTEGER in Java's driver)",
		CollationAdvice: "BINARY", LookFirst: true,
		Macros: func(_, _ locksql.Column) map[string]locksql.Macro {
			// SQLite's clock is read in the same statement that compares it, in
			// milliseconds. Within a statement it does not change.
			return map[string]locksql.Macro{
				"now": func(string) string { return "coalesce(:now, CAST(round(unixepoch('subsec') * 1000) AS INTEGER))" },
			}
		},
		Class:   lockClass,
		Waited:  "waited for the pool, or for another writer; look for a transaction left open",
		Explain: explain,
	}
}

// lockClass returns the class of an error.
func lockClass(err error) locksql.Class {
	switch {
	case isBusy(err):
		return locksql.Busy
	case codeOf(err) == 1 && strings.Contains(err.Error(), "no such table: "):
		return locksql.Changed
	}
	return locksql.Other
}
