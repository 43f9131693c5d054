package sqlite

import (
	"embed"
	"fmt"
	"sync"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
	"github.com/hourbell/hourbell/store/sqltext"
)

//go:generate go run github.com/hourbell/hourbell/store/sqltext/declare

//go:embed sql/*.sql
var sqlFiles embed.FS

// statement is one of the SQL statements that the driver sends. Each has a file in
// sql/; a file whose lines depend on conditions has several statements.
type statement = sqlrows.Statement

// allTexts returns what readTexts reads. The texts are the same for all files, so a process reads
// them once.
var allTexts = sync.OnceValues(readTexts)

// macros are conditions that several statements have: {in_queue(queue, name)}, for example.
var macros = map[string]string{
	// store.InQueue: a queue, and the name of a queue.
	"in_queue": `($1 = $2 OR substr($1, 1, length($2) + 1) = $2 || '@')`,
	// Limit.Matches: the queue, the kind and by_key of a limit, and a job.
	"in_scope": `($1 = '' OR {in_queue($4.queue, $1)}) AND $2 IN ('', $4.kind) AND (NOT $3 OR $4.job_key IS NOT NULL)`,
	// A limit of a kind or of keys concerns a job.
	"needs_permit": `EXISTS (SELECT 1 FROM hourbell_job_limit AS t WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') ` +
		`AND {in_scope(t.queue, t.kind, t.by_key, $1)})`,
	// A claim may take a job: it holds its permits, or needs none.
	"permitted": `(permits IS NOT NULL OR NOT {needs_permit(hourbell_job)})`,
	// A job needs permits, holds none, and no job waits in a lane in which it needs a permit.
	"overtakes": `permits IS NULL AND {needs_permit(hourbell_job)} AND NOT EXISTS (
        SELECT 1 FROM hourbell_job_limit AS t CROSS JOIN hourbell_lane AS l ON l.limit_id = t.id AND l.key = iif(t.by_key, hourbell_job.job_key, '')
        WHERE t.ended_at IS NULL AND (t.by_key OR t.kind <> '') AND {in_scope(t.queue, t.kind, t.by_key, hourbell_job)} AND l.waiting)`,
	// Pause.Concerns: the subject and the name of a pause, and a job.
	"concerns": `CASE $1 WHEN 0 THEN $3.group_name = $2 WHEN 1 THEN {in_queue($3.queue, $2)} WHEN 2 THEN $3.kind = $2 ELSE $3.job_key = $2 END`,
	// A finished job holds no key, has no live job in its batch, and is no predecessor of a live job.
	"deletable": `(NOT EXISTS (SELECT 1 FROM hourbell_key_hold AS u WHERE u.job_id = $1.id AND u.until > :now) ` +
		`AND NOT ($1.batch IS NOT NULL AND EXISTS (SELECT 1 FROM hourbell_job AS b WHERE b.batch = $1.batch)) ` +
		`AND NOT ($1.releases = 1 AND EXISTS (SELECT 1 FROM hourbell_edge AS e CROSS JOIN hourbell_job AS d ON d.id = e.job_id WHERE e.on_id = $1.id)))`,
	// A job waits for a step: its number, and its snoozes.
	"waits": `(coalesce($2, 0) > 0 AND EXISTS (SELECT 1 FROM hourbell_step AS w WHERE w.job_id = $1 AND w.waits))`,
	// The numbers of the jobs whose newest attempt with an error has a text in it, between two numbers.
	"with_error": `SELECT a.job_id FROM hourbell_attempt AS a WHERE a.job_id > $2 AND a.job_id < $3 AND instr(a.error, $1) > 0 ` +
		`AND NOT EXISTS (SELECT 1 FROM hourbell_attempt AS n WHERE n.job_id = a.job_id AND n.token > a.token AND n.error <> '')`,
	// Up to 1,000 live jobs of a kind. The index of ready jobs has the kinds of each queue in order, so that a queue costs a look.
	"of_kind": `SELECT r.id FROM (WITH RECURSIVE q (name) AS (SELECT min(n.queue) FROM hourbell_job AS n WHERE n.state = 0 ` +
		`UNION ALL SELECT (SELECT min(n.queue) FROM hourbell_job AS n WHERE n.state = 0 AND n.queue > q.name) FROM q WHERE q.name IS NOT NULL) ` +
		`SELECT name FROM q) AS q CROSS JOIN hourbell_job AS r INDEXED BY hourbell_job_ready WHERE r.state = 0 AND r.queue = q.name AND r.kind = $1 ` +
		`UNION ALL SELECT r.id FROM hourbell_job AS r WHERE r.state = 2 AND r.kind = $1 ` +
		`UNION ALL SELECT r.id FROM hourbell_job AS r WHERE r.state = 1 AND r.kind = $1 ` +
		`UNION ALL SELECT r.id FROM hourbell_job AS r WHERE r.state = -1 AND r.kind = $1 ` +
		`UNION ALL SELECT r.id FROM hourbell_job AS r WHERE r.lane IS NOT NULL AND r.kind = $1 LIMIT 1000`,
	// The same of one job, by its number.
	"has_error": `instr((SELECT a.error FROM hourbell_attempt AS a WHERE a.job_id = $1 AND a.error <> '' ORDER BY a.token DESC LIMIT 1), $2) > 0`,
	// Schedule.IsOrIsMadeFrom: the number of a schedule, and a name. The schedules of hosts have the name and @ as prefix.
	"is_or_is_made_from": `$1 IN (SELECT s.id FROM hourbell_schedule AS s WHERE s.name = $2 UNION ALL ` +
		`SELECT s.id FROM hourbell_schedule AS s WHERE s.name >= $2 || '@' AND s.name < $2 || 'A' AND s.owner = 'every:' || $2)`,
}

// readTexts reads the text of each statement.
func readTexts() ([]sqlrows.Text, error) {
	return sources.Read(sqlFiles, sqltext.Rules{Words: store.OriginWords(), Macros: macros, Lists: sqlrows.Lists()}, nil)
}

// valuesOf returns the arguments of a statement. Arguments that the statement
// lacks, and missing arguments, are an error.
func valuesOf(name statement, t *sqlrows.Text, a args) ([]any, error) {
	list := make([]any, 0, len(a))
	for _, parameterName := range t.Params {
		value, passed := a[parameterName]
		if !passed {
			return nil, fmt.Errorf("statement %v: parameter %s is not passed", sources[name], parameterName)
		}
		list = append(list, parameter(parameterName, value))
	}
	if len(list) != len(a) {
		return nil, fmt.Errorf("statement %v has the parameters %v only", sources[name], t.Params)
	}
	return list, nil
}
