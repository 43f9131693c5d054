package postgres

import (
	"embed"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

//go:embed migrations/*.sql
var migrationFiles embed.FS

// statements holds the text of each file in sql/, by its name without ".sql",
// with the schema filled in. Those of claim_jobs.sql and look_behind.sql are there
// twice: as they are under "claim_exact" and "look_behind_exact", and under their
// names without what only claims with Exact need, so that others do not pay for it.
//
// They look rows of job and history up by id = ANY (ARRAY[…]), and sort by id + 0,
// where id = … and id would do: after a vacuum of an emptied table the planner takes
// it for empty, and would rather walk its whole index for the order that it has.
type statements map[string]string

// readStatements reads all of sql/. The files are part of the program, so that
// they cannot be missing.
func readStatements(schema string) statements {
	out := statements{}
	entries, err := sqlFiles.ReadDir("sql")
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		text, err := sqlFiles.ReadFile("sql/" + entry.Name())
		if err != nil {
			panic(err)
		}
		out[strings.TrimSuffix(entry.Name(), ".sql")] = withSchema(string(text), schema)
	}
	for _, v := range []struct{ name, variant, condition string }{
		{"claim_jobs", "claim_exact", "exact"},
		{"look_behind", "look_behind_exact", "exact"},
		{"insert_job", "insert_unique", "unique"},
	} {
		out[v.variant], out[v.name] = out[v.name], withoutLines(out[v.name], "-- if "+v.condition+"\n")
	}
	return out
}

// withoutLines cuts the lines that end so.
func withoutLines(text, end string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, end) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// withSchema fills in {schema}, the quoted name, and {schema_text}, the same
// inside a string literal.
func withSchema(text, schema string) string {
	quoted := pgx.Identifier{schema}.Sanitize()
	return strings.NewReplacer("{schema}", quoted, "{schema_text}", strings.ReplaceAll(quoted, "'", "''")).Replace(text)
}

// q is the text of a statement. Asking for one that is not there is a mistake
// in this package.
func (b *Backend) q(name string) string {
	text, ok := b.sql[name]
	if !ok {
		panic("postgres: no statement " + name)
	}
	return text
}

// readSteps reads the migrations. Each ends by noting that it was applied.
func readSteps(schema string) []store.Migration {
	steps, err := store.ReadMigrations(migrationFiles, "migrations")
	if err != nil {
		panic(err)
	}
	for i := range steps {
		note := fmt.Sprintf("\nINSERT INTO {schema}.migration (version, name) VALUES (%d, '%s');\n", steps[i].Version, steps[i].Name)
		steps[i].SQL = withSchema(steps[i].SQL+note, schema)
	}
	return steps
}
