package sqlite

import (
	"context"
	"embed"
	"fmt"
	"strings"
)

//go:embed sql/locks/*.sql
var lockFiles embed.FS

// readLockTexts reads the statements for a lock table.
func readLockTexts(table string) (map[string]string, error) {
	if table == "" || strings.ContainsRune(table, 0) || strings.HasPrefix(strings.ToLower(table), "sqlite_") {
		return nil, fmt.Errorf("lock table %q: give a name such as shedlock", table)
	}
	entries, err := lockFiles.ReadDir("sql/locks")
	if err != nil {
		return nil, fmt.Errorf("read statements: %w", err)
	}
	// SQLite's clock is read in the same statement that compares it, in
	// milliseconds. Within a statement it does not change.
	const now = "coalesce(:now, CAST(round(unixepoch('subsec') * 1000) AS INTEGER))"
	fill := strings.NewReplacer("{table}", quoteName(table), "{state}", quoteName(table+"_state"), "{now}", now,
		"{inserted}", quoteName(table+"_inserted"), "{updated}", quoteName(table+"_updated"))
	texts := map[string]string{}
	for _, entry := range entries {
		text, err := lockFiles.ReadFile("sql/locks/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read statements: %w", err)
		}
		texts[strings.TrimSuffix(entry.Name(), ".sql")] = strings.TrimSpace(fill.Replace(string(text)))
	}
	return texts, nil
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// TablesSQL returns the SQL that CreateTables runs. A program can run it with
// its own tools instead.
func (l *Locks) TablesSQL() string {
	text, err := migrations.ReadFile("migrations/0003_locks.sql")
	if err != nil {
		panic(err) // the file is part of the program
	}
	return strings.NewReplacer("hourbell_lock_state", quoteName(l.table+"_state"), "hourbell_lock", quoteName(l.table)).Replace(string(text))
}

// CreateTables creates the lock table and its state table if they are missing.
// Several processes may call it concurrently.
func (l *Locks) CreateTables(ctx context.Context) error {
	return l.connected(ctx, "create the lock tables", func(s lockSession) error {
		return s.write(func() error {
			_, err := s.conn.ExecContext(s.ctx, l.TablesSQL())
			return err
		})
	})
}

// TriggerSQL returns triggers for the program's own tools to create. The
// triggers draw a token for each acquisition by a program other than Hourbell;
// Hourbell's owners end in /process/random. Then tokens show the order of all
// grants.
func (l *Locks) TriggerSQL() string { return l.texts["trigger"] }
