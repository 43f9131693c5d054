// Command peers compares Hourbell with other job queues and with the best that
// PostgreSQL reaches. `make bench` runs it on a server of its own.
//
//	peers              runs the cells, interleaved, and prints a table for each
//	peers report FILE… writes the figures of the given results into ../docs/benchmarks.md
//
// The environment selects what is measured:
//
//	BENCH_CELLS     names of cells, or mysql or sqlite for the cells of that database, separated by commas; default all
//	BENCH_ROWS      a regular expression for the rows of the cells
//	BENCH_ROUNDS    how often each row is measured (3)
//	BENCH_FROM      number of the first round (1): rounds can be run one by one
//	BENCH_JOBS      jobs of a drain, and of inserts of 1,000 (100,000)
//	BENCH_DEAD      jobs worked before, under the old snapshot (300,000)
//	BENCH_INSERTS   jobs inserted one by one (20,000)
//	BENCH_BACKLOG   jobs of the large backlog (1,000,000); 10,000,000 take about 13 GB of disk, and minutes per row to fill
//	BENCH_SCHEDULES schedules that are stored (100,000)
//	BENCH_STORED    jobs in the store of the cells pages, pages-drain and api-load (1,000,000), with a tenth as many schedules and ten times as many slots: about 4 GB of disk, and minutes to fill
//	BENCH_STRANGERS jobs of the cell strangers whose kind no node has (2,000,000): about 2 GB of disk, and minutes to fill
//	BENCH_STEPS     steps of the cell steps (8,000)
//	BENCH_HOUR      seconds for which the rows of the cell hours insert jobs (3,600); the cell is measured only if BENCH_CELLS names it
//	BENCH_SECONDS   length of a row of the latency cells (6)
//	BENCH_LIMIT     seconds after which a drain is stopped; its rate until then is used (10)
//	BENCH_LEAD      seconds from storing schedules until they are due (15)
//	BENCH_DELAY     the network between each client and PostgreSQL: how long a byte takes in each direction, such as 500us; default none
//	BENCH_OUT       the file that gets each figure as a line of JSON (bench.jsonl in the folder of temporary files)
//	TMPDIR          the folder of SQLite's files: on a disk, not in memory
//	HOURBELL_TEST_MYSQL_URL     the MySQL or MariaDB of the cells mysql-…; none: these cells are skipped
//	HOURBELL_TEST_POSTGRES_URL  the server, with the rights of a superuser and on this machine
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/hourbell/hourbell/bench/child"
	_ "modernc.org/sqlite"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		child.Main(open)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1) //nolint:gocritic // stop only unregisters the signals
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 0:
		return measure(ctx)
	case args[0] == "report" && len(args) > 1:
		return report("../docs/benchmarks.md", args[1:])
	}
	return errors.New("usage: peers, or peers report FILE…")
}

// measure runs the selected cells round by round, so that changes of the
// machine affect all of them, and then prints the tables.
func measure(ctx context.Context) error {
	b, err := newBench(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	all := cells(b)
	picked, err := chosen(all, b.env.cells, b.env.rows)
	if err != nil {
		return err
	}
	for round := b.env.from; round < b.env.from+b.env.rounds; round++ {
		for _, c := range picked {
			if c.once && round > 1 {
				continue
			}
			if err := b.runCell(ctx, c, round); err != nil {
				return err
			}
		}
	}
	return printTables(os.Stdout, all, b.results)
}

// open opens the system of a child process.
func open(ctx context.Context, req child.Request) (child.System, error) {
	for _, s := range systems {
		if s.name == req.System && s.open != nil {
			return s.open(ctx, req)
		}
	}
	return nil, fmt.Errorf("there is no system %q", req.System)
}
