package main

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
)

// colorMode is the flag --color: when states have colours.
type colorMode string

const (
	colorAuto   colorMode = "auto" // on a terminal, unless NO_COLOR is set
	colorAlways colorMode = "always"
	colorNever  colorMode = "never"
)

func (m *colorMode) String() string { return string(*m) }
func (m *colorMode) Type() string   { return "when" }

func (m *colorMode) Set(value string) error {
	switch mode := colorMode(value); mode {
	case colorAuto, colorAlways, colorNever:
		*m = mode
		return nil
	}
	return &check.FieldError{Field: "color", Value: check.Shorten(value), Problem: "is unknown", Remedy: "use auto, always or never"}
}

// terminal returns the terminal that shows the output of the program; nil: the output
// goes elsewhere, or to a terminal that only prints.
func (p *program) terminal() *os.File {
	if p.watched != nil {
		return p.watched.terminal
	}
	file, ok := p.stdout.(*os.File)
	if !ok || !isTerminal(file) || p.getenv("TERM") == "dumb" {
		return nil
	}
	return file
}

// coloured reports whether states are shown in colours.
func (p *program) coloured() bool {
	switch p.color {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	return p.terminal() != nil && p.getenv("NO_COLOR") == ""
}

// readClock reads the store's clock, if times are going to be shown relative to now.
func (p *program) readClock(ctx context.Context, client *hourbell.Client) error {
	if p.terminal() == nil {
		return nil
	}
	now, err := client.Now(ctx)
	p.setClock(now)
	return err
}

// setClock remembers the time of the store's clock, which was read just now.
func (p *program) setClock(now time.Time) {
	read := time.Now()
	p.clock = func() time.Time { return now.Add(time.Since(read)) }
}

// tones are the colours of the tones of states. Other tones have the colour of the text.
var tones = map[string]string{view.Good: "\x1b[32m", view.Busy: "\x1b[36m", view.Warn: "\x1b[33m", view.Bad: "\x1b[1;31m"}

// painted returns a text in the colour of a tone, where states have colours.
func (p *program) painted(tone, text string) string {
	if color := tones[tone]; color != "" && p.coloured() {
		return color + text + "\x1b[0m"
	}
	return text
}

// bold returns a text in bold letters, where states have colours.
func (p *program) bold(text string) string {
	if p.coloured() {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

// ago returns when an instant is, relative to the store's clock, if the output is for a
// person at a terminal; empty otherwise.
func (p *program) ago(stamp string) string {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil || p.clock == nil || p.terminal() == nil {
		return ""
	}
	return plain.Relative(at, p.clock())
}

// cells returns the cells of a row of a listing: on a terminal with the colours of
// states, and with times relative to now instead of instants.
func (p *program) cells(columns, texts []string) table.Row {
	row := cells(texts)
	for i, column := range columns {
		switch {
		case view.IsState(column):
			row[i] = p.painted(view.Tone(texts[i]), plain.Clean(texts[i]))
		case view.IsInstant(column) && !view.IsSlot(column):
			row[i] = cmp.Or(p.ago(texts[i]), plain.Clean(texts[i]))
		}
	}
	return row
}

// factCells returns the cells of a fact: on a terminal with the colour of a state, and
// with the time relative to now in addition to an instant.
func (p *program) factCells(f view.Fact) table.Row {
	row := cells([]string{f.Name, f.Value})
	if view.IsState(f.Name) {
		row[1] = p.painted(view.Tone(f.Value), plain.Clean(f.Value))
	}
	if ago := p.ago(f.Value); ago != "" && view.IsInstant(f.Name) {
		row[1] = plain.Clean(f.Value) + "  " + ago
	}
	return row
}
