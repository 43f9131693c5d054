package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
)

// format is the format of a listing: a flag with three values.
type format string

const (
	asTable  format = "table"
	asJSON   format = "json"   // one array, or one object if the command shows one thing
	asNDJSON format = "ndjson" // one object per line
)

func (f *format) String() string { return string(*f) }
func (f *format) Type() string   { return "format" }

func (f *format) Set(value string) error {
	switch format(value) {
	case asTable, asJSON, asNDJSON:
		*f = format(value)
		return nil
	}
	return &check.FieldError{Field: "output", Value: check.Shorten(value), Problem: "is unknown", Remedy: "use table, json or ndjson"}
}

// addTo adds the flag --output to a command.
func (f *format) addTo(c *cobra.Command) {
	*f = asTable
	c.Flags().Var(f, "output", "table, json or ndjson")
	words := []string{string(asTable), string(asJSON), string(asNDJSON)}
	// RegisterFlagCompletionFunc fails only for an unknown flag
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// printList writes all items. Records are written as they arrive, a table when all
// items have arrived.
func printList[T any](p *program, l view.Listing[T], f format, items iter.Seq2[T, error]) error {
	out := bufio.NewWriter(p.stdout)
	var err error
	switch f {
	case asJSON:
		err = printArray(out, l, items)
	case asNDJSON:
		err = printLines(out, l, items)
	default:
		err = printTable(p, out, l, items)
	}
	more := errors.Is(err, errMore)
	if err != nil && !more {
		if f == asNDJSON {
			return errors.Join(err, out.Flush()) // each line stands for itself
		}
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if more {
		printError(p.stderr, err)
	}
	return nil
}

func printLines[T any](out *bufio.Writer, l view.Listing[T], items iter.Seq2[T, error]) error {
	for item, err := range items {
		if err != nil {
			return err
		}
		line, err := encode(l.Record(item))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n", line)
	}
	return nil
}

func printArray[T any](out *bufio.Writer, l view.Listing[T], items iter.Seq2[T, error]) error {
	before := "[\n  "
	for item, err := range items {
		if err != nil {
			return err
		}
		object, err := encode(l.Record(item))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s%s", before, object)
		before = ",\n  "
	}
	if before == "[\n  " {
		fmt.Fprintln(out, "[]")
		return nil
	}
	fmt.Fprint(out, "\n]\n")
	return nil
}

func printTable[T any](p *program, out *bufio.Writer, l view.Listing[T], items iter.Seq2[T, error]) error {
	l, err := chosen(p.table, l)
	if err != nil {
		return err
	}
	var rows []table.Row
	var more error
	for item, err := range items {
		if errors.Is(err, errMore) {
			more = err
			break
		}
		if err != nil {
			return err
		}
		rows = append(rows, p.cells(l.Columns, l.Row(item)))
	}
	p.empty = len(rows) == 0
	shown, left := p.render(l.Columns, l.Minor, rows)
	if p.where != "" && p.terminal() != nil { // in a file or a pipe the first line has the names of the columns
		where := plain.Clean(p.where)
		if room := p.width(); room > 0 {
			where = cut(where, room)
		}
		fmt.Fprintln(out, where)
	}
	fmt.Fprintln(out, shown)
	if len(left) > 0 {
		if err := out.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "hourbell: not shown for want of room: %s; --wide shows all, --columns chooses\n", strings.Join(left, ", "))
	}
	return more
}

// newTable returns a table without lines, as wide as its texts.
func newTable(columns []string) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateColumns: false}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header, style.Format.Row = text.FormatDefault, text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	if len(columns) > 0 {
		t.AppendHeader(cells(columns))
	}
	return t
}

func cells(texts []string) table.Row {
	row := make(table.Row, len(texts))
	for i, text := range texts {
		row[i] = plain.Clean(text)
	}
	return row
}

// show prints one thing: an object, or the text that people prints.
func (p *program) show(f format, record any, people func(out *bufio.Writer)) error {
	out := bufio.NewWriter(p.stdout)
	if f == asTable {
		people(out)
		return out.Flush()
	}
	object, err := encode(record)
	if err != nil {
		return err
	}
	if f == asJSON {
		var indented bytes.Buffer
		if err := json.Indent(&indented, object, "", "  "); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
		object = indented.Bytes()
	}
	fmt.Fprintf(out, "%s\n", object)
	return out.Flush()
}

// printFacts prints the facts that have a value.
func (p *program) printFacts(out *bufio.Writer, facts []view.Fact) {
	t := newTable(nil)
	for _, f := range facts {
		if f.Value != "" && f.Value != "-" {
			t.AppendRow(p.factCells(f))
		}
	}
	fmt.Fprintln(out, t.Render())
}

// encode writes a record on one line. Characters with a meaning in HTML are not
// escaped.
func encode(record any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(record); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), nil
}

// tableRows is how many rows of a long table are shown by default.
const tableRows = 100

// errMore ends a table that has more rows than are shown by default.
var errMore = fmt.Errorf("there are more than %d rows; --limit 0 lists all", tableRows)

// addLimit adds the flag --limit of a long listing.
func addLimit(c *cobra.Command, limit *int) {
	c.Flags().IntVar(limit, "limit", 0, fmt.Sprintf("at most this many rows; 0 for all (default %d in a table and with --watch, otherwise all)", tableRows))
}

// paged yields a long listing up to --limit. By default, machine-readable
// output is complete, and tables and listings with --watch show the first rows.
func paged[T any](p *program, c *cobra.Command, f format, limit int, read func(size int, last *T) ([]T, error)) iter.Seq2[T, error] {
	if f != asTable && p.watched == nil || c.Flags().Changed("limit") {
		return pages(p.page, limit, read)
	}
	return beginning(pages(p.page, tableRows+1, read))
}

// beginning yields the first tableRows items, and then errMore if there are
// more.
func beginning[T any](items iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		n := 0
		for item, err := range items {
			if n == tableRows && err == nil {
				yield(*new(T), errMore)
				return
			}
			if !yield(item, err) {
				return
			}
			n++
		}
	}
}

// pageSize is how many items of a long listing are read at a time.
const pageSize = 200

// pages yields up to limit items (0: all) of a listing that is read in pages.
// read gets the size of the page and the last item before it, or nil.
func pages[T any](most, limit int, read func(size int, last *T) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last *T
		for left := limit; limit == 0 || left > 0; left -= most {
			size := most
			if limit > 0 {
				size = min(size, left)
			}
			page, err := read(size, last)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}
			if len(page) < size {
				return
			}
			last = &page[len(page)-1]
		}
	}
}

// all yields the items of a slice.
func all[T any](items []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// checkLimit checks the flag --limit.
func checkLimit(limit int) error {
	if limit < 0 {
		return &check.FieldError{Field: "limit", Value: fmt.Sprint(limit), Problem: "is negative", Remedy: "use a number of rows, or 0 for all"}
	}
	return nil
}

// addSecrets adds the flag that shows environments as they are.
func addSecrets(c *cobra.Command, show *bool) {
	c.Flags().BoolVar(show, "show-secrets", false, "show values that may be secrets, such as environments, HTTP headers, "+
		"and fields and options named password or token, which are hidden otherwise")
}
