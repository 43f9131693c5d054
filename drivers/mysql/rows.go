package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hourbell/hourbell/store/sqltext"
)

// rowBytes is about how long the text of one insert of many rows may be, on servers that accept messages of
// four times this size. A row that is longer goes alone.
const rowBytes = 4 << 20

// rowsText is the text of a statement that inserts rows: "INSERT INTO table (columns)", a line "VALUES", a row in parentheses,
// and perhaps ON DUPLICATE KEY.
type rowsText struct {
	into string // before the first column
	cols []rowColumn
	tail string // after the last row
}

// rowColumn is a column of the rows that a statement inserts.
type rowColumn struct {
	name  string
	value []sqltext.Piece
	usual string // the default of the column as a literal, if the insert may leave the column out; else empty
}

// usualJob has defaults of columns of hourbell_job, which most new jobs have. The server takes a fifth of a microsecond for each value in
// a row, so an insert leaves out the columns in which all of its jobs have the default.
var usualJob = map[string]string{
	"slot": "NULL", "schedule_id": "NULL", "origin": "0", "state": "0", "waits": "NULL", "releases": "0", "rare": "0", "headers": "NULL", "timeout": "0",
	"priority": "5", "max_attempts": "25", "on_loss": "0", "queue": "_utf8mb4'default'", "group_name": "NULL", "job_key": "NULL",
	"batch": "NULL", "unique_key": "NULL",
}

// readRows splits the text of a statement that inserts rows. It returns nil for other statements.
func readRows(text string, usual map[string]string) *rowsText {
	head, row, found := strings.Cut(text, "\nVALUES\n")
	if !found {
		return nil
	}
	head = sqltext.Pieces(head)[0].Code
	into, columns, _ := strings.Cut(strings.TrimSpace(head), "(")
	row, tail, more := strings.Cut(row, "\nON DUPLICATE KEY")
	if more {
		tail = "\nON DUPLICATE KEY" + tail
	}
	r := &rowsText{into: into + "(", tail: tail}
	values := elements(inParentheses(row))
	for i, name := range elements(strings.TrimSuffix(columns, ")")) {
		r.cols = append(r.cols, rowColumn{name, sqltext.Pieces(values[i]), usual[name]})
	}
	return r
}

// inParentheses returns what is between the first and the last parenthesis of a text.
func inParentheses(text string) string {
	return text[strings.Index(text, "(")+1 : strings.LastIndex(text, ")")]
}

// elements splits a list at its commas, except commas in parentheses.
func elements(list string) (all []string) {
	depth, start := 0, 0
	for i, c := range list {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				all = append(all, strings.TrimSpace(list[start:i]))
				start = i + 1
			}
		}
	}
	return append(all, strings.TrimSpace(list[start:]))
}

// complete returns a statement that inserts the first n of some rows: all rows, or as many as are about most bytes. row
// returns the parameters of a row; the next call may change what it returned.
func (r *rowsText) complete(name statement, rows, most int, row func(i int) args) (text string, n int, err error) {
	var literals []byte
	ends := make([]int, 0, rows*len(r.cols))
	needed := make([]bool, len(r.cols))
	for ; n < rows && (n == 0 || len(literals) < most); n++ {
		a := row(n)
		for i := range r.cols {
			begin := len(literals)
			if literals, err = appendPieces(literals, r.cols[i].value, name, a); err != nil {
				return "", 0, err
			}
			ends = append(ends, len(literals))
			needed[i] = needed[i] || string(literals[begin:]) != r.cols[i].usual
		}
		if n == 0 { // most rows are about as long as the first
			literals = slices.Grow(literals, min((rows-1)*len(literals), most))
		}
	}
	var all strings.Builder
	all.Grow(len(literals) + len(ends))
	all.WriteString(r.into)
	separator := ""
	for i, column := range r.cols {
		if needed[i] {
			all.WriteString(separator + column.name)
			separator = ","
		}
	}
	all.WriteString(") VALUES")
	begin := 0
	for at, end := range ends {
		i := at % len(r.cols)
		if i == 0 {
			if separator = "\n("; at > 0 {
				separator = "),\n("
			}
		}
		if needed[i] {
			all.WriteString(separator)
			all.Write(literals[begin:end])
			separator = ","
		}
		begin = end
	}
	all.WriteString(")" + r.tail)
	return all.String(), n, nil
}

// InsertRows implements sqlrows.Runner, by a statement that has a line VALUES, in as many messages as are needed.
func (s *session) InsertRows(ctx context.Context, name statement, rows []args) error {
	_, err := s.insertEach(ctx, name, len(rows), 1, func(i int) args { return rows[i] })
	return err
}

// insertEach is InsertRows for a number of rows; the next call of row may change what it returned. It returns the numbers of the rows,
// which are so many apart as readStep has returned before; they mean nothing where the table does not number its rows, or where rows were
// not inserted.
func (s *session) insertEach(ctx context.Context, name statement, rows int, step int64, row func(i int) args) ([]int64, error) {
	t := s.texts[name].rows
	if t == nil {
		return nil, fmt.Errorf("statement %v has no line VALUES", sources[name])
	}
	ids := make([]int64, 0, rows)
	for done := 0; done < rows; {
		text, n, err := t.complete(name, rows-done, s.rowBytes, func(i int) args { return row(done + i) })
		if err != nil {
			return nil, err
		}
		result, err := s.runText(ctx, name, text)
		if err != nil {
			return nil, err
		}
		// The number of rows was known to the server before it inserted them, so that it reserved the numbers at once, whatever
		// innodb_autoinc_lock_mode is.
		first, err := result.LastInsertId()
		if err != nil {
			return nil, err
		}
		for i := range n {
			ids = append(ids, first+int64(i)*step)
		}
		done += n
	}
	return ids, nil
}

// readStep returns how far the numbers of rows are apart that one statement inserts. It is read before the insert: an insert may commit by
// itself, and nothing may fail after that.
func (s *session) readStep(ctx context.Context, rows int) (step int64, err error) {
	if rows < 2 {
		return 1, nil
	}
	err = s.One(ctx, readIncrement, nil, &step)
	return step, err
}
