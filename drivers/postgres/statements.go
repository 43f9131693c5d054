package postgres

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

//go:embed migrations/*.sql
var migrationFiles embed.FS

// statements holds the text of each file in sql/, by its name without ".sql",
// with the schema filled in. The texts of claim_jobs.sql and find_behind_cursors.sql
// have variants, each without the lines that only other variants need: under
// their names, under "claim_exact_jobs" and "find_exact_behind_cursors" for claims with
// Exact, and under "claim_suspects" and "claim_exact_suspects" for claims of
// suspects.
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
	for _, v := range []struct {
		name, variant string
		conditions    []string
	}{
		{"claim_jobs", "claim_suspects", []string{"suspects"}},
		{"claim_jobs", "claim_exact_suspects", []string{"suspects", "exact"}},
		{"claim_jobs", "claim_exact_jobs", []string{"plain", "exact"}},
		{"claim_jobs", "claim_jobs", []string{"plain"}},
		{"find_behind_cursors", "find_exact_behind_cursors", []string{"exact"}},
		{"find_behind_cursors", "find_behind_cursors", nil},
		{"insert_job", "insert_unique_job", []string{"unique"}},
		{"insert_job", "insert_job", nil},
	} {
		out[v.variant] = pick(out[v.name], v.conditions...)
	}
	return out
}

// pick returns a text without the conditional lines, which end in "-- if NAME",
// whose name is not among given.
func pick(text string, given ...string) string {
	var lines []string
	for line := range strings.Lines(text) {
		_, condition, found := strings.Cut(strings.TrimSuffix(line, "\n"), "-- if ")
		if !found || slices.Contains(given, condition) {
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
