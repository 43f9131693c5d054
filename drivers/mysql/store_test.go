package mysql

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
	"github.com/hourbell/hourbell/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	testserver.URL(t, serverVariable) // or skip
	storetest.Run(t, storetest.Reused(3, func() func(*testing.T) storetest.Store {
		url, db := newDatabase(t, "")
		return emptied(t, openStore(t, url), openStore(t, url), beginOn(db, sql.LevelReadCommitted))
	}))
}

// TestStoreOnUsersPool runs the suite over pools of a program, whose sessions have other
// settings than the sessions of Open, as a caller sees the driver that uses no optional interface. What the
// settings can change is how texts and times are compared and read, how changed rows are counted, and a caller's transaction; the random
// run makes each call with them.
func TestStoreOnUsersPool(t *testing.T) {
	t.Parallel()
	testserver.URL(t, serverVariable) // or skip
	open := storetest.Reused(2, func() func(*testing.T) storetest.Store {
		url, db := newDatabase(t, "collation=utf8mb4_unicode_ci&parseTime=true&loc=Asia%2FTokyo&time_zone=%27-05%3A30%27&clientFoundRows=true"+
			"&sql_mode=%27ANSI%2CSTRICT_TRANS_TABLES%2CNO_BACKSLASH_ESCAPES%2CONLY_FULL_GROUP_BY%27")
		var clients [2]*Backend
		for i := range clients {
			b, err := New(t.Context(), openDB(t, url))
			must(t, err)
			t.Cleanup(func() { must(t, b.Close()) })
			clients[i] = b
		}
		return emptied(t, clients[0], clients[1], beginOn(db, sql.LevelRepeatableRead))
	})
	storetest.Run(t, storetest.WithoutAbilities(func(t *testing.T) storetest.Store {
		s := open(t)
		s.RowLocks = false // a transaction that is REPEATABLE READ locks gaps between rows, too
		return s
	}), storetest.Operations(300), storetest.Only("Insert", "Unique", "FinishTx", "InTx", "AfterTx", "PutSchedules", "Fire", "Clock", "Listen"))
}

// openStore opens a backend with connections of its own.
func openStore(t testing.TB, url string) *Backend {
	t.Helper()
	b, err := Open(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
	return b
}

// fresh opens a migrated backend in a database of its own, and returns a pool of a program on it.
func fresh(t testing.TB) (*Backend, *sql.DB) {
	t.Helper()
	url, db := newDatabase(t, "")
	b := openStore(t, url)
	migrate(t, b)
	return b, db
}

func migrate(t testing.TB, b *Backend) {
	t.Helper()
	_, err := b.MigrateUp(t.Context())
	must(t, err)
}

// emptied returns a function that empties the store of two backends for each test: a
// database for each would take most of the time. Numbers go on where they were.
func emptied(t *testing.T, a, b *Backend, begin func(context.Context) (storetest.Transaction, error)) func(t *testing.T) storetest.Store {
	t.Helper()
	migrate(t, a)
	s := storetest.Store{Clients: [2]store.Backend{a, b}, Begin: begin, RowLocks: true}
	tables := tablesOf(t, a)
	return func(t *testing.T) storetest.Store {
		t.Helper()
		empty(t, a, tables)
		t.Cleanup(func() { checkRares(t, a) })
		return s
	}
}

// checkRares compares the rows of hourbell_job_rare with their jobs.
func checkRares(t *testing.T, b *Backend) {
	t.Helper()
	columns := strings.Split(rareColumns, ", ")
	for i, name := range columns {
		columns[i] = "r." + name + " <=> j." + name
	}
	rows, err := b.db.QueryContext(context.WithoutCancel(t.Context()), `
		SELECT r.job_id, 'differs from its job' FROM hourbell_job_rare AS r LEFT JOIN hourbell_job AS j ON j.id = r.job_id
		WHERE j.id IS NULL OR NOT (j.rare = 1 AND r.unique_kind <=> IF(j.unique_key IS NULL, NULL, j.kind) AND `+strings.Join(columns, " AND ")+`)
		UNION ALL
		SELECT j.id, 'is missing' FROM hourbell_job AS j
		WHERE NOT EXISTS (SELECT 1 FROM hourbell_job_rare AS r WHERE r.job_id = j.id) AND (j.rare = 1 OR j.schedule_id IS NOT NULL OR j.batch IS NOT NULL
			OR j.lane IS NOT NULL OR j.losses > 0 OR j.group_name IS NOT NULL OR j.job_key IS NOT NULL OR j.unique_key IS NOT NULL)`)
	must(t, sqlrows.EachRow(rows, err, func(r row) error {
		var id int64
		var what string
		err := r.Scan(&id, &what)
		t.Errorf("the row of job %d in hourbell_job_rare %s", id, what)
		return err
	}))
}

// tablesOf names the tables of a backend that hold what calls write.
func tablesOf(t testing.TB, b *Backend) (names []string) {
	t.Helper()
	rows, err := b.db.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND LEFT(table_name, 9) = 'hourbell_'") //nolint:rowserrcheck // EachRow returns rows.Err
	must(t, sqlrows.EachRow(rows, err, func(r row) error {
		var name string
		err := r.Scan(&name)
		switch name {
		case "hourbell_counter", "hourbell_schema_version", "hourbell_timeline", "hourbell_feed":
		default:
			names = append(names, name)
		}
		return err
	}))
	return names
}

// empty empties the tables of a backend. Most tests leave a few rows, and TRUNCATE takes much
// longer than to delete these.
func empty(t testing.TB, b *Backend, tables []string) {
	t.Helper()
	tx, err := b.db.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback()
	for _, name := range tables {
		_, err := tx.ExecContext(t.Context(), "DELETE FROM "+quoted(name))
		must(t, err)
	}
	_, err = tx.ExecContext(t.Context(), "UPDATE hourbell_feed SET keep = 86400000000")
	must(t, err)
	must(t, tx.Commit())
}

// beginOn begins callers' transactions.
func beginOn(db *sql.DB, level sql.IsolationLevel) func(ctx context.Context) (storetest.Transaction, error) {
	return func(ctx context.Context) (storetest.Transaction, error) {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: level})
		if err != nil {
			return storetest.Transaction{}, err
		}
		return storetest.Transaction{Tx: Tx(tx), Commit: tx.Commit, Rollback: tx.Rollback}, nil
	}
}

// pair returns two backends of one database.
func pair(t *testing.T) (store.Backend, store.Backend) {
	url, _ := newDatabase(t, "")
	a := openStore(t, url)
	migrate(t, a)
	return a, openStore(t, url)
}

func TestAnswers(t *testing.T) {
	clienttest.Answers(t, func(t *testing.T) (store.Backend, store.Backend) { b, _ := fresh(t); return b, nil })
}

func TestClaimsOfUnknownEndAreSettled(t *testing.T) {
	b, _ := fresh(t)
	clienttest.LostClaims(t, b)
}

func TestFailingJobsDoNotHoldUpFreshJobs(t *testing.T) {
	b, _ := fresh(t)
	clienttest.Order(t, b)
}

func TestPrioritiesAge(t *testing.T) { clienttest.Ageing(t, pair) }

func TestControl(t *testing.T) { clienttest.Control(t, pair) }

func TestChains(t *testing.T) { clienttest.Chains(t, pair) }

func TestWorkersThatIgnoreTheirContexts(t *testing.T) { clienttest.Stuck(t, pair) }

func TestHandlersWhileNodesRun(t *testing.T) { clienttest.Handlers(t, pair) }

func TestOverlapSkipNeverRunsTwo(t *testing.T) { clienttest.Overlap(t, pair) }

func TestSchedulesAheadOfTheClock(t *testing.T) { clienttest.Ahead(t, pair) }

func TestOtherTimeZoneData(t *testing.T) { clienttest.Zones(t, pair) }

func TestJobsRunAtTheirPlaces(t *testing.T) { clienttest.Places(t, pair) }

func TestSchedulesOnEveryHost(t *testing.T) {
	clienttest.EveryHost(t, pair, func(t *testing.T, b store.Backend) (store.Tx, func() error) {
		tx, err := beginOn(b.(*Backend).db, sql.LevelDefault)(t.Context())
		must(t, err)
		return tx.Tx, tx.Commit
	})
}

func register(t testing.TB, b *Backend, lease time.Duration) int64 {
	t.Helper()
	res, err := b.Register(t.Context(), store.RegisterRequest{Name: "n", Lease: lease, Queues: []string{"q"}, Kinds: []string{"k"}})
	must(t, err)
	return res.Node
}

// insertPlain inserts jobs of kind k into queue q.
func insertPlain(t testing.TB, b *Backend, n int) []int64 {
	t.Helper()
	jobs := make([]store.NewJob, n)
	for i := range jobs {
		jobs[i] = store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: int16(1 + i%9), MaxAttempts: 5}}
	}
	res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
	must(t, err)
	return res.IDs()
}

func claimPlain(t testing.TB, b *Backend, node int64, limit int) []store.Claimed {
	t.Helper()
	res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: limit})
	must(t, err)
	return res.Jobs
}

// wantInError checks that an error has a text.
func wantInError(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("the error is %v, want one with %q", err, text)
	}
}
