package dashboard

import (
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
)

// pageSize is how many rows a page has.
const pageSize = 50

// table is a listing of the program as a page shows it.
type table struct {
	Caption string
	Columns []column
	Rows    []row
	Empty   string // what is shown without rows
	// Newest and Older lead to the first and the next page; empty: there is none.
	Newest, Older string
	Note          string // what a reader must know besides the rows; may be empty
}

type column struct {
	Name   string
	Number bool
	Minor  bool // a tablet has no room for it
}

// Classes returns the classes of the head of the column.
func (c column) Classes() string { return cell{Number: c.Number, Minor: c.Minor}.Classes() }

// manyColumns is from how many columns on a table is too wide for a tablet: it then lacks three quarters of the minor columns, the least
// important first.
const manyColumns = 12

type row struct {
	ID    string // of the element; may be empty
	Cells []cell
	// Choice is the number of a job that can be chosen for the form chosen; empty: the row
	// cannot be chosen.
	Choice string
}

// longest is how many bytes of a text the cell of a table shows; the page about the thing has all.
const longest = 80

// cell is one value of a table, or of a list of facts.
type cell struct {
	Text   string
	Href   string    // a page about the value; empty: none
	At     time.Time // the value is this instant; zero: it is not an instant
	Zone   string    // in which the instant is shown in addition
	Class  string    // how the word of a state is marked; empty: the value is not a state
	Number bool
	Minor  bool   // as of its column
	Block  bool   // a fact of several lines
	Strip  *strip // shown instead of the text
}

// Classes returns the classes of the cell.
func (c cell) Classes() string {
	var classes []string
	for class, is := range map[string]bool{"number": c.Number, "none": c.Text == "-", "minor": c.Minor} {
		if is {
			classes = append(classes, class)
		}
	}
	slices.Sort(classes)
	return strings.Join(classes, " ")
}

// blocks are the facts whose values are shown as several lines.
var blocks = []string{"args", "hook", "result", "on_start", "on_success", "on_failure", "on_retry", "on_output", "on_missed", "on_not_started", "on_recovery"}

// linker returns the address of the page about the value of a column; empty: there is
// none.
type linker[T any] func(item T, column string) string

// Chosen reports whether rows of the table can be chosen.
func (t table) Chosen() bool { return len(t.Rows) > 0 && t.Rows[0].Choice != "" }

// tableOf shows items as a listing of the program does.
func tableOf[T any](l view.Listing[T], items []T, links linker[T]) table {
	t := table{}
	minor := l.Minor[:len(l.Minor)*3/4]
	if len(l.Columns) < manyColumns {
		minor = nil
	}
	for _, name := range l.Columns {
		t.Columns = append(t.Columns, column{heading(name), view.IsNumber(name), slices.Contains(minor, name)})
	}
	for _, item := range items {
		var r row
		for i, text := range l.Row(item) {
			c := cellOf(l.Columns[i], plain.Cut(text, longest))
			c.Minor = t.Columns[i].Minor
			if links != nil && text != "-" {
				c.Href = links(item, l.Columns[i])
			}
			r.Cells = append(r.Cells, c)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// cellOf returns the cell for a text of a column.
func cellOf(column, text string) cell {
	c := cell{Text: plain.Clean(text), Number: view.IsNumber(column)}
	switch {
	case view.IsState(column):
		if tone := view.Tone(text); text != "-" && (column != "RESULT" || tone != view.Mute) { // a result may be any text
			c.Class = tone
		}
	case view.IsInstant(column):
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			c.At = at
		}
	}
	return c
}

// heading returns the name of a column as a page shows it.
func heading(name string) string {
	if len(name) <= 2 { // ID
		return name
	}
	return name[:1] + strings.ToLower(name[1:])
}

// fact is one line about a thing.
type fact struct {
	Name string
	cell
}

// factsOf returns facts as a page shows them: with the texts of the program. links has the links of facts, by the names of the
// facts.
func factsOf(facts []view.Fact, zone string, links map[string]string) []fact {
	var shown []fact
	for _, f := range facts {
		if f.Value == "" || f.Value == "-" {
			continue
		}
		c := cellOf(f.Name, f.Value)
		c.Href, c.Zone, c.Number = links[f.Name], zone, false
		if c.Block = slices.Contains(blocks, f.Name) || strings.Contains(f.Value, "\n"); c.Block {
			c.Text = plain.CleanLines(f.Value, "")
		}
		shown = append(shown, fact{strings.ReplaceAll(strings.TrimSpace(f.Name), "_", " "), c})
	}
	return shown
}

// moment is an instant as a page shows it: in UTC, until the script puts it into the
// viewer's zone.
type moment struct {
	Machine string // for the attribute datetime
	Text    string
	Title   string // UTC and, if there is one, the other zone
}

// when returns how an instant is shown.
func when(at time.Time, zone string) moment {
	at = at.UTC()
	m := moment{Machine: at.Format(time.RFC3339Nano), Text: at.Format("2006-01-02 15:04:05")}
	m.Title = m.Text + " UTC"
	if zone != "" && zone != "UTC" {
		if place, err := time.LoadLocation(zone); err == nil {
			m.Title += "; " + at.In(place).Format("2006-01-02 15:04:05 ") + zone
		}
	}
	return m
}
