package postgres

import (
	"embed"
	"fmt"
	"maps"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/sqltext"
)

//go:generate go run github.com/hourbell/hourbell/store/sqltext/declare

//go:embed sql/*.sql
var sqlFiles embed.FS

//go:embed migrations/*.sql
var migrationFiles embed.FS

// statement is one of the SQL statements that the driver sends. Each has a file in
// sql/; a file whose lines depend on conditions has several statements.
//
// They look rows of job and history up by id = ANY (ARRAY[…]), and sort by id + 0,
// where id = … and id would do: after a vacuum of an emptied table the planner takes
// it for empty, and would rather walk its whole index for the order that it has.
type statement uint16

// source is where the text of a statement comes from, and what its callers agree on
// with it. Names are separated by spaces.
type source struct {
	file    string // in sql/, without ".sql"
	given   string // the conditions whose lines belong to the statement
	params  string // the parameters, in the order in which callers pass them
	columns string // the columns, in the order in which callers scan them
}

// texts holds the text of each statement, with the schema and the numbers of the
// parameters filled in.
type texts [statementCount]string

// readTexts reads the text of each statement; see package sqltext for what the files
// may have besides SQL.
func readTexts(schema string) (all texts, err error) {
	rules := rulesOf(schema)
	for s, from := range sources {
		text, err := sqlFiles.ReadFile("sql/" + from.file + ".sql")
		if err != nil {
			return all, fmt.Errorf("read statements: %w", err)
		}
		all[s], err = rules.Complete(string(text), strings.Fields(from.given)...)
		if err == nil {
			all[s], err = sqltext.Number(all[s], rules.Names(from.params))
		}
		if err != nil {
			return all, fmt.Errorf("read statement %v: %w", statement(s), err)
		}
	}
	return all, nil
}

// String returns the name of the statement's file, and its conditions.
func (s statement) String() string {
	return strings.TrimSpace(sources[s].file + " " + sources[s].given)
}

// q returns the text of a statement.
func (b *Backend) q(s statement) string { return b.sql[s] }

// rulesOf returns the rules for the texts of statements.
func rulesOf(schema string) sqltext.Rules {
	lists := specLists()
	lists["schedule_columns"], lists["limit_columns"] = scheduleList, limitList
	words := schemaWords(schema)
	maps.Copy(words, store.OriginWords())
	return sqltext.Rules{Words: words, Macros: macros, Lists: lists}
}

// macros are parts that several statements have: {in_queue(queue, name)}, for example.
var macros = map[string]string{
	// store.InQueue: a queue, and the name of a queue.
	"in_queue": `($1 = $2 OR starts_with($1, $2 || '@'))`,
	// Limit.Matches: the queue, the kind and by_key of a limit, and a job.
	"in_scope": `($1 = '' OR {in_queue($4.queue, $1)}) AND $2 IN ('', $4.kind) AND (NOT $3 OR $4.job_key IS NOT NULL)`,
	// Pause.Concerns: the subject and the name of a pause, and a job.
	"concerns": `CASE $1 WHEN 0 THEN $3.group_name = $2 WHEN 1 THEN {in_queue($3.queue, $2)} WHEN 2 THEN $3.kind = $2 ELSE $3.job_key = $2 END`,
	// A pause that is active concerns a job. Claims compare in other ways, because they look at many jobs.
	"paused": `EXISTS (SELECT FROM {schema}.pause AS p WHERE coalesce(p.until > coalesce(:now::timestamptz, now()), true) AND {concerns(p.subject, p.name, $1)})`,
	// A claim may take a job, which is ready and due: its kind is among :kinds, or its kind and the digest of its args are among given
	// pairs, and no pause concerns its kind, group or key. Each kind of the pairs is also given once in :exact_kinds, so that only jobs of these
	// kinds are digested.
	"claimable": `NOT $1.running AND ($1.kind = ANY (:kinds::text[])
		OR $1.kind = ANY (:exact_kinds::text[]) AND ($1.kind, sha256(convert_to($1.args, 'UTF8'))) IN (
			SELECT e.kind, e.digest FROM unnest(:exact_jobs::text[], :exact_digests::bytea[]) AS e (kind, digest)))
		AND $1.kind <> ALL (ARRAY(SELECT p.name FROM {schema}.pause AS p WHERE p.subject = 2 AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))
		AND ($1.group_name IS NULL OR NOT EXISTS (SELECT FROM {schema}.pause AS p
			WHERE p.subject = 0 AND p.name = $1.group_name AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))
		AND ($1.job_key IS NULL OR NOT EXISTS (SELECT FROM {schema}.pause AS p
			WHERE p.subject = 3 AND p.name = $1.job_key AND coalesce(p.until > coalesce(:now::timestamptz, now()), true)))`,
	// A finished job holds no key, has no live job in its batch, and is no predecessor of a live job.
	"deletable": `(NOT EXISTS (SELECT FROM {schema}.key_hold AS u WHERE u.job_id = $1.id AND u.until > coalesce(:now::timestamptz, now()) OFFSET 0)
		AND NOT ($1.batch IS NOT NULL AND EXISTS (SELECT FROM {schema}.job AS b WHERE b.batch = $1.batch OFFSET 0))
		AND NOT ($1.releases AND EXISTS (SELECT FROM {schema}.edge AS e, LATERAL (
			SELECT FROM {schema}.job AS d WHERE d.id = ANY (ARRAY[e.job_id]) OFFSET 0) AS d WHERE e.on_id = $1.id OFFSET 0)))`,
	// A job waits for a step: its number, and its snoozes.
	"waits": `(coalesce($2, 0) > 0 AND EXISTS (SELECT FROM {schema}.step AS w WHERE w.job_id = $1 AND w.waits))`,
	// A live job does not run, and is due at an instant; NULL: now.
	"due": `(state <= 0 AND NOT running AND run_at <= coalesce($1, now()))`,
	// The columns that count live jobs by what they do at an instant; NULL: now.
	"live_counts": `count(*) FILTER (WHERE {due($1)}) AS ready, count(*) FILTER (WHERE state <= 0 AND NOT running AND run_at > coalesce($1, now())) AS scheduled,
		count(*) FILTER (WHERE running) AS running, count(*) FILTER (WHERE state = 1) AS waiting`,
	// A count by samples. span: the first number of the rows of a table, and how many numbers there are from it to the last. samples:
	// :shares ranges of numbers, spread evenly, of at most :numbers numbers each. part: the share of all numbers in the samples.
	"span": `SELECT min(id) AS first, max(id) - min(id) + 1 AS numbers FROM {schema}.$1`,
	"samples": `SELECT r.first + r.numbers * s / :shares::bigint AS from_id,
		r.first + least(r.numbers * s / :shares + :numbers::bigint, r.numbers * (s + 1) / :shares) AS to_id
		FROM $1 AS r, generate_series(0, :shares - 1) AS s`,
	"part": `(SELECT sum(s.to_id - s.from_id)::float8 FROM $1 AS s) / (SELECT r.numbers FROM $2 AS r)`,
	// The numbers of the jobs whose newest attempt with an error has a text in it, between two numbers; NULL: no bound.
	"with_error": `SELECT a.job_id FROM {schema}.attempt AS a WHERE strpos(a.error, $1) > 0
		AND ($2::bigint IS NULL OR a.job_id > $2) AND ($3::bigint IS NULL OR a.job_id < $3)
		AND NOT EXISTS (SELECT FROM {schema}.attempt AS n WHERE n.job_id = a.job_id AND n.token > a.token AND n.error <> '')`,
	// The same of one job, by its number.
	"has_error": `strpos((SELECT a.error FROM {schema}.attempt AS a WHERE a.job_id = $1 AND a.error <> '' ORDER BY a.token DESC LIMIT 1), $2) > 0`,
	// Schedule.IsOrIsMadeFrom: the number of a schedule, and a name. The schedules of hosts have the name and @ as prefix.
	"job_state": `coalesce((SELECT h.state FROM {schema}.history AS h WHERE h.id = $1), ` +
		`(SELECT CASE WHEN j.running THEN 2 ELSE greatest(j.state, 0) END FROM {schema}.job AS j WHERE j.id = $1), -1)`,
	"is_or_is_made_from": `$1 = ANY (ARRAY(SELECT id FROM {schema}.schedule ` +
		`WHERE name = $2 OR owner = 'every:' || $2 AND name >= $2 || '@' AND name < $2 || 'A'))`,
}

// schemaWords are what statements and migrations have in braces: {schema}, the quoted
// name, and {schema_text}, the same inside a string literal.
func schemaWords(schema string) map[string]string {
	quoted := pgx.Identifier{schema}.Sanitize()
	return map[string]string{"schema": quoted, "schema_text": strings.ReplaceAll(quoted, "'", "''")}
}

// withSchema fills in the words in braces.
func withSchema(text, schema string) string {
	for word, is := range schemaWords(schema) {
		text = strings.ReplaceAll(text, "{"+word+"}", is)
	}
	return text
}

// readMigrations reads the migrations. Each ends by noting that it was applied.
func readMigrations(schema string) []store.Migration {
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
