package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/store"
)

// The adapter's process is this program, with a variable.
const childVariable = "HARDBYTE_TEST_ADAPTER"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// adapter is a process of the adapter, and a database of its own.
type adapter struct {
	t     *testing.T
	url   string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
	sum   map[string]float64 // of the rates so far: about the jobs, because samples are about a second apart
	late  time.Duration      // how long after a full second samples were taken, at the least
}

// start runs the adapter with the variables env, as the harness does.
func start(t *testing.T, env ...string) *adapter {
	t.Helper()
	a := &adapter{t: t, url: newDatabase(t), sum: map[string]float64{}, late: time.Second}
	a.cmd = exec.Command(os.Args[0])
	a.cmd.Env = append(append(os.Environ(),
		childVariable+"=1", "DATABASE_URL="+a.url, "SCENARIO=long_horizon", "SAMPLE_EVERY_S=1"), env...)
	a.cmd.Stderr = t.Output()
	var err error
	a.stdin, err = a.cmd.StdinPipe()
	must(t, err)
	stdout, err := a.cmd.StdoutPipe()
	must(t, err)
	a.lines = bufio.NewScanner(stdout)
	must(t, a.cmd.Start())
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		_ = a.cmd.Wait()
	})
	return a
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newDatabase returns the URL of a database, which is dropped after the test.
func newDatabase(t *testing.T) string {
	at, err := url.Parse(testserver.URL(t, "HOURBELL_TEST_POSTGRES_URL"))
	must(t, err)
	conn, err := pgx.Connect(t.Context(), at.String())
	must(t, err)
	name := fmt.Sprintf("hardbyte_%d_%d", os.Getpid(), time.Now().UnixNano())
	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+name)
	must(t, err)
	t.Cleanup(func() {
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	at.Path = "/" + name
	return at.String()
}

// next reads a line.
func (a *adapter) next(into any) {
	a.t.Helper()
	if !a.lines.Scan() {
		a.t.Fatal("the adapter has ended: ", a.lines.Err())
	}
	if err := json.Unmarshal(a.lines.Bytes(), into); err != nil {
		a.t.Fatalf("the adapter printed %q: %v", a.lines.Text(), err)
	}
}

// metrics are the metrics that the contract requires, and the metrics of the first process of a run.
var metrics = []string{
	"claim_p50_ms", "claim_p95_ms", "claim_p99_ms", "enqueue_rate", "completion_rate", "queue_depth",
	"producer_target_rate", "subscriber_p50_ms", "subscriber_p95_ms", "subscriber_p99_ms",
	"end_to_end_p50_ms", "end_to_end_p95_ms", "end_to_end_p99_ms",
}

// tick reads the samples of an instant.
func (a *adapter) tick() map[string]float64 {
	a.t.Helper()
	values, at := map[string]float64{}, ""
	for range metrics {
		var r record
		a.next(&r)
		instant, err := time.Parse(time.RFC3339, r.T)
		if err != nil || r.System != "hourbell" || r.Kind != "adapter" || r.SubjectKind != "adapter" ||
			!slices.Contains(metrics, r.Metric) {
			a.t.Fatalf("a sample is %+v: %v", r, err)
		}
		if at != "" && r.T != at {
			a.t.Fatalf("samples of one instant are at %s and %s", at, r.T)
		}
		a.late = min(a.late, instant.Sub(instant.Truncate(time.Second)))
		at, values[r.Metric] = r.T, r.Value
	}
	if len(values) != len(metrics) {
		a.t.Fatalf("the samples of an instant are %v", values)
	}
	a.sum["enqueue_rate"] += values["enqueue_rate"]
	a.sum["completion_rate"] += values["completion_rate"]
	return values
}

// until reads samples until the samples of an instant are as they should be.
func (a *adapter) until(what string, as func(values map[string]float64) bool) {
	a.t.Helper()
	var values map[string]float64
	for range 20 {
		if values = a.tick(); as(values) {
			return
		}
	}
	a.t.Fatalf("after 20 seconds there was no instant when %s: %v", what, values)
}

// end sends SIGTERM, and compares what was printed with what the store has of completed jobs, which it returns.
func (a *adapter) end() int64 {
	a.t.Helper()
	_ = a.stdin.Close()
	began := time.Now()
	must(a.t, a.cmd.Process.Signal(syscall.SIGTERM))
	for a.lines.Scan() { // samples that were on their way
	}
	if err := a.cmd.Wait(); err != nil {
		a.t.Errorf("after SIGTERM the adapter ended with %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		a.t.Errorf("the adapter ended %v after SIGTERM; the contract allows 5 s", took)
	}
	if a.late > 100*time.Millisecond {
		a.t.Errorf("samples were %v late or more; they belong to full seconds", a.late)
	}
	backend, err := postgres.Open(a.t.Context(), a.url)
	must(a.t, err)
	defer backend.Close()
	client, err := hourbell.New(backend, hourbell.Config{})
	must(a.t, err)
	done, err := client.Jobs.Count(a.t.Context(), hourbell.JobFilter{States: []store.State{store.StateCompleted}})
	must(a.t, err)
	if float64(done) < a.sum["completion_rate"]*0.8 {
		a.t.Errorf("the store has %d completed jobs; the samples said %.0f", done, a.sum["completion_rate"])
	}
	return done
}

// TestFixedRate also changes the rate by the file, as the harness does in a phase of high load.
func TestFixedRate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "producer_rate.txt")
	must(t, os.WriteFile(file, []byte("100\n"), 0o600))
	a := start(t, "PRODUCER_MODE=fixed", "PRODUCER_RATE=1", "PRODUCER_RATE_CONTROL_FILE="+file, "JOB_PAYLOAD_BYTES=256")

	var descriptor struct {
		Kind, System, Version string
		SchemaVersion         string   `json:"schema_version"`
		StartedAt             string   `json:"started_at"`
		DBName                string   `json:"db_name"`
		EventTables           []string `json:"event_tables"`
		EventIndexes          []string `json:"event_indexes"`
		Extensions            []string
	}
	a.next(&descriptor)
	if descriptor.Kind != "descriptor" || descriptor.System != "hourbell" || descriptor.Version == "" ||
		descriptor.SchemaVersion == "" || descriptor.DBName != "hourbell_bench" || descriptor.Extensions == nil {
		t.Errorf("the descriptor is %s", a.lines.Text())
	}
	if _, err := time.Parse(time.RFC3339, descriptor.StartedAt); err != nil {
		t.Error(err)
	}
	a.exist(append(descriptor.EventTables, descriptor.EventIndexes...))

	a.until("100 jobs a second start and end", func(v map[string]float64) bool {
		return v["producer_target_rate"] == 100 && near(v["enqueue_rate"], 100) && near(v["completion_rate"], 100) &&
			v["claim_p50_ms"] > 0 && v["claim_p99_ms"] >= v["claim_p50_ms"] && v["end_to_end_p50_ms"] >= v["claim_p50_ms"]+0.9
	})
	must(t, os.WriteFile(file, []byte("400\n"), 0o600))
	a.until("400 jobs a second start and end", func(v map[string]float64) bool {
		return v["producer_target_rate"] == 400 && near(v["enqueue_rate"], 400) && near(v["completion_rate"], 400)
	})
	a.end()
}

func near(value, goal float64) bool { return value > goal*0.7 && value < goal*1.3 }

// exist fails unless the database has these tables and indexes.
func (a *adapter) exist(names []string) {
	a.t.Helper()
	conn, err := pgx.Connect(a.t.Context(), a.url)
	must(a.t, err)
	defer conn.Close(a.t.Context())
	for _, name := range names {
		var found bool
		must(a.t, conn.QueryRow(a.t.Context(), "SELECT to_regclass($1) IS NOT NULL", name).Scan(&found))
		if !found {
			a.t.Errorf("the descriptor names %s, which does not exist", name)
		}
	}
}

// TestTargetDepth has two workers with jobs of 20 ms, so that jobs wait.
func TestTargetDepth(t *testing.T) {
	t.Parallel()
	a := start(t, "PRODUCER_MODE=depth-target", "TARGET_DEPTH=500", "WORKER_COUNT=2", "JOB_WORK_MS=20")
	a.next(&struct{}{})
	for range 3 {
		a.until("about 500 jobs are ready", func(v map[string]float64) bool {
			return v["queue_depth"] > 400 && v["queue_depth"] < 650 && v["completion_rate"] > 10 &&
				v["producer_target_rate"] == 0
		})
	}
	if done := a.end(); done < 100 {
		t.Errorf("%d jobs were completed; two workers complete about 100 a second", done)
	}
}

// TestTokens inserts what the harness asks for, and nothing else.
func TestTokens(t *testing.T) {
	t.Parallel()
	a := start(t, "PRODUCER_MODE=fixed", "PRODUCER_PACING=harness", "PRODUCER_RATE=1000", "PRODUCER_BATCH_MAX=5")
	a.next(&struct{}{})
	if v := a.tick(); v["enqueue_rate"] != 0 {
		t.Errorf("before the first token, the samples are %v", v)
	}
	_, err := io.WriteString(a.stdin, strings.Repeat("ENQUEUE 3\n", 10)+"ENQUEUE 7\n") // the last is more than the maximum
	must(t, err)
	a.until("all jobs are completed", func(v map[string]float64) bool {
		return a.sum["completion_rate"] > 0.8*35 && v["completion_rate"] == 0
	})
	if done := a.end(); done != 35 {
		t.Errorf("%d jobs were completed, not 35", done)
	}
}

// TestWrongSettings ends with an error that names all of them.
func TestWrongSettings(t *testing.T) {
	env := map[string]string{"SCENARIO": "chaos", "PRODUCER_RATE": "fast", "WORKER_COUNT": "0"}
	_, err := readSettings(func(name string) string { return env[name] })
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range []string{"SCENARIO=chaos", "PRODUCER_RATE=fast", "WORKER_COUNT=0", "DATABASE_URL"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error does not name %s: %v", name, err)
		}
	}
}

// TestBuckets checks that a bucket holds values with three equal figures.
func TestBuckets(t *testing.T) {
	last := -1
	for v := int64(0); v < 1<<32; v += 1 + v/5000 {
		b := bucket(v)
		if b < last || b > last+1 {
			t.Fatalf("%d µs are in bucket %d, after bucket %d", v, b, last)
		}
		if low := lowest(b); low > v || float64(v-low) > float64(v)/1000 {
			t.Fatalf("%d µs are in the bucket from %d µs", v, low)
		}
		last = b
	}
}
