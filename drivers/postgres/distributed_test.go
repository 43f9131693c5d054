package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
)

// TestADistributedSchemaIsRefused: tables that Citus lists are named, with the remedy,
// before anything is done. The list is a catalog, made here in a database of the test's own.
func TestADistributedSchemaIsRefused(t *testing.T) {
	server := urlFrom(t, serverVariable)
	name := fmt.Sprintf("hourbell_distributed_%d_%d", os.Getpid(), time.Now().UnixNano())
	execute(t, "create database "+name)
	t.Cleanup(func() { execute(t, "drop database "+name+" with (force)") })
	u, err := url.Parse(server)
	must(t, err)
	u.Path = "/" + name
	b := openAt(t, u.String(), DefaultSchema)
	migrate(t, b)
	must(t, b.CheckSchema(t.Context()))

	conn, err := pgx.Connect(t.Context(), u.String())
	must(t, err)
	defer conn.Close(t.Context())
	run := func(text string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol)
		must(t, err)
	}
	run(`set allow_system_table_mods = on; create table pg_catalog.pg_dist_partition (logicalrel regclass, partmethod "char");
		create table public.users (id bigint); insert into pg_catalog.pg_dist_partition values ('public.users', 'h')`)
	must(t, b.CheckSchema(t.Context())) // other tables may be distributed

	// A server with Citus refuses generic plans, also in transactions on a pool of the program's.
	for what, backends := range map[string][2]*Backend{
		"force_generic_plan": {openAt(t, server, DefaultSchema), New(pool(t, server))},
		"force_custom_plan":  {openAt(t, u.String(), DefaultSchema), New(pool(t, u.String()))},
	} {
		for _, b := range backends {
			var mode string
			must(t, b.work(t.Context(), programConns, "show")(func(tx pgx.Tx) error {
				return tx.QueryRow(t.Context(), "show plan_cache_mode").Scan(&mode)
			}))
			if mode != what {
				t.Errorf("plans are made by %s instead of %s", mode, what)
			}
		}
	}

	run(`insert into pg_catalog.pg_dist_partition values ('hourbell.job', 'h'), ('hourbell.history', 'h')`)
	_, up := b.MigrateUp(t.Context())
	for what, err := range map[string]error{"CheckSchema": b.CheckSchema(t.Context()), "MigrateUp": up} {
		if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "history, job") || !strings.Contains(err.Error(), "undistribute_table") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// pool is a pool as a program would make it.
func pool(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	p, err := pgxpool.New(t.Context(), url)
	must(t, err)
	t.Cleanup(p.Close)
	return p
}

var (
	arraySlice = regexp.MustCompile(`\[[^\]:]*[^:\]:]?:[^:][^\]]*\]|\[[^\]]+:\]`)
	sqlString  = regexp.MustCompile(`'[^']*'`) // may contain a colon
)

// TestNoStatementSlicesAnArrayItChanges: Citus crashes on such an UPDATE, even on tables
// that are not distributed.
func TestNoStatementSlicesAnArrayItChanges(t *testing.T) {
	all, err := readTexts(DefaultSchema)
	must(t, err)
	for s, text := range all {
		if strings.Contains(strings.ToUpper(text), "UPDATE") && arraySlice.MatchString(sqlString.ReplaceAllString(text, "''")) {
			t.Errorf("%v slices an array", statement(s))
		}
	}
}
