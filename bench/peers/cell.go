package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// cell is one measurement, made for several systems under the same conditions.
type cell struct {
	name    string
	title   string
	metrics []string // the columns of its table; ratios are computed from the first column
	// yardsticks are the rows with which the other rows are compared, in each
	// round.
	yardsticks []string
	rows       []row
	once       bool // one round is enough
	together   bool // all rows run concurrently, because none of them keeps the machine busy
	far        bool // over a network
	named      bool // measured only if BENCH_CELLS names it, because it takes hours
}

// has reports whether a name selects the cell: its own name, or the name of the database with which its name begins.
func (c cell) has(name string) bool {
	return c.name == name || strings.HasPrefix(c.name, name+"-") && (name == "mysql" || name == "sqlite")
}

// id returns the name of the cell in samples.
func (c cell) id() string {
	if c.far {
		return farCell(c.name)
	}
	return c.name
}

// farCell returns the name in samples of a cell over a network.
func farCell(name string) string { return name + ", far" }

// row is one system, or one way of using a system.
type row struct {
	name string
	run  func(context.Context) (metrics, error)
}

// sample is the result of one row in one round.
type sample struct {
	Cell    string  `json:"cell"`
	Row     string  `json:"row"`
	Round   int     `json:"round"`
	Metrics metrics `json:"metrics,omitempty"`
	Note    string  `json:"note,omitempty"` // why there are no figures
}

// throughput is the list of columns of most tables.
var throughput = []string{"jobs/s", "client µs", "server µs", "WAL B", "foreign %"}

// chosen returns the cells and rows that the user selected.
func chosen(all []cell, names []string, rows *regexp.Regexp) ([]cell, error) {
	for _, name := range names {
		if !slices.ContainsFunc(all, func(c cell) bool { return c.has(name) }) {
			var known []string
			for _, c := range all {
				known = append(known, c.name)
			}
			return nil, fmt.Errorf("BENCH_CELLS: there is no cell %q; the cells are %v", name, known)
		}
	}
	var picked []cell
	for _, c := range all {
		if (len(names) > 0 || c.named) && !slices.ContainsFunc(names, c.has) {
			continue
		}
		c.rows = slices.DeleteFunc(c.rows, func(r row) bool { return !rows.MatchString(r.name) })
		if len(c.rows) > 0 {
			picked = append(picked, c)
		}
	}
	return picked, nil
}

// runCell measures each row of c once. Each round begins with another row,
// because the first row follows another cell, whose last writes are still being
// written to the disk.
func (b *bench) runCell(ctx context.Context, c cell, round int) error {
	var wg sync.WaitGroup
	errs := make([]error, len(c.rows))
	first := (round - 1) % len(c.rows)
	for i, r := range slices.Concat(c.rows[first:], c.rows[:first]) {
		one := func() { errs[i] = b.runRow(ctx, c, r, round) }
		if c.together {
			wg.Go(one)
		} else if one(); errs[i] != nil {
			return errs[i]
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// runRow measures a row. A failure is recorded and does not end the run, unless
// the run is being stopped.
func (b *bench) runRow(ctx context.Context, c cell, r row, round int) error {
	started := time.Now()
	m, err := r.run(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s := sample{Cell: c.id(), Row: r.name, Round: round, Metrics: m}
	if err != nil {
		s.Note = err.Error()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.results = append(b.results, s)
	fmt.Fprintf(os.Stderr, "%d %-16s %-40s %s  (%.0f s)\n", round, c.id(), r.name, s.short(c), time.Since(started).Seconds())
	return appendLine(b.env.out, s)
}

// short returns the sample as one line.
func (s sample) short(c cell) string {
	if s.Note != "" {
		return s.Note
	}
	text := ""
	for _, name := range c.metrics {
		if v, ok := s.Metrics[name]; ok {
			text += fmt.Sprintf(" %s=%s", name, figure(v))
		}
	}
	return text
}

// appendLine adds v to a file as a line of JSON.
func appendLine(path string, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}
