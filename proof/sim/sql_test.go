package sim

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/drivers/mysql"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/store"
)

// TestWeatherOnSQL runs clusters over real databases, on real time, in the weather of the simulation: calls that are
// late, that fail before or after they took effect, or that are made twice; nodes that are killed, stopped and frozen,
// also right after certain calls. The same checks judge what was seen.
//
//	HOURBELL_WEATHER_SECONDS=30 go test ./proof/sim -run WeatherOnSQL -v           # a fresh seed
//	HOURBELL_WEATHER_SECONDS=30 go test ./proof/sim -run WeatherOnSQL -v -seed 17  # the plan of a seed
//
// A seed draws the same plan again, and not the same course: on real time goroutines run in any order.
func TestWeatherOnSQL(t *testing.T) {
	if os.Getenv("HOURBELL_WEATHER_SECONDS") == "" {
		t.Skip("HOURBELL_WEATHER_SECONDS says for how long the weather is bad, and is not set")
	}
	for _, one := range []struct {
		name string
		open func(t *testing.T) func() (store.Backend, error)
	}{
		{"sqlite", onSQLite}, {"postgres", onPostgres}, {"mysql", onMySQL},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			seed := *seedFlag
			if seed == 0 {
				seed = rand.Uint64N(1 << 40)
			}
			p := realPlan(seed, weatherSeconds(t))
			res := inWeather(t, p, one.open(t))
			fmt.Printf("%s: seed %d: %v with %d faults, %d jobs, %d runs of workers, %d steps\n",
				one.name, seed, res.took.Round(time.Second), res.faults, res.jobs, res.runs, res.steps)
			if len(res.problems) > 0 {
				t.Errorf("seed %d:\n%s\n%v\n%v", seed, first(res.problems, 10), p, res.trace)
			}
		})
	}
}

// weatherSeconds returns how long the weather is bad.
func weatherSeconds(t *testing.T) time.Duration {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("HOURBELL_WEATHER_SECONDS"))
	if err != nil {
		t.Fatalf("HOURBELL_WEATHER_SECONDS: %v; give a number of seconds", err)
	}
	return time.Duration(n) * time.Second
}

// squeeze is by how much a plan on real time is denser than a simulated one.
const squeeze = 20

// realPlan draws a plan for real time: a dense one, with a short lease, without what needs the clock of the simulation or
// the store in memory.
func realPlan(seed uint64, length time.Duration) *plan {
	p := newPlan(seed, squeeze*length)
	p.Length, p.Lease, p.Skew = length, 3*time.Second, 0
	p.Weather = weather{Latency: time.Millisecond, Slow: 0.002, Before: 0.02, After: 0.02, Twice: 0.05}
	w := &workload{rng: dice{seed}.rng("faults on real time"), plan: p}
	for range int(length / (2 * time.Second)) { // one more in two seconds; the instants are squeezed below
		e := event{At: squeeze * w.at(), Verb: "freeze", Node: 1 + w.rng.IntN(p.Nodes), For: w.below(40 * time.Second)}
		if w.rng.IntN(2) == 0 {
			e.Verb, e.For = "kill", 0
			w.add(event{At: e.At + 20*time.Second, Verb: "start", Node: e.Node})
		}
		if w.rng.IntN(2) == 0 {
			e.Trap = traps[w.rng.IntN(len(traps))]
		}
		w.add(e)
	}
	p.Events = slices.DeleteFunc(p.Events, func(e event) bool {
		rated := e.Limit != nil && e.Limit.Rate.Jobs > 0
		return rated || slices.Contains([]string{"away", "clock", "cut", "pause", "resume", restore, enqueueInTx}, e.Verb)
	})
	for i := range p.Events {
		e := &p.Events[i]
		e.At /= squeeze
		e.For /= squeeze / 2
		if e.Limit != nil && e.Limit.Kind == kindTx {
			e.Limit.Kind = kindSlow
		}
		for k := range e.Jobs {
			if e.Jobs[k].In /= squeeze; completesInTx(e.Jobs[k].Kind) {
				e.Jobs[k].Kind = kindPlain
			}
			for n := range e.Jobs[k].Steps {
				step := &e.Jobs[k].Steps[n]
				step.For, step.Meets, step.Tx = step.For/(squeeze/2), step.Meets/(squeeze/2), false
			}
		}
		if e.Sched != nil {
			e.Sched.Every = max((e.Sched.Every / squeeze).Truncate(time.Second), time.Second)
		}
	}
	return p
}

// inWeather runs a plan over a database. Each process has its own connections.
func inWeather(t *testing.T, p *plan, open func() (store.Backend, error)) result {
	t.Helper()
	d := dice{p.Seed}
	c := &cluster{
		plan: p, dice: d, gate: newGate(d.rng("gate")), witness: newWitness(), began: time.Now(), weather: p.Weather,
		ids: map[string]int64{}, real: true,
	}
	c.gate.settle = func() {}
	c.trace = &trace{on: true, clock: c.now}
	c.open = func() store.Backend {
		b, err := open()
		if err != nil {
			t.Error(err)
			panic(err)
		}
		t.Cleanup(func() { _ = b.(io.Closer).Close() })
		return b
	}
	c.store = c.open()
	c.run(t)
	res := result{
		problems: verify(p, c.witness), trace: c.trace, witness: c.witness, took: c.witness.at.Real.Sub(c.began),
		faults: len(c.witness.faults) + c.failed, jobs: len(c.witness.jobs), runs: len(c.witness.runs),
	}
	for _, n := range c.gate.counts {
		res.steps += n
	}
	return res
}

// migrates makes the tables of a store before its first use.
func migrates[B interface {
	MigrateUp(ctx context.Context) ([]store.Migration, error)
	Close() error
}](t *testing.T, open func() (B, error)) {
	t.Helper()
	b, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// freshName returns a name for a schema or a database.
func freshName() string { return fmt.Sprintf("weather_%d_%d", os.Getpid(), time.Now().UnixNano()) }

func onSQLite(t *testing.T) func() (store.Backend, error) {
	path := filepath.Join(t.TempDir(), "weather.db")
	open := func() (*sqlite.Backend, error) {
		return sqlite.Open(context.Background(), path, sqlite.Synchronous("NORMAL"))
	}
	migrates(t, open)
	return func() (store.Backend, error) { return open() }
}

func onPostgres(t *testing.T) func() (store.Backend, error) {
	at, schema := testserver.URL(t, "HOURBELL_TEST_POSTGRES_URL"), freshName()
	open := func() (*postgres.Backend, error) {
		return postgres.Open(context.Background(), at, postgres.Schema(schema))
	}
	t.Cleanup(func() {
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, at)
		if err == nil {
			defer conn.Close(ctx)
			_, err = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		}
		if err != nil {
			t.Errorf("drop the schema: %v", err)
		}
	})
	migrates(t, open)
	return func() (store.Backend, error) { return open() }
}

func onMySQL(t *testing.T) func() (store.Backend, error) {
	base, name := testserver.URL(t, "HOURBELL_TEST_MYSQL_URL"), freshName()
	execute := func(text string) {
		db, err := mysql.OpenDB(base)
		if err == nil {
			defer db.Close()
			_, err = db.ExecContext(context.Background(), text)
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	execute("CREATE DATABASE " + name)
	t.Cleanup(func() { execute("DROP DATABASE " + name) })
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal("HOURBELL_TEST_MYSQL_URL is not a URL")
	}
	u.Path = "/" + name
	open := func() (*mysql.Backend, error) { return mysql.Open(context.Background(), u.String()) }
	migrates(t, open)
	return func() (store.Backend, error) { return open() }
}
