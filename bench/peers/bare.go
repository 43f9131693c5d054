package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The bare limits: the best that pgbench reaches on PostgreSQL with the
// smallest useful table.
const (
	bareDelete = "pgbench, UPDATE + DELETE by 1,000"
	bareHOT    = "pgbench, HOT lease + DELETE by 1,000"
	bareInsert = "pgbench, INSERT"
	bareNotify = "pgbench, BEGIN, INSERT with pg_notify, COMMIT"
	bareUnnest = "pgbench, INSERT from unnest of 1,000"
)

//go:embed bare.sql
var bareSchema string

// bareScripts are the scripts of pgbench, by name.
var bareScripts = map[string]string{
	"claim_delete": `WITH c AS (UPDATE job SET state = 1 WHERE ctid = ANY(ARRAY(SELECT ctid FROM job WHERE state = 0 ORDER BY run_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED)) RETURNING id) SELECT coalesce(array_agg(id), '{}') AS ids FROM c \gset
DELETE FROM job WHERE id = ANY(:ids::bigint[]);
`,
	"claim_hot": `WITH c AS (UPDATE job SET node = 1 WHERE ctid = ANY(ARRAY(SELECT ctid FROM job WHERE state = 0 AND node IS NULL ORDER BY run_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED)) RETURNING id) SELECT coalesce(array_agg(id), '{}') AS ids FROM c \gset
DELETE FROM job WHERE id = ANY(:ids::bigint[]);
`,
	"insert": `INSERT INTO job (args) VALUES ('` + bareArgs + `');
`,
	"insert_notify": `BEGIN;
WITH i AS (INSERT INTO job (args) VALUES ('` + bareArgs + `') RETURNING id) SELECT pg_notify('job', 'default') FROM i;
COMMIT;
`,
	"unnest": `INSERT INTO job (args) SELECT a FROM unnest(:args::json[]) a;
`,
}

// bareArgs has the length of the arguments of the other systems.
const bareArgs = `{"number":12345,"text":"the quick brown fox","sent":1760000000000000}`

// bareDatabase makes a database with the small table.
func (b *bench) bareDatabase(ctx context.Context, script string) (database, error) {
	db, err := b.create(ctx, "")
	if err != nil {
		return db, err
	}
	statements := bareSchema
	if script == "claim_hot" { // space on each page for a second version of each row
		statements += "ALTER TABLE job SET (fillfactor = 50);"
	}
	if err = bareExec(ctx, db, statements); err != nil {
		db.drop()
	}
	return db, err
}

func bareExec(ctx context.Context, db database, statements string) error {
	conn, err := pgx.Connect(ctx, db.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, statements)
	return err
}

// bareDrainRow claims and deletes jobs with four clients, 1,000 jobs per
// transaction.
func (b *bench) bareDrainRow(name, script string, dead int) row {
	return row{name, func(ctx context.Context) (metrics, error) {
		db, err := b.bareDatabase(ctx, script)
		if err != nil {
			return nil, err
		}
		defer db.drop()
		if dead > 0 {
			release, err := holdSnapshot(ctx, db)
			if err != nil {
				return nil, err
			}
			defer release()
			if _, err := b.bareDrain(ctx, db, script, dead); err != nil {
				return nil, err
			}
			if err := bareExec(ctx, db, "DELETE FROM job"); err != nil {
				return nil, err
			}
		}
		return b.bareDrain(ctx, db, script, b.env.jobs)
	}}
}

func (b *bench) bareDrain(ctx context.Context, db database, script string, jobs int) (metrics, error) {
	fill := fmt.Sprintf("INSERT INTO job (args) SELECT '%s' FROM generate_series(1, %d)", bareArgs, jobs)
	if err := bareExec(ctx, db, fill); err != nil {
		return nil, err
	}
	if err := analyze(ctx, db); err != nil {
		return nil, err
	}
	const clients = 4
	rounds := max(1, jobs/1000/clients)
	return b.pgbench(ctx, db, script, clients, rounds, func() (int, error) {
		conn, err := pgx.Connect(ctx, db.url)
		if err != nil {
			return 0, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		var left int
		err = conn.QueryRow(ctx, "SELECT count(*) FROM job").Scan(&left)
		return jobs - left, err
	})
}

// bareInsertRow inserts one row per transaction with eight clients.
func (b *bench) bareInsertRow(name, script string) row {
	return b.bareRow(name, script, connections, b.env.inserts/connections, b.env.inserts)
}

// bareUnnestRow inserts 1,000 rows per statement with one client, which sends
// the rows each time.
func (b *bench) bareUnnestRow(name string) row {
	element := `"` + strings.ReplaceAll(bareArgs, `"`, `\"`) + `"`
	array := "args={" + strings.Repeat(element+",", 999) + element + "}"
	return b.bareRow(name, "unnest", 1, b.env.jobs/1000, b.env.jobs, "-D", array)
}

func (b *bench) bareRow(name, script string, clients, rounds, jobs int, more ...string) row {
	return row{name, func(ctx context.Context) (metrics, error) {
		db, err := b.bareDatabase(ctx, script)
		if err != nil {
			return nil, err
		}
		defer db.drop()
		return b.pgbench(ctx, db, script, clients, max(1, rounds), func() (int, error) { return jobs, nil }, more...)
	}}
}

// pgbenchRate matches the last line of pgbench's output: transactions per
// second without the time for connecting.
var pgbenchRate = regexp.MustCompile(`tps = ([0-9.]+) \(without`)

// pgbench runs a script for the given number of rounds with each client, with
// prepared statements and fixed plans; done returns how many jobs were worked.
func (b *bench) pgbench(ctx context.Context, db database, script string, clients, rounds int, done func() (int, error), more ...string) (metrics, error) {
	program, err := exec.LookPath("pgbench")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
		if len(found) == 0 {
			return nil, skippedError("there is no pgbench")
		}
		program = found[len(found)-1]
	}
	path := filepath.Join(b.dir, script+".sql")
	if err := os.WriteFile(path, []byte(bareScripts[script]), 0o600); err != nil {
		return nil, err
	}
	m, err := b.begin(ctx)
	if err != nil {
		return nil, err
	}
	args := append([]string{
		"-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", strconv.Itoa(min(2, clients)),
		"-t", strconv.Itoa(rounds), "-f", path,
	}, more...)
	cmd := exec.CommandContext(ctx, program, append(args, db.far)...)
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c "+
		"enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("pgbench: %w: %s", err, output.String())
	}
	found := pgbenchRate.FindStringSubmatch(output.String())
	if found == nil {
		return nil, fmt.Errorf("pgbench printed %q", output.String())
	}
	perSecond, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		return nil, err
	}
	n, err := done()
	if err != nil {
		return nil, err
	}
	took := time.Duration(float64(clients*rounds) / perSecond * float64(time.Second))
	return m.end(ctx, n, took, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}
