package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hourbell/hourbell/store"
)

func text(v any) string { return fmt.Sprintf("%+v", v) }

// otherDriver stands for a database/sql driver that is not pgx.
type otherDriver struct{ driver.Conn }

func (d otherDriver) Connect(context.Context) (driver.Conn, error) { return d, nil }
func (otherDriver) Driver() driver.Driver                          { return nil }
func (otherDriver) Close() error                                   { return nil }

func TestNoPasswordInErrors(t *testing.T) {
	for _, url := range []string{
		"postgres://user:s3cret@127.0.0.1:1/db?connect_timeout=1",
		"postgres://user:s3cret@127.0.0.1:port/db",
		"postgres://user:s3cret/x@127.0.0.1/db",
		"postgres://user:%zzs3cret@127.0.0.1/db",
		"postgres://user@127.0.0.1/db?password=s3cret&sslmode=wrong",
		"postgres://user:s3cret@127.0.0.1/db?connect_timeout=never",
		"postgres://user:s3cret@127.0.0.1/db?pool_max_conns=many",
		"postgres://user:s3cret@127.0.0.1/db?default_query_exec_mode=odd",
		"host=127.0.0.1 password='s3cret' port=x",
		"host=127.0.0.1 password=s3cret port",
		"mysql://user:s3cret@127.0.0.1/db",
		"user:s3cret@127.0.0.1",
	} {
		_, err := Open(context.Background(), url)
		if err == nil {
			t.Errorf("%s can be opened", url)
			continue
		}
		for ; err != nil; err = errors.Unwrap(err) {
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows the password: %v", err)
			}
		}
	}
}

func TestUnreachableServer(t *testing.T) {
	_, err := Open(context.Background(), "postgres://user@127.0.0.1:1/db")
	if err == nil || !strings.Contains(err.Error(), "cannot reach the database") {
		t.Errorf("no server: %v", err)
	}
}

func TestSchemaNames(t *testing.T) {
	for _, name := range []string{"", strings.Repeat("x", 64), "a\x00b", "a\nb", "pg_x", "\xff"} {
		if _, err := New(nil, Schema(name)).Insert(context.Background(), store.InsertRequest{Jobs: noop(1)}); err == nil {
			t.Errorf("schema name %q is taken", name)
		}
	}
	for _, name := range []string{`we"ird 'näme'; drop`, "$hourbell$", "{schema}", strings.Repeat("ü", 31), "SELECT", `a.b\c`} {
		dropAfter(t, name)
		b := openAt(t, urlFrom(t, serverVariable), name)
		migrate(t, b)
		node := register(t, b)
		insertN(t, b, 2)
		if got := len(claimN(t, b, node, 5)); got != 2 {
			t.Errorf("schema %q: claimed %d jobs, want 2", name, got)
		}
		wakes, _ := listening(t, b)
		insertN(t, b, 1)
		wantWake(t, wakes, store.Wake{Kind: store.WakeJobs, Queue: "q"})
	}
}

// TestInsertManyAtOnce checks that the numbers of large inserts keep the order
// of the request while others insert too.
func TestInsertManyAtOnce(t *testing.T) {
	b := fresh(t)
	const writers, each = 4, chunkJobs + 1000
	var wg sync.WaitGroup
	results, errs := make([][]int64, writers), make([]error, writers)
	for w := range writers {
		jobs := noop(each)
		for i := range jobs {
			jobs[i].Args = fmt.Appendf(nil, `{"writer":%d,"place":%d}`, w, i)
			jobs[i].Priority = 1 + int16(w%2)*int16(i%9) // half of the writers send mixed jobs
		}
		wg.Go(func() {
			res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
			results[w], errs[w] = res.IDs(), err
		})
	}
	wg.Wait()
	for w, ids := range results {
		must(t, errs[w])
		if len(ids) != each {
			t.Fatalf("writer %d got %d numbers, want %d", w, len(ids), each)
		}
		for _, i := range []int{0, 1, chunkJobs - 1, chunkJobs, each - 1} {
			checkArgs(t, b, ids[i], fmt.Sprintf(`{"writer":%d,"place":%d}`, w, i))
		}
	}
}

func checkArgs(t *testing.T, b *Backend, id int64, want string) {
	t.Helper()
	jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}, Limit: 1, Attempts: true})
	must(t, err)
	if len(jobs) != 1 || string(jobs[0].Args) != want {
		t.Errorf("job %d: %+v, want args %s", id, jobs, want)
	}
}

func TestPoolerIsNoticed(t *testing.T) {
	direct := fresh(t)
	if mode := direct.pool.Config().ConnConfig.DefaultQueryExecMode.String(); mode != "cache statement" {
		t.Errorf("a direct connection is taken for a pooler: %s", mode)
	}
	pooled := openAt(t, urlFrom(t, bouncerVariable), direct.schema)
	if mode := pooled.pool.Config().ConnConfig.DefaultQueryExecMode.String(); mode != "exec" {
		t.Errorf("the pooler is not noticed: %s", mode)
	}
}
