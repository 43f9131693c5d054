package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/store"
)

// The columns of the cell "strangers".
const (
	startsOther = "other job starts, s"
	listsKind   = "jobs list --kind, s"
	listsNone   = "of a kind without jobs, s"
	listsQueues = "queues, s"
)

// strangersCell measures what due jobs of a kind that no node has cost the jobs of other kinds in the same queue, and the program.
func (b *bench) strangersCell() cell {
	of := func(name, system, synchronous string) row {
		return row{name, func(ctx context.Context) (metrics, error) { return b.strangers(ctx, named(system), synchronous) }}
	}
	return cell{
		name: "strangers", title: fmt.Sprintf("%s due jobs of a kind that no node has: from the start of a node to the start of another job, "+
			"and how long commands of the program take", thousands(b.env.strangers)),
		metrics: []string{startsOther, listsKind, listsNone, listsQueues},
		rows:    []row{of("PostgreSQL", "hourbell", ""), of("MariaDB", oursOnMySQL, ""), of("SQLite", "hourbell", "NORMAL")},
		once:    true,
	}
}

// strangersGoals are the goals of strangersCell.
func strangersGoals() (list []goal) {
	for _, row := range []string{"PostgreSQL", "MariaDB", "SQLite"} {
		list = append(list,
			goal{text: row + ": another job starts after the start of a node, s", cell: "strangers", row: row, metric: startsOther, most: 2},
			goal{text: row + ": jobs list --kind, s", cell: "strangers", row: row, metric: listsKind, most: 1},
			goal{text: row + ": jobs list --kind, of a kind without jobs, s", cell: "strangers", row: row, metric: listsNone, most: 1},
			goal{text: row + ": queues, s", cell: "strangers", row: row, metric: listsQueues, most: 2},
		)
	}
	return list
}

func (b *bench) strangers(ctx context.Context, s system, synchronous string) (metrics, error) {
	db, err := b.createFor(ctx, s, synchronous)
	if err != nil {
		return nil, err
	}
	defer db.drop()
	if err := b.insertStrangers(ctx, db); err != nil {
		return nil, err
	}
	if _, err := b.once(ctx, s, db.request(child.Request{Do: child.Insert, Jobs: 1, Batch: 1, Clients: 1})); err != nil {
		return nil, err
	}
	if err := analyze(ctx, db); err != nil {
		return nil, err
	}
	began := time.Now()
	node, err := b.start(ctx, s, db.measured(child.Request{Do: child.Work}, false))
	if err != nil {
		return nil, err
	}
	defer node.end()
	if err := node.begin(); err != nil {
		return nil, err
	}
	ended, err := count(ctx, []*process{node}, 1, time.Minute)
	if err == nil && ended == 0 {
		err = errors.New("no other job has started within a minute")
	}
	m := metrics{startsOther: time.Since(began).Seconds()}
	for _, command := range []struct{ name, args string }{
		{listsKind, "jobs list --kind stranger"}, {listsNone, "jobs list --kind nothing"}, {listsQueues, "queues"},
	} {
		if err == nil {
			m[command.name], err = b.runProgram(ctx, db, strings.Fields(command.args)...)
		}
	}
	return m, err
}

// insertStrangers fills a database with due jobs of a kind that no node has.
func (b *bench) insertStrangers(ctx context.Context, db database) error {
	backend, err := openBackend(ctx, db.request(child.Request{}))
	if err != nil {
		return err
	}
	defer backend.(io.Closer).Close()
	const portion = 1000
	jobs := make([]store.NewJob, portion)
	for i := range jobs {
		spec := store.JobSpec{Kind: "stranger", Queue: "default", Args: []byte(`{"number":1,"text":"the quick brown fox"}`), Priority: 5, MaxAttempts: 25}
		jobs[i] = store.NewJob{JobSpec: spec}
	}
	for left := b.env.strangers; left > 0; left -= portion {
		if _, err := backend.Insert(ctx, store.InsertRequest{Jobs: jobs[:min(portion, left)]}); err != nil {
			return err
		}
	}
	return nil
}

// runProgram runs a command of the program on a database, and returns how many seconds it took.
func (b *bench) runProgram(ctx context.Context, db database, args ...string) (seconds float64, err error) {
	program, err := b.program(ctx)
	if err != nil {
		return 0, err
	}
	at := db.far
	if db.synchronous != "" {
		at = "sqlite:" + at
	}
	cmd := exec.CommandContext(ctx, program, append(args, "--store", at)...)
	cmd.Stderr = os.Stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("hourbell %s: %w", strings.Join(args, " "), err)
	}
	return time.Since(began).Seconds(), nil
}
