package main

import (
	"context"
	"log/slog"
	"testing"

	"github.com/hourbell/hourbell"
)

// TestDidYouMean misspells commands, flags and names. The exit codes are as without a
// suggestion.
func TestDidYouMean(t *testing.T) {
	b := newBench(t)
	for _, test := range []struct {
		text string
		args []string
	}{
		{"is unknown; did you mean `hourbell jobs`? `hourbell --help` lists them\n", []string{"jbos"}},
		{"did you mean `hourbell jobs list`? ", []string{"jobs", "lits", "--limit", "3"}},
		{"did you mean `hourbell schedules pause`? ", []string{"schedules", "puase", "nightly"}},
		{"did you mean `hourbell events keep`? ", []string{"events", "kepe", "1h"}},
		{"did you mean `hourbell schedules`? ", []string{"help", "sched"}},
		{"is unknown; did you mean --queue? `hourbell jobs list --help` lists the flags\n", []string{"jobs", "list", "--qeue", "mail"}},
		{"did you mean --watch? ", []string{"jobs", "list", "-watch"}},
		{"state \"not-started\" is unknown; did you mean not_started? use waiting, ", []string{"jobs", "list", "--state", "not-started"}},
		{"state \"frobnicate\" is unknown; use waiting, ", []string{"jobs", "cancel", "--state", "frobnicate"}},
		{"\"frobnicate\" is unknown; `hourbell --help` lists them\n", []string{"frobnicate"}},
		{"\"--frobnicate\" is unknown; `hourbell jobs list --help` lists the flags\n", []string{"jobs", "list", "--frobnicate"}},
	} {
		b.fails(exitUsage, []string{test.text}, test.args...)
	}
	noStore(t, b)

	workers := hourbell.NewWorkers()
	workers.Handle("mail", func(context.Context, *hourbell.JobRow) error { return nil })
	_, stop := b.node(hourbell.Config{Workers: workers, Queues: map[string]int{"letters": 1}, Logger: slog.New(slog.DiscardHandler)})
	defer stop()
	b.ok("schedules", "put", "nightly", "--every", "24h", "--kind", "mail", "--group", "reports")
	b.ok("calendars", "put", "holidays", "--dates", "12-25")
	for _, test := range []struct {
		meant string
		code  int
		args  []string
	}{
		{"nightly", exitFailed, []string{"schedules", "show", "nightyl"}},
		{"nightly", exitFailed, []string{"schedules", "pause", "nightyl"}},
		{"nightly", exitFailed, []string{"schedules", "trigger", "nightyl"}},
		{"nightly", exitFailed, []string{"schedules", "tree", "NIGHTLY"}},
		{"nightly", exitFailed, []string{"schedules", "edit", "night", "--every", "2h"}},
		{"nightly", exitFailed, []string{"schedules", "backfill", "nightyl", "--from", "2027-01-01T00:00:00Z", "--to", "2027-01-02T00:00:00Z"}},
		{"nightly", exitFailed, []string{"explain", "nightyl"}},
		{"nightly", exitFailed, []string{"jobs", "cancel", "--schedule", "nightyl"}},
		{"reports", exitFailed, []string{"groups", "cancel", "reprots"}},
		{"reports", exitFailed, []string{"schedules", "trigger", "--group", "reprots"}},
		{"holidays", exitFailed, []string{"calendars", "delete", "holiday"}},
		{"letters", exitDone, []string{"jobs", "list", "--queue", "leters"}},
		{"letters", exitDone, []string{"jobs", "cancel", "--queue", "leters"}},
		{"mail", exitDone, []string{"jobs", "retry", "--kind", "mial", "--dry-run"}},
		{"mail", exitDone, []string{"jobs", "list", "--kind", "mial"}},
		{"mail", exitDone, []string{"jobs", "count", "--kind", "mial"}},
		{"nightly", exitDone, []string{"slots", "--schedule", "nightl"}},
		{"reports", exitDone, []string{"schedules", "list", "--group", "report"}},
		{"holidays", exitDone, []string{"schedules", "list", "--calendar", "holidys"}},
	} {
		b.fails(test.code, []string{"; did you mean \"" + test.meant + "\"?\n"}, test.args...)
	}
	b.fails(exitFailed, []string{"`hourbell schedules list`"}, "schedules", "show", "something else")
	b.fails(exitFailed, []string{"`hourbell calendars list`"}, "calendars", "show", "something else")
	b.fails(exitFailed, []string{"`hourbell handlers list`"}, "handlers", "delete", "something else")
	b.ok("jobs", "list", "--queue", "letters")
	b.ok("jobs", "cancel", "--queue", "letters")
	b.ok("jobs", "list", "--queue", "leters", "--output", "ndjson")
}
