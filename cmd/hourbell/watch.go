package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
)

const (
	watchEvery = 2 * time.Second
	leastEvery = 100 * time.Millisecond
	// watchRest bounds what a watched listing costs the store: after a reading that took
	// t, the next reading begins watchRest·t later at the earliest.
	watchRest = 10
)

// watchFlag is the flag --watch of a listing: the time between two readings; 0: the listing is
// read once.
type watchFlag time.Duration

func (w *watchFlag) String() string {
	if *w == 0 {
		return ""
	}
	return time.Duration(*w).String()
}

func (w *watchFlag) Type() string { return "duration" }

func (w *watchFlag) Set(value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d < leastEvery {
		return &check.FieldError{
			Field: "watch", Value: check.Shorten(value),
			Problem: "is not a duration of at least " + leastEvery.String(), Remedy: "write it like --watch=5s, or --watch alone",
		}
	}
	*w = watchFlag(d)
	return nil
}

// listFlags are the flags of every listing.
type listFlags struct {
	format format
	watch  watchFlag
	table  tableFlags
}

func (l *listFlags) addTo(c *cobra.Command) {
	l.format.addTo(c)
	l.addWatch(c)
	l.table.addTo(c)
}

// addWatch adds the flag --watch alone.
func (l *listFlags) addWatch(c *cobra.Command) {
	c.Flags().Var(&l.watch, "watch", "read the listing again and again, at most this often, and show what changes, until Ctrl-C")
	c.Flags().Lookup("watch").NoOptDefVal = watchEvery.String()
}

// check returns what is wrong with the flags together.
func (l *listFlags) check() error {
	if len(l.table.columns) > 0 && l.format != asTable {
		return &check.FieldError{
			Field: "columns", Value: check.Shorten(strings.Join(l.table.columns, ",")),
			Problem: "is for tables; records have all fields", Remedy: "leave out --columns or --output",
		}
	}
	if l.watch != 0 && l.format == asJSON {
		return &check.FieldError{Field: "output", Value: "json", Problem: "is one array, which never ends with --watch", Remedy: "use --output ndjson"}
	}
	return nil
}

// list opens the store and reads a listing: once, or with --watch again and again. read
// uses the program that it is given for its output.
func (p *program) list(c *cobra.Command, f storeFlags, l listFlags, read func(*program, *hourbell.Client) error) error {
	if err := l.check(); err != nil {
		return err
	}
	return p.withReader(c.Context(), f, func(client *hourbell.Client) error {
		return p.repeat(c, l, func(p *program) error { return read(p, client) })
	})
}

// listsAll returns the run of a command that lists all that read returns. listing is called when the flags have been read.
func listsAll[Info any](p *program, f *storeFlags, l *listFlags, listing func() view.Listing[Info],
	read func(context.Context, *hourbell.Client) ([]Info, error),
) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		return p.list(c, *f, *l, func(p *program, client *hourbell.Client) error {
			rows, err := read(c.Context(), client)
			if err != nil {
				return err
			}
			return printList(p, listing(), l.format, all(rows))
		})
	}
}

// watched is what the readings of a watched listing share.
type watched struct {
	terminal *os.File // that shows the listing; nil: there is none
}

// display shows the readings of a watched listing.
type display interface {
	// show shows a reading: its output, and what it wrote to the standard error. read is the
	// program that read it.
	show(read *program, out, notes string) error
	// failed shows that a reading failed.
	failed(err error) error
}

// repeat reads a listing: once, or with --watch until the program is interrupted, which is
// no failure. An error of the first reading ends it; after a later error it tries again.
func (p *program) repeat(c *cobra.Command, l listFlags, read func(*program) error) error {
	p.table = l.table
	if l.watch == 0 {
		return read(p)
	}
	every := time.Duration(l.watch)
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c.SetContext(ctx)
	shared := &watched{terminal: p.terminal()}
	var to display = &changes{p: p, lines: l.format == asNDJSON}
	if shared.terminal != nil && l.format == asTable {
		s := p.openScreen(shared.terminal, fmt.Sprintf("%s, every %v", c.CommandPath(), every), stop)
		defer s.close()
		to = s
	}
	for first := true; ; first = false {
		var out, notes bytes.Buffer
		one := *p
		one.stdout, one.stderr, one.watched = &out, &notes, shared
		began := time.Now()
		err := read(&one)
		took := time.Since(began)
		var wrong *check.FieldError
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			err = to.show(&one, out.String(), notes.String())
		case !first && !errors.As(err, &wrong):
			err = to.failed(err)
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(every-took, watchRest*took)):
		}
	}
}

// changes shows a watched listing without a terminal, or as records: of records those that
// are new or have changed, and of a table all of it, after an empty line, if it has changed.
type changes struct {
	p       *program
	lines   bool // the listing consists of records, one on a line
	begun   bool
	failing bool
	last    string
	shown   map[string]bool // the records of the last reading
	notes   string
}

func (d *changes) show(_ *program, out, notes string) error {
	d.failing = false
	text := ""
	switch {
	case d.lines:
		now := map[string]bool{}
		for line := range strings.Lines(out) {
			if now[line] = true; !d.shown[line] {
				text += line
			}
		}
		d.shown = now
	case !d.begun:
		text = out
	case out != d.last:
		text = "\n" + out
	}
	d.begun, d.last = true, out
	if notes != d.notes {
		d.notes = notes
		if _, err := io.WriteString(d.p.stderr, notes); err != nil {
			return err
		}
	}
	_, err := io.WriteString(d.p.stdout, text)
	return err
}

func (d *changes) failed(err error) error {
	if d.failing {
		return nil
	}
	d.failing = true
	_, err = fmt.Fprintf(d.p.stderr, "hourbell: %s; trying again\n", plain.OneLine(err.Error()))
	return err
}

// screen shows a watched listing on a terminal: as much of it as there is room for, and
// below it what is shown and as of when. When it closes, it leaves the last reading.
type screen struct {
	p       *program
	out     *os.File
	title   string
	restore func()
	read    *program // the last reading, its output and what it wrote to the standard error; nil: none yet
	text    string
	notes   string
}

// openScreen takes over a terminal. The key q calls stop, and so does Ctrl-C, where the
// terminal is the standard input too.
func (p *program) openScreen(out *os.File, title string, stop func()) *screen {
	s := &screen{p: p, out: out, title: title, restore: func() {}}
	if in, ok := p.stdin.(*os.File); ok && isTerminal(in) {
		if before, err := term.MakeRaw(int(in.Fd())); err == nil {
			s.restore = func() { _ = term.Restore(int(in.Fd()), before) } // the terminal has gone
			s.title += ", q quits"
			go awaitQuit(in, stop)
		}
	}
	fmt.Fprint(out, "\x1b[?1049h\x1b[?25l") // the other screen, without a cursor
	return s
}

// awaitQuit calls stop when q, Ctrl-C or Ctrl-D is read, or nothing more can be read.
func awaitQuit(in io.Reader, stop func()) {
	defer stop()
	for key := make([]byte, 1); ; {
		if _, err := in.Read(key); err != nil || strings.ContainsRune("qQ\x03\x04", rune(key[0])) {
			return
		}
	}
}

func (s *screen) show(read *program, out, notes string) error {
	s.read, s.text, s.notes = read, out, notes
	status := s.title
	if read.clock != nil {
		status += ", as of " + read.clock().UTC().Format(time.TimeOnly) + " UTC"
	}
	return s.draw(status)
}

func (s *screen) failed(err error) error {
	return s.draw(s.p.painted(view.Bad, "not read since: "+plain.OneLine(err.Error())) + "; trying again; " + s.title)
}

// draw draws the last reading, cut to the size of the terminal, above a line.
func (s *screen) draw(status string) error {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width < 1 || height < 2 {
		width, height = 80, 24
	}
	lines := strings.Split(strings.TrimSuffix(s.text+s.notes, "\n"), "\n")
	if room := height - 1; len(lines) > room {
		lines = append(lines[:room-1], "… "+plain.Plural(len(lines)-room+1, "more line"))
	}
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	var drawn strings.Builder
	drawn.WriteString("\x1b[H")
	for _, line := range append(lines, status) {
		drawn.WriteString(text.Trim(line, width) + "\x1b[0m\x1b[K\r\n")
	}
	_, err = io.WriteString(s.out, strings.TrimSuffix(drawn.String(), "\r\n")+"\x1b[J")
	return err
}

// close gives the terminal back, with the last reading on it.
func (s *screen) close() {
	fmt.Fprint(s.out, "\x1b[?25h\x1b[?1049l")
	s.restore()
	fmt.Fprint(s.out, s.text)
	fmt.Fprint(s.p.stderr, s.notes)
}
