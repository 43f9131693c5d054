package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/sqlite"
)

func TestLayOut(t *testing.T) {
	columns := func() []columnFit {
		return []columnFit{
			{natural: 5},                 // a number
			{natural: 20, gives: cuts},   // a name
			{natural: 4, empty: true},    // nothing in any row
			{natural: 10, rank: 2},       // a state that may be left out
			{natural: 8, rank: 1},        // as the first
			{natural: 200, gives: wraps}, // an error
		}
	}
	const out = -1
	for _, test := range []struct {
		room int
		want []int
	}{
		{300, []int{5, 20, 4, 10, 8, 200}},
		{255, []int{5, 20, out, 10, 8, 200}},
		{100, []int{5, 20, out, 10, 8, 49}},
		{75, []int{5, 20, out, 10, out, 34}},
		{62, []int{5, 20, out, out, out, 33}},
		{58, []int{5, 19, out, out, out, 30}},
		{45, []int{5, 12, out, out, out, 24}},
		{30, []int{5, 12, out, out, out, 16}}, // and no narrower
	} {
		all := columns()
		for i := range all {
			all[i].width = all[i].natural
		}
		layOut(all, test.room)
		var got []int
		for _, c := range all {
			if c.out {
				c.width = out
			}
			got = append(got, c.width)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%d characters: %v, want %v", test.room, got, test.want)
		}
	}
}

const longError = "the connection to mail.example.org was refused after three attempts by a relay that does not know the domain of the sender, or its signature; last answer: 554 5.7.1"

// busyStore fills a store with what is too wide for 80 columns.
func busyStore(b *bench) {
	b.t.Helper()
	ctx := b.t.Context()
	backend, err := sqlite.Open(ctx, b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer backend.Close()
	workers := hourbell.NewWorkers()
	workers.Handle("deliver-the-newsletter-of-the-week", func(context.Context, *hourbell.JobRow) error { return errors.New(longError) })
	client, err := hourbell.New(backend, hourbell.Config{
		Name: "worker-of-the-mail-relay-in-building-4", Host: "mail-relay-4.internal.example.org", Workers: workers, Logger: slog.New(slog.DiscardHandler),
		Queues: map[string]int{"newsletters-to-subscribers": 1},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Run(ctx) }()
	b.ok("enqueue", "deliver-the-newsletter-of-the-week", "--queue", "newsletters-to-subscribers", "--max-attempts", "1")
	b.ok("schedules", "put", "newsletter-of-the-week-to-everyone", "--cron", "0 7 * * mon-fri", "--tz", "America/Argentina/Buenos_Aires", "--", "/usr/local/bin/send-newsletter", "--list", "subscribers-of-the-week")
	eventually(b.t, "the job has failed", func() bool { return strings.TrimSpace(b.ok("jobs", "count", "--state", "failed")) == "1" })
	b.ok("queues", "pause", "newsletters-to-subscribers", "--reason", "the relay does not know the domain of the sender, which the provider has to mend")
	if err := errors.Join(client.Stop(context.Background()), <-ended); err != nil {
		b.t.Fatal(err)
	}
}

// lastColumn returns the text of the last column in the first rows that have text there, joined as it was before it was
// continued on the next lines.
func lastColumn(shown, name string) string {
	shown = shown[max(strings.LastIndex(shown, "ID  STATE"), 0):]
	columns := header(shown)
	_, rows, _ := strings.Cut(shown, columns+"\n")
	at := strings.Index(columns, name)
	if at < 0 {
		return "no column " + name
	}
	var parts []string
	for line := range strings.Lines(rows) {
		if line = strings.TrimRight(line, "\n"); len([]rune(line)) > at {
			parts = append(parts, strings.TrimSpace(string([]rune(line)[at:])))
		}
	}
	return strings.Join(parts, " ")
}

// TestTablesFitTheTerminal lists what is wide on a terminal of 80 columns, and in a pipe.
func TestTablesFitTheTerminal(t *testing.T) {
	b := newBench(t)
	busyStore(b)
	const pauseReason = "the relay does not know the domain of the sender, which the provider has to mend"
	for _, test := range []struct {
		command, last, sentence string
		whole                   []string // what is shown whole on a terminal
	}{
		{"jobs list", "RESULT", longError, []string{"ID", "STATE", "failed", "KIND", "RUN AT"}},
		{"events", "REASON", longError, []string{"AT", "EVENT", "JOB", "KIND"}},
		{"queues", "PAUSED", pauseReason, []string{"QUEUE", "READY", "RUNNING", "WAITING", "newsletters"}},
		{"nodes", "", "", []string{"NAME", "STATE", "RUNNING", "SEEN", "worker-of-the-mail"}},
		{"schedules list", "", "", []string{"NAME", "RULE", "STATE", "NEXT", "RUNS", "newsletter-"}},
	} {
		args := strings.Fields(test.command)
		shown := escapes.ReplaceAllString(b.showOn(80, args...), "")
		t.Logf("%s:\n%s", test.command, shown)
		for line := range strings.Lines(shown) {
			if wide := text.StringWidth(strings.TrimSuffix(line, "\n")); wide > 80 && !strings.HasPrefix(line, "hourbell: ") {
				t.Errorf("%s: a line of %d characters: %q", test.command, wide, line)
			}
		}
		for _, part := range test.whole {
			if !strings.Contains(shown, part) {
				t.Errorf("%s: %q is not shown", test.command, part)
			}
		}
		piped := b.ok(args...)
		if !strings.HasPrefix(shown, "sqlite:") || strings.Contains(piped, "sqlite:") {
			t.Errorf("%s: a table on a terminal, and only there, begins with its store: %q, %q", test.command, shown, piped)
		}
		if strings.Contains(piped, "…") {
			t.Errorf("%s is cut in a pipe: %q", test.command, piped)
		}
		if test.sentence != "" {
			for place, all := range map[string]string{"a terminal": lastColumn(shown, test.last), "a pipe": piped} {
				if !strings.Contains(all, test.sentence) {
					t.Errorf("%s: the sentence is cut on %s: %q", test.command, place, all)
				}
			}
		}
		if wide := escapes.ReplaceAllString(b.showOn(80, append(args, "--wide")...), ""); strings.Contains(wide, "…") || len(strings.Fields(header(wide))) != len(strings.Fields(header(piped))) {
			t.Errorf("%s --wide: %s", test.command, wide)
		}
	}
	for _, shown := range []string{b.ok("jobs", "list", "--columns", "state, run_at,ID"), b.show("jobs", "list", "--columns", "state, run_at,ID")} {
		if got := strings.Join(strings.Fields(header(shown)), " "); got != "STATE RUN AT ID" {
			t.Errorf("chosen columns: %q", shown)
		}
	}
	b.fails(exitUsage, []string{"columns", "kinds", "did you mean kind?"}, "jobs", "list", "--columns", "id,kinds")
	b.fails(exitUsage, []string{"columns", "is for tables"}, "jobs", "list", "--columns", "id", "--output", "json")
}

// TestWatchFitsTheTerminal watches a table that is too wide for its terminal: no line is cut by it.
func TestWatchFitsTheTerminal(t *testing.T) {
	b := newBench(t)
	busyStore(b)
	term := newTerminal(b, 24, 80)
	ended := term.start("jobs", "list", "--watch=100ms")
	eventually(t, "the first reading", func() bool { return strings.Contains(term.shown.String(), "5.7.1") })
	if _, err := term.outer.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != exitDone {
		t.Errorf("exit code %d", code)
	}
	shown := escapes.ReplaceAllString(strings.ReplaceAll(term.shown.String(), "\r", ""), "")
	if all := lastColumn(shown, "RESULT"); !strings.Contains(all, longError) {
		t.Errorf("shown: %q", shown)
	}
}

// header returns the line with the names of the columns, which is below the store on a terminal.
func header(table string) string {
	line, rest, _ := strings.Cut(table, "\n")
	if strings.HasPrefix(line, "sqlite:") {
		line, _, _ = strings.Cut(rest, "\n")
	}
	return line
}
