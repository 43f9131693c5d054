package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
)

// tableFlags are the flags of a table.
type tableFlags struct {
	columns []string // only these columns, in this order; empty: all, or as many as fit
	wide    bool     // as wide as the texts
}

func (t *tableFlags) addTo(c *cobra.Command) {
	c.Flags().StringSliceVar(&t.columns, "columns", nil, "only these columns of the table, in this order, such as id,state,run_at")
	c.Flags().BoolVar(&t.wide, "wide", false, "all columns and texts on a terminal, also if lines are longer than it is wide")
}

// flagged returns the name by which --columns has a column.
func flagged(column string) string { return strings.ReplaceAll(strings.ToLower(column), " ", "_") }

// chosen returns a listing with the columns of --columns. The error is a *check.FieldError.
func chosen[T any](t tableFlags, l view.Listing[T]) (view.Listing[T], error) {
	if len(t.columns) == 0 || len(l.Columns) == 0 {
		return l, nil
	}
	var names, columns []string
	for _, column := range l.Columns {
		names = append(names, flagged(column))
	}
	for _, name := range t.columns {
		at := slices.Index(names, flagged(strings.TrimSpace(name)))
		if at < 0 {
			remedy := "use " + strings.Join(names, ", ")
			return l, &check.FieldError{
				Field: "columns", Value: check.Shorten(name), Problem: "is no column of this table",
				Remedy: plain.DidYouMean(plain.Nearest(flagged(name), names), remedy),
			}
		}
		columns = append(columns, l.Columns[at])
	}
	return l.Only(columns...), nil
}

// width returns how wide tables may be; 0: as wide as their texts.
func (p *program) width() int {
	terminal := p.terminal()
	if terminal == nil || p.table.wide {
		return 0
	}
	width, _, err := term.GetSize(int(terminal.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// render returns a table of all rows that fits the terminal, and the columns that were left out
// although they say something.
func (p *program) render(columns, minor []string, rows []table.Row) (string, []string) {
	t := newTable(columns)
	t.AppendRows(rows)
	room := p.width()
	if room == 0 {
		return t.Render(), nil
	}
	all := measured(columns, minor, rows)
	if len(p.table.columns) > 0 { // each of them was asked for
		for i := range all {
			all[i].rank, all[i].empty = 0, false
		}
	}
	layOut(all, room)
	var left []string
	config := make([]table.ColumnConfig, len(all))
	for i, c := range all {
		config[i] = table.ColumnConfig{Number: i + 1, Hidden: c.out, WidthMax: c.width, WidthMaxEnforcer: cut}
		if c.gives == wraps {
			config[i].WidthMaxEnforcer = wrap
		}
		if c.out && !c.empty {
			left = append(left, columns[i])
		}
	}
	t.SetColumnConfigs(config)
	return t.Render(), left
}

// mostWrapped is how many characters of a text are shown on a terminal.
const mostWrapped = 1000

func wrap(cell string, width int) string {
	return text.WrapSoft(text.Snip(cell, mostWrapped, "…"), width)
}

func cut(cell string, width int) string { return text.Snip(cell, width, "…") }

// The ways in which a column of a table gives way to others.
const (
	stays = iota // not at all: numbers, instants and states
	cuts         // its names are cut
	wraps        // its sentences, as errors, are continued on the next lines
)

// columnFit is a column that is fitted to a terminal.
type columnFit struct {
	natural int // how wide its widest text is
	gives   int
	rank    int  // the columns with the lowest rank are left out first; 0: it is never left out
	empty   bool // it says nothing

	width int
	out   bool
}

// measured returns columns as wide as their texts.
func measured(columns, minor []string, rows []table.Row) []columnFit {
	all := make([]columnFit, len(columns))
	for i, column := range columns {
		c := columnFit{natural: text.StringWidthWithoutEscSequences(column), rank: slices.Index(minor, column) + 1, empty: i > 0 && len(rows) > 0}
		for _, row := range rows {
			cell := fmt.Sprint(row[i])
			c.natural = max(c.natural, min(text.StringWidthWithoutEscSequences(cell), mostWrapped))
			c.empty = c.empty && (cell == "-" || cell == "")
		}
		switch {
		case view.IsProse(column):
			c.gives = wraps
		case !view.IsNumber(column) && !view.IsInstant(column) && !view.IsState(column):
			c.gives = cuts
		}
		c.width = c.natural
		all[i] = c
	}
	return all
}

// The widths to which columns give way.
const (
	columnGap  = 2
	easyProse  = 30 // before other columns are left out
	easyName   = 20
	leastProse = 16
	leastName  = 12
)

// layOut fits columns to the width of a terminal. In this order: columns that say nothing are left
// out, sentences are wrapped, names are cut, minor columns are left out, names are cut more, and sentences are wrapped
// to a narrow column. What room is left goes to the names, because what is wrapped is not lost, and then to the sentences.
func layOut(all []columnFit, room int) {
	l := layout{all, room}
	for i := len(all) - 1; i > 0 && l.over() > 0; i-- {
		all[i].out = all[i].empty
	}
	l.narrow(wraps, easyProse)
	l.narrow(cuts, easyName)
	for rank := 1; rank <= len(all) && l.over() > 0; rank++ {
		for i := range all {
			all[i].out = all[i].out || all[i].rank == rank
		}
	}
	l.narrow(cuts, leastName)
	l.narrow(wraps, leastProse)
	l.widen(cuts)
	l.widen(wraps)
}

// layout is columns that are to fit a room.
type layout struct {
	columns []columnFit
	room    int
}

// over returns how much the columns are wider than the room.
func (l layout) over() int {
	total := -columnGap
	for _, c := range l.columns {
		if !c.out {
			total += c.width + columnGap
		}
	}
	return total - l.room
}

// narrow makes the widest columns that give way in a way narrower, down to a least width, until the columns fit.
func (l layout) narrow(way, least int) {
	for l.over() > 0 && l.resize(way, -1, func(c columnFit) bool { return c.width > least }) {
	}
}

// widen gives the room that is left to columns that were made narrower, the narrowest first.
func (l layout) widen(way int) {
	for l.over() < 0 && l.resize(way, 1, func(c columnFit) bool { return c.width < c.natural }) {
	}
}

// resize makes the widest column that may be made narrower narrower by 1, or the narrowest that may be made wider wider by 1. It reports
// whether there was such a column.
func (l layout) resize(way, by int, may func(columnFit) bool) bool {
	found := -1
	for i, c := range l.columns {
		if c.gives == way && !c.out && may(c) && (found < 0 || by*(c.width-l.columns[found].width) < 0) {
			found = i
		}
	}
	if found < 0 {
		return false
	}
	l.columns[found].width += by
	return true
}
