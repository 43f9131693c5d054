package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
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
	return &hourbell.FieldError{Field: "output", Value: plain.Shorten(value), Problem: "is unknown", Remedy: "use table, json or ndjson"}
}

// addTo adds the flag --output to a command.
func (f *format) addTo(c *cobra.Command) {
	*f = asTable
	c.Flags().Var(f, "output", "table, json or ndjson")
	words := []string{string(asTable), string(asJSON), string(asNDJSON)}
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // RegisterFlagCompletionFunc fails only for an unknown flag
}

// listing describes how items of one type are printed.
type listing[T any] struct {
	columns []string
	row     func(T) []string // for tables; cleaned before it is printed
	record  func(T) any      // for machine-readable output
}

// print writes all items. Records are written as they arrive, a table when all
// items have arrived.
func (l listing[T]) print(p *program, f format, items iter.Seq2[T, error]) error {
	out := bufio.NewWriter(p.stdout)
	var err error
	switch f {
	case asJSON:
		err = l.printArray(out, items)
	case asNDJSON:
		err = l.printLines(out, items)
	default:
		err = l.printTable(out, items)
	}
	more := errors.Is(err, errMore)
	if err != nil && !more {
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

func (l listing[T]) printLines(out *bufio.Writer, items iter.Seq2[T, error]) error {
	for item, err := range items {
		if err != nil {
			return err
		}
		line, err := encode(l.record(item))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n", line)
	}
	return nil
}

func (l listing[T]) printArray(out *bufio.Writer, items iter.Seq2[T, error]) error {
	before := "[\n  "
	for item, err := range items {
		if err != nil {
			return err
		}
		object, err := encode(l.record(item))
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

func (l listing[T]) printTable(out *bufio.Writer, items iter.Seq2[T, error]) error {
	t := newTable(l.columns)
	var more error
	for item, err := range items {
		if errors.Is(err, errMore) {
			more = err
			break
		}
		if err != nil {
			return err
		}
		t.AppendRow(cells(l.row(item)))
	}
	fmt.Fprintln(out, t.Render())
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

// fact is one line of the text about one thing.
type fact struct{ name, value string }

// printFacts prints the facts that have a value.
func printFacts(out *bufio.Writer, facts []fact) {
	t := newTable(nil)
	for _, f := range facts {
		if f.value != "" && f.value != "-" {
			t.AppendRow(cells([]string{f.name, f.value}))
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
	c.Flags().IntVar(limit, "limit", 0, fmt.Sprintf("at most this many rows; 0 for all (default %d in a table, otherwise all)", tableRows))
}

// paged yields a long listing up to --limit. By default, machine-readable
// output is complete, and tables show the first rows.
func paged[T any](p *program, c *cobra.Command, f format, limit int, read func(size int, last *T) ([]T, error)) iter.Seq2[T, error] {
	if f != asTable || c.Flags().Changed("limit") {
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
		return &hourbell.FieldError{Field: "limit", Value: fmt.Sprint(limit), Problem: "is negative", Remedy: "use a number of rows, or 0 for all"}
	}
	return nil
}

// The values of records; a missing value is null.

func orNull[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func durationOrNull(d time.Duration) *string {
	if d == 0 {
		return nil
	}
	return orNull(d.String())
}

// validText makes text of arbitrary bytes valid for JSON.
func validText(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

// rawJSON returns JSON on one line; text that is not JSON becomes a string.
func rawJSON(text []byte) json.RawMessage {
	switch {
	case len(text) == 0:
		return json.RawMessage("null")
	case json.Valid(text):
		return text
	}
	quoted, err := json.Marshal(validText(text))
	if err != nil { // strings always encode
		return json.RawMessage("null")
	}
	return quoted
}
