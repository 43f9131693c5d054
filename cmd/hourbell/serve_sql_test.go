package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// sqlPlace is a database in which statements of jobs run.
type sqlPlace struct {
	name  string
	flag  string // the value of --sql
	db    *sql.DB
	one   bool   // effect and completion are one commit
	place string // of the first parameter
	table string // the table effect, as statements of jobs name it
}

// sqlPlaces returns, for a store, databases for statements: the store's own, the
// same one apart, and another one.
func sqlPlaces(t *testing.T, b *bench, kind string) []sqlPlace {
	t.Helper()
	if kind == "mysql" {
		return mysqlPlaces(t, b)
	}
	must := func(db *sql.DB, text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if kind == "sqlite" {
		other := filepath.Join(t.TempDir(), "other.db")
		open := func(path string) *sql.DB {
			db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			must(db, "CREATE TABLE IF NOT EXISTS effect (job INTEGER, token INTEGER, text TEXT CHECK (text <> 'bad'))")
			return db
		}
		b.ok("migrate", "up")
		own := open(b.path)
		return []sqlPlace{
			{"own", "app=sqlite:" + b.path, own, true, "?", "effect"},
			{"apart", "app=apart:sqlite:" + b.path, own, false, "?", "effect"},
			{"other", "app=sqlite:" + other, open(other), false, "?", "effect"},
		}
	}
	admin := postgresURL(t)
	schema := newSchemaName()
	role := schema + "_role"
	at, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query()
	query.Set("schema", schema)
	ours := *at
	ours.RawQuery = query.Encode()
	b.env[storeVariable] = ours.String()
	b.ok("migrate", "up")
	db, err := sql.Open("pgx", admin)
	if err != nil {
		t.Fatal(err)
	}
	app := schema + "_app"
	t.Cleanup(func() {
		must(db, "DROP SCHEMA "+schema+" CASCADE")
		must(db, "DROP SCHEMA "+app+" CASCADE")
		must(db, "DROP OWNED BY "+role)
		must(db, "DROP ROLE "+role)
		db.Close()
	})
	must(db, "CREATE ROLE "+role+" LOGIN PASSWORD 'hunter2'")
	must(db, "CREATE SCHEMA "+app)
	must(db, "CREATE TABLE "+app+".effect (job bigint, token bigint, text text CHECK (text <> 'bad'))")
	must(db, "CREATE TABLE "+app+".secret (text text)")
	must(db, "GRANT USAGE ON SCHEMA "+app+" TO "+role)
	must(db, "GRANT SELECT, INSERT ON "+app+".effect TO "+role)
	for _, grant := range completionGrants(t, "```sql\nGRANT ", "hourbell.", schema+".", "SCHEMA hourbell", "SCHEMA "+schema, "TO reports", "TO "+role) {
		must(db, grant)
	}
	at.User = url.UserPassword(role, "hunter2")
	t.Setenv("APP_URL", at.String()) // read by the node's process
	b.env["APP_URL"] = at.String()
	return []sqlPlace{
		{"own", "app=env:APP_URL", db, true, "$1", app + ".effect"},
		{"apart", "app=apart:env:APP_URL", db, false, "$1", app + ".effect"},
	}
}

var _ = stdlib.GetDefaultDriver // registers the driver pgx

// mysqlPlaces returns the database of a new store on MySQL or MariaDB, as a user with the rights that docs/kinds.md lists.
func mysqlPlaces(t *testing.T, b *bench) []sqlPlace {
	t.Helper()
	store, admin, name := newDatabase(t)
	b.env[storeVariable] = store
	b.ok("migrate", "up")
	role := "u" + strings.TrimPrefix(name, "cli_")
	texts := append([]string{
		"CREATE USER " + role + " IDENTIFIED BY 'hunter2'",
		"CREATE TABLE " + name + ".effect (job BIGINT, token BIGINT, text VARCHAR(100) CHECK (text <> 'bad'))",
		"GRANT SELECT, INSERT ON " + name + ".effect TO " + role,
	}, completionGrants(t, "```sql\nCREATE USER reports IDENTIFIED BY 'secret';\nGRANT ", "app.", name+".", "TO reports", "TO "+role)...)
	t.Cleanup(func() { _, _ = admin.Exec("DROP USER " + role) })
	for _, text := range texts {
		if _, err := admin.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	at, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword(role, "hunter2")
	t.Setenv("APP_URL", at.String()) // read by the node's process
	b.env["APP_URL"] = at.String()
	return []sqlPlace{{"own", "app=env:APP_URL", admin, true, "?", name + ".effect"}}
}

// completionGrants returns the statements of docs/kinds.md with which a user of a database may complete jobs, from the block that
// begins like that, with the names of the page replaced.
func completionGrants(t *testing.T, begin string, names ...string) []string {
	t.Helper()
	text, err := os.ReadFile(kindsPage)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), begin)
	list, _, ended := strings.Cut("GRANT "+rest, "```")
	if !found || !ended {
		t.Fatalf("%s has no list of grants", kindsPage)
	}
	var grants []string
	for _, statement := range strings.Split(strings.NewReplacer(names...).Replace(list), ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			grants = append(grants, statement)
		}
	}
	return grants
}

// kindsPage is the path of the page about kinds, from before tests change their
// directory.
var kindsPage = func() string {
	path, err := filepath.Abs("../../docs/kinds.md")
	if err != nil {
		panic(err)
	}
	return path
}()

// statement enqueues a statement and waits for the end of its job.
func (b *bench) statement(t *testing.T, text string, args ...any) map[string]any {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"connection": "app", "statement": text, "args": args, "timeout": "20s"})
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(b.run("enqueue", "sql", "--max-attempts", "1", "--args", string(payload)).out)
	var job map[string]any
	eventually(t, "the end of "+text, func() bool {
		job = b.objects("jobs", "show", id)[0]
		return job["state"] == "completed" || job["state"] == "failed"
	})
	return job
}

// TestServeSQL checks statements of jobs on every kind of connection.
func TestServeSQL(t *testing.T) {
	startsProcesses(t)
	for _, kind := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(kind, func(t *testing.T) {
			b := newBench(t)
			for _, place := range sqlPlaces(t, b, kind) {
				t.Run(place.name, func(t *testing.T) { checkStatements(t, b, place, kind) })
			}
		})
	}
}

func checkStatements(t *testing.T, b *bench, place sqlPlace, kind string) {
	node := b.serve("--commands", "any", "--sql", place.flag)
	node.awaits("node started", 1)
	effects := func(text string) (n int) {
		t.Helper()
		if err := place.db.QueryRow("SELECT count(*) FROM "+place.table+" WHERE text = "+place.place, text).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	marks := "?, ?, ?"
	if kind == "postgres" {
		marks = "$1, $2, $3"
	}
	insert := "INSERT INTO " + place.table + " VALUES (" + marks + ");"
	of := func(what string) map[string]string { return map[string]string{"job": what} }

	job := b.statement(t, insert, of("id"), of("token"), "it's; one "+place.name)
	if job["state"] != "completed" || fmt.Sprint(job["result"]) != "map[rows_affected:1]" {
		t.Fatalf("the job is %v", job)
	}
	var id, token int64
	if err := place.db.QueryRow("SELECT job, token FROM "+place.table+" WHERE text = "+place.place, "it's; one "+place.name).Scan(&id, &token); err != nil || fmt.Sprint(id) != fmt.Sprint(job["id"]) || token == 0 {
		t.Errorf("the effect has job %d and token %d, %v", id, token, err)
	}
	if job := b.statement(t, insert+" ", 1, 2, "bad"); job["state"] != "failed" || effects("bad") != 0 {
		t.Errorf("a statement that violates a constraint: %v", job)
	}
	job = b.statement(t, "SELECT job, text FROM "+place.table+" WHERE text = "+place.place, "it's; one "+place.name)
	if want := fmt.Sprintf("map[columns:[job text] rows:[[%d it's; one %s]]]", id, place.name); fmt.Sprint(job["result"]) != want {
		t.Errorf("the rows are %v, want %s", job["result"], want)
	}
	many := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n"
	if result, _ := b.statement(t, many)["result"].(map[string]any); result["more"] != true || len(result["rows"].([]any)) != 100 {
		t.Errorf("of many rows %v are kept", result)
	}
	returning := "INSERT INTO " + place.table + " SELECT i, i, 'many" + place.name + "' FROM (" + strings.Replace(many, "500", "300", 1) + ") AS n RETURNING text"
	if kind == "mysql" { // MySQL has no RETURNING
		if job := b.statement(t, "SELECT @@wait_timeout"); fmt.Sprint(job["result"]) != "map[columns:[@@wait_timeout] rows:[[15]]]" {
			t.Errorf("a stopped node holds its locks for longer than its lease: %v", job["result"])
		}
	} else if job := b.statement(t, returning); job["state"] != "completed" || effects("many"+place.name) != 300 {
		t.Errorf("a statement that returns more rows than are kept had %d effects: %v", effects("many"+place.name), job)
	}
	if kind == "postgres" {
		checkRights(t, b, place)
	}
	checkSchedule(t, b, place, kind)
	checkSameCommit(t, b, place, kind, insert, effects)
	node.signal(syscall.SIGTERM)
	if code := node.ends(); code != exitDone {
		t.Errorf("the node ended with %d", code)
	}
	if strings.Contains(node.logged(), "hunter2") {
		t.Error("the log contains a password")
	}
}

// checkRights checks that a statement has the rights of its connection, cannot get
// more, and leaves nothing behind in a session.
func checkRights(t *testing.T, b *bench, place sqlPlace) {
	t.Helper()
	secret := strings.Replace(place.table, ".effect", ".secret", 1)
	for _, text := range []string{
		"SELECT * FROM " + secret, "SELECT set_config('role', 'postgres', false)", "SELECT set_config('session_authorization', 'postgres', false)", "SELECT pg_read_file('/etc/passwd')",
	} {
		if job := b.statement(t, text); job["state"] != "failed" || !strings.Contains(fmt.Sprint(job["reason"]), "permission denied") {
			t.Errorf("%s: %v", text, job)
		}
	}
	if job := b.statement(t, "SELECT set_config('search_path', 'evil', false)"); job["state"] != "completed" {
		t.Errorf("a setting: %v", job)
	}
	if job := b.statement(t, "SELECT current_setting('search_path')"); strings.Contains(fmt.Sprint(job["result"]), "evil") {
		t.Errorf("the next job has the setting: %v", job)
	}
	payload := `{"connection":"app","statement":"SELECT 1; DROP TABLE x"}`
	b.fails(exitUsage, []string{"statement", "semicolon"}, "enqueue", "sql", "--args", payload)
	job := b.statement(t, "SELECT current_user, $1::text", "x")
	if !strings.Contains(fmt.Sprint(job["result"]), "_role x]") {
		t.Errorf("the statement ran as %v", job["result"])
	}
	leak := b.run("enqueue", "command", "--max-attempts", "1", "--shell", "echo [$APP_URL]").out
	eventually(t, "the command to end", func() bool {
		job := b.objects("jobs", "show", strings.TrimSpace(leak))[0]
		return job["state"] == "completed" && job["output"] == "[]\n"
	})
}

// checkSchedule checks that the role may also complete the job of a schedule whose
// jobs wait for each other, count failures and have hooks.
func checkSchedule(t *testing.T, b *bench, place sqlPlace, kind string) {
	t.Helper()
	name := "of-" + place.name
	// SQLite and MySQL divide by zero without an error.
	text := "select 1 / (select count(*) from " + place.table + " where text = ''" + name + "'')"
	if kind == "mysql" {
		text = "insert into " + place.table + " (text) select if(count(*) = 0, ''bad'', ''good'') from " + place.table + " where text = ''" + name + "''"
	}
	writeFile(t, "schedule.yaml", "owner: "+place.name+"\nschedules:\n  - {name: "+name+", every: 1h, overlap: queue, max_attempts: 1, pause_after_failures: 3, "+
		"on_failure: 'true', on_recovery: 'true', sql: {connection: app, statement: '"+text+"'}}\n")
	b.ok("apply", "schedule.yaml")
	runs := func(state string) {
		t.Helper()
		for range 2 { // one waits for the other
			b.ok("schedules", "trigger", name)
		}
		eventually(t, "two jobs of the schedule "+state, func() bool { return len(b.objects("jobs", "list", "--schedule", name, "--state", state)) == 2 })
	}
	hooks := func() int {
		return len(b.objects("jobs", "list", "--kind", "command", "--state", "completed", "--limit", "100"))
	}
	before := hooks()
	if kind == "sqlite" {
		runs("completed")
		return
	}
	runs("failed")
	eventually(t, "the hooks of the failures", func() bool { return hooks() == before+2 })
	if _, err := place.db.Exec("INSERT INTO " + place.table + " (text) VALUES ('" + name + "')"); err != nil {
		t.Fatal(err)
	}
	runs("completed")
	eventually(t, "the hook of the recovery", func() bool { return hooks() == before+3 })
}

// checkSameCommit checks that a completion that fails undoes the effect, where both
// are one commit, and only there.
func checkSameCommit(t *testing.T, b *bench, place sqlPlace, kind, insert string, effects func(string) int) {
	t.Helper()
	text := "same commit " + place.name
	store := place.db
	var create, drop string
	switch kind {
	case "postgres":
		schema := strings.TrimSuffix(place.table, "_app.effect")
		create = "CREATE FUNCTION " + schema + ".refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''not now''; END';" +
			"CREATE TRIGGER refuse BEFORE INSERT ON " + schema + ".history FOR EACH ROW WHEN (NEW.state = 3) EXECUTE FUNCTION " + schema + ".refuse()"
		drop = "DROP FUNCTION " + schema + ".refuse() CASCADE"
	case "mysql":
		database := strings.TrimSuffix(place.table, ".effect")
		create = "CREATE TRIGGER " + database + ".refuse BEFORE INSERT ON " + database + ".hourbell_history FOR EACH ROW IF NEW.state = 3 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not now'; END IF"
		drop = "DROP TRIGGER " + database + ".refuse"
	default:
		var err error
		if store, err = sql.Open("sqlite", "file:"+b.path+"?_pragma=busy_timeout(10000)"); err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		create = "CREATE TRIGGER refuse BEFORE INSERT ON hourbell_history WHEN NEW.state = 3 BEGIN SELECT RAISE(ABORT, 'not now'); END"
		drop = "DROP TRIGGER refuse"
	}
	if _, err := store.Exec(create); err != nil {
		t.Fatal(err)
	}
	payload, _ := json.Marshal(map[string]any{"connection": "app", "statement": insert, "args": []any{1, 2, text}})
	id := strings.TrimSpace(b.run("enqueue", "sql", "--max-attempts", "1", "--args", string(payload)).out)
	ended := func() bool {
		state := b.objects("jobs", "show", id)[0]["state"]
		return state == "completed" || state == "failed"
	}
	if place.one {
		eventually(t, "the attempt to fail", ended)
	} else {
		eventually(t, "the effect", func() bool { return effects(text) == 1 })
	}
	if _, err := store.Exec(drop); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job to end", ended)
	if want := map[bool]int{true: 0, false: 1}[place.one]; effects(text) != want {
		t.Errorf("there are %d effects, want %d", effects(text), want)
	}
}

// TestServeSQLCommands checks that a node runs the statements of its own files
// only, unless it runs any, however else a job or schedule came to the store.
func TestServeSQLCommands(t *testing.T) {
	startsProcesses(t)
	for policy, want := range map[string]struct{ own, foreign bool }{"off": {false, false}, "declared": {true, false}, "any": {true, true}} {
		t.Run(policy, func(t *testing.T) {
			b := newBench(t)
			place := sqlPlaces(t, b, "sqlite")[2]
			writeFile(t, "own.yaml", "schedules:\n  - {name: own, every: 1s, overlap: allow, sql: {connection: app, statement: 'insert into effect (text) values (?)', args: [own]}}\n")
			node := b.serve("--commands", policy, "--sql", place.flag, "--file", "own.yaml")
			node.awaits("node started", 1)
			const foreign = `{"connection":"app","statement":"insert into effect (text) values (?)","args":["foreign"]}`
			b.run("enqueue", "sql", "--args", foreign)
			b.run("schedules", "put", "stored", "--every", "1s", "--kind", "sql", "--args", strings.Replace(foreign, "foreign", "stored", 1))
			effects := func(text string) (n int) {
				if err := place.db.QueryRow("SELECT count(*) FROM effect WHERE text = ?", text).Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			if want.own {
				eventually(t, "its own statement", func() bool { return effects("own") > 0 })
			}
			if want.foreign {
				eventually(t, "the other statements", func() bool { return effects("foreign") == 1 && effects("stored") > 0 })
			} else {
				eventually(t, "a reason why the statement does not run", func() bool {
					for _, job := range b.objects("jobs", "list", "--kind", "sql") {
						if waits, _ := job["waits"].(string); job["schedule"] == nil && strings.Contains(waits, "allows stored SQL statements") {
							return true
						}
					}
					return false
				})
				if effects("foreign")+effects("stored") > 0 {
					t.Error("a statement of others ran")
				}
			}
			if !want.own && effects("own") > 0 {
				t.Error("its own statement ran")
			}
			node.signal(syscall.SIGTERM)
			node.ends()
		})
	}
}

// TestStatementsOfKilledNodesHaveOneEffect kills nodes with kill -9 again and again
// while they run statements, and checks that each job has one effect.
func TestStatementsOfKilledNodesHaveOneEffect(t *testing.T) {
	startsProcesses(t)
	const jobs = 12
	for _, kind := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(kind, func(t *testing.T) {
			b := newBench(t)
			place := sqlPlaces(t, b, kind)[0]
			text := "INSERT INTO effect WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT ?, ?, count(*) FROM n"
			switch kind {
			case "postgres":
				text = "INSERT INTO " + place.table + " SELECT $1, $2, 'slow' FROM pg_sleep(0.15)"
			case "mysql":
				text = "INSERT INTO " + place.table + " SELECT ?, ?, 'slow' FROM (SELECT SLEEP(0.15)) AS s"
			}
			payload, err := json.Marshal(map[string]any{"connection": "app", "statement": text, "args": []any{map[string]string{"job": "id"}, map[string]string{"job": "token"}}})
			if err != nil {
				t.Fatal(err)
			}
			for range jobs {
				b.run("enqueue", "sql", "--backoff", "constant:200ms", "--args", string(payload))
			}
			left := func() int {
				return jobs - len(b.objects("jobs", "list", "--kind", "sql", "--state", "completed", "--limit", "100"))
			}
			kills := 0
			for round := 0; left() > 0; round++ {
				node := b.serve("--commands", "any", "--sql", place.flag, "--lease", "2s", "--queues", "default=2")
				node.awaits("node started", 1)
				if round < 8 {
					time.Sleep(time.Duration(100+37*round) * time.Millisecond)
					node.signal(syscall.SIGKILL)
					node.ends()
					kills++
					continue
				}
				eventually(t, "all jobs to be completed", func() bool { return left() == 0 })
			}
			var effects, distinct int
			if err := place.db.QueryRow("SELECT count(*), count(DISTINCT job) FROM "+place.table).Scan(&effects, &distinct); err != nil {
				t.Fatal(err)
			}
			again := 0
			for _, job := range b.objects("jobs", "list", "--kind", "sql", "--limit", "100") {
				if job["attempt"] != 1.0 {
					again++
				}
			}
			if again == 0 {
				t.Errorf("%d kills interrupted no job", kills)
			}
			if effects != jobs || distinct != jobs {
				t.Errorf("%d jobs had %d effects, of %d jobs, after %d kills", jobs, effects, distinct, kills)
			}
		})
	}
}
