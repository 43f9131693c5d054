package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
)

// terminal is a pseudo-terminal on which a program runs.
type terminal struct {
	b     *bench
	outer *os.File // what a person at the terminal types
	inner *os.File
	shown lockedBuffer
}

func newTerminal(b *bench, rows, columns uint16) *terminal {
	b.t.Helper()
	outer, inner, err := pty.Open()
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { outer.Close(); inner.Close() })
	if err := pty.Setsize(inner, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		b.t.Fatal(err)
	}
	term := &terminal{b: b, outer: outer, inner: inner}
	go io.Copy(&term.shown, outer) // until the terminal is closed
	return term
}

// start runs a command on the terminal, and returns its exit code when it ends.
func (term *terminal) start(args ...string) chan int {
	p := &program{
		stdin: term.inner, stdout: term.inner, stderr: term.inner,
		getenv: func(name string) string { return term.b.env[name] }, now: func() time.Time { return noon }, page: term.b.page,
	}
	ended := make(chan int, 1)
	go func() { ended <- p.run(term.b.t.Context(), args) }()
	return ended
}

// show runs a command on a new terminal, and returns what the terminal shows.
func (b *bench) show(args ...string) string {
	b.t.Helper()
	return b.showOn(200, args...)
}

// showOn is show on a terminal with the given number of columns.
func (b *bench) showOn(columns uint16, args ...string) string {
	b.t.Helper()
	term := newTerminal(b, 40, columns)
	if code := <-term.start(args...); code != exitDone {
		b.t.Fatalf("%q: exit code %d, %s", args, code, term.shown.String())
	}
	fmt.Fprint(term.inner, "#") // the terminal has shown everything before it
	eventually(b.t, "the terminal has shown it", func() bool { return strings.HasSuffix(term.shown.String(), "#") })
	return strings.ReplaceAll(strings.TrimSuffix(term.shown.String(), "#"), "\r", "")
}

var (
	escapes  = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`)
	instants = regexp.MustCompile(`\d{4}-\d\d-\d\dT`)
)

// TestColours checks where states have colours, and where times are relative to now.
func TestColours(t *testing.T) {
	b := newBench(t)
	b.ok("enqueue", "command", "--max-attempts", "1", "--", "false")
	b.ok("enqueue", "command", "--", "echo", "\x1b[31mred")
	b.work()
	for _, test := range []struct {
		about            string
		text             string
		colours, exactly bool
	}{
		{"a terminal", b.show("jobs", "list"), true, false},
		{"a terminal, --color never", b.show("jobs", "list", "--color", "never"), false, false},
		{"a pipe", b.ok("jobs", "list"), false, true},
		{"a pipe, --color always", b.ok("jobs", "list", "--color", "always"), true, true},
		{"facts on a terminal", b.show("jobs", "show", "1"), true, true},
		{"records on a terminal", b.show("jobs", "list", "--output", "ndjson"), false, true},
	} {
		if coloured := strings.Contains(test.text, "\x1b[1;31mfailed\x1b[0m"); coloured != test.colours || coloured != escapes.MatchString(test.text) {
			t.Errorf("%s: colours %v\n%q", test.about, coloured, test.text)
		}
		if exactly := instants.MatchString(test.text); exactly != test.exactly {
			t.Errorf("%s: exact instants %v\n%s", test.about, exactly, test.text)
		}
	}
	b.env["TERM"] = "dumb"
	if shown := b.show("jobs", "list"); escapes.MatchString(shown) || !instants.MatchString(shown) {
		t.Errorf("a terminal that only prints: %q", shown)
	}
	b.env["TERM"], b.env["NO_COLOR"] = "xterm", "1"
	if shown := b.show("jobs", "list"); escapes.MatchString(shown) || instants.MatchString(shown) {
		t.Errorf("NO_COLOR: %q", shown)
	}
	delete(b.env, "NO_COLOR")
	if shown := b.show("jobs", "list"); !regexp.MustCompile(`now|\ds ago`).MatchString(shown) {
		t.Errorf("no relative times: %s", shown)
	}
	b.fails(exitUsage, []string{"color", "auto, always or never"}, "jobs", "list", "--color", "red")
	slot := b.ok("schedules", "put", "s", "--every", "1h", "--kind", "mail")
	if shown := b.show("schedules", "list"); !strings.Contains(shown, "in ") || !strings.Contains(shown, "\x1b[32mactive") {
		t.Errorf("schedules: %q after %s", shown, slot)
	}
	b.ok("exec", "report", "--store", "sqlite:locks.db", "--at-least", "1h", "--at-most", "2h", "--", "true")
	b.ok("auth", "token", "ci", "--role", "viewer", "--expires", "90d", "--auth", "users.json")
	for _, args := range [][]string{{"locks", "list", "--store", "sqlite:locks.db"}, {"auth", "list", "--auth", "users.json"}} {
		if shown := b.show(args...); !strings.Contains(shown, " in ") || instants.MatchString(shown) {
			t.Errorf("%q shows no relative times: %q", args, shown)
		}
	}
}

// TestWatch watches a listing without a terminal: tables that have changed, and records
// that are new or have changed.
func TestWatch(t *testing.T) {
	b := newBench(t)
	b.ok("enqueue", "mail", "--in", "1h")
	var table, records, count lockedBuffer
	var ended []chan int
	for out, args := range map[io.Writer][]string{
		&table: {"jobs", "list", "--watch=100ms"}, &records: {"jobs", "list", "--watch=100ms", "--output", "ndjson"}, &count: {"jobs", "count", "--watch=100ms"},
	} {
		p := &program{stdout: out, stderr: io.Discard, getenv: func(name string) string { return b.env[name] }, page: 1}
		done := make(chan int, 1)
		ended = append(ended, done)
		go func() { done <- p.run(t.Context(), args) }()
	}
	eventually(t, "the first reading", func() bool {
		return strings.Contains(table.String(), "mail") && strings.Contains(records.String(), `"id":1`) && count.String() == "1\n"
	})
	b.ok("enqueue", "mail", "--in", "2h")
	eventually(t, "the second job", func() bool {
		return strings.Count(table.String(), "STATE") == 2 && strings.Contains(records.String(), `"id":2`) && count.String() == "1\n\n2\n"
	})
	b.ok("jobs", "cancel", "1")
	eventually(t, "the cancelled job", func() bool {
		return strings.Count(table.String(), "STATE") == 3 && strings.Contains(records.String(), `"state":"cancelled"`)
	})
	if lines := strings.Count(records.String(), "\n"); lines != 3 {
		t.Errorf("%d records instead of 3:\n%s", lines, records.String())
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for _, done := range ended {
		if code := <-done; code != exitDone {
			t.Errorf("exit code %d after an interrupt", code)
		}
	}
}

// TestWatchOnATerminal watches a listing that is longer than the terminal, until q is
// pressed: then the last reading remains.
func TestWatchOnATerminal(t *testing.T) {
	b := newBench(t)
	for range 12 {
		b.ok("enqueue", "mail", "--in", "1h")
	}
	term := newTerminal(b, 8, 70)
	ended := term.start("jobs", "list", "--watch=100ms")
	eventually(t, "the first reading", func() bool { return strings.Contains(term.shown.String(), "… 8 more lines") })
	b.ok("jobs", "cancel", "12")
	eventually(t, "the cancelled job", func() bool { return strings.Contains(term.shown.String(), "cancelled") })
	if _, err := term.outer.WriteString("xq"); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != exitDone {
		t.Errorf("exit code %d", code)
	}
	eventually(t, "the rest of the output", func() bool { return strings.Contains(term.shown.String(), "\n1  ") })
	shown, last, left := strings.Cut(term.shown.String(), "\x1b[?1049l")
	if !left || !strings.HasPrefix(shown, "\x1b[?1049h\x1b[?25l\x1b[H") || !strings.Contains(shown, "hourbell jobs list, every 100ms, q quits, as of ") {
		t.Errorf("shown: %q", shown)
	}
	if strings.Count(last, "\n") != 14 || strings.Contains(last, "every") {
		t.Errorf("left: %q", last)
	}
	for line := range strings.SplitSeq(shown[strings.LastIndex(shown, "\x1b[H"):], "\r\n") {
		if text := escapes.ReplaceAllString(line, ""); len([]rune(text)) > 70 {
			t.Errorf("a line is wider than the terminal: %q", text)
		}
	}
}

// TestWatchThroughAnOutage checks that a watched listing continues after readings that
// failed, with one note, and that a mistake or a failure of the first reading ends it.
func TestWatchThroughAnOutage(t *testing.T) {
	var out, notes lockedBuffer
	p := &program{stdout: &out, stderr: &notes, getenv: os.Getenv, color: colorAuto}
	c := &cobra.Command{}
	c.SetContext(t.Context())
	readings := 0
	gone := errors.New("the server\nhas gone")
	err := p.repeat(c, listFlags{format: asTable, watch: watchFlag(time.Millisecond)}, func(p *program) error {
		readings++
		switch readings {
		case 2, 3, 5:
			fmt.Fprintln(p.stdout, "half")
			return gone
		case 6:
			return syscall.Kill(os.Getpid(), syscall.SIGTERM)
		case 7:
			<-c.Context().Done()
			return c.Context().Err()
		}
		fmt.Fprintf(p.stdout, "reading %d\n", readings)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if out := out.String(); !strings.HasPrefix(out, "reading 1\n\nreading 4\n") || strings.Contains(out, "half") {
		t.Errorf("output %q", out)
	}
	note := "hourbell: the server; has gone; trying again\n"
	equal(t, "notes", notes.String(), note+note)
	c.SetContext(t.Context())
	if err := p.repeat(c, listFlags{format: asTable, watch: watchFlag(time.Millisecond)}, func(*program) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("the first reading failed: %v", err)
	}
}

// TestEveryListingIsWatched checks that each listing has --watch, and refuses what does
// not fit it.
func TestEveryListingIsWatched(t *testing.T) {
	b := newBench(t)
	for _, listing := range []string{
		"jobs list", "jobs count", "schedules list", "slots", "queues", "nodes", "groups list", "batches list", "calendars list", "events", "audit", "handlers list",
		"locks list --store sqlite:locks.db", "auth list --auth users.json",
	} {
		args := strings.Fields(listing)
		b.fails(exitUsage, []string{"watch", "at least 100ms"}, append(args, "--watch=0s")...)
		b.fails(exitUsage, []string{"output", "--watch"}, append(args, "--watch", "--output", "json")...)
	}
	b.fails(exitUsage, []string{"watch", "--follow"}, "events", "--follow", "--watch")
	noStore(t, b)
}
