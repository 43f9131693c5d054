// Package declared contains what the readers of schedule files and crontabs
// share: the set of schedules that a file declares, and the list of the file's
// mistakes.
package declared

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/recur"
)

// MaxSize is the maximum size in bytes of a file.
const MaxSize = 16 << 20

// File is the set of schedules of one file.
type File struct {
	// Owner is the owner of the set.
	Owner string
	// Revision orders the versions of the set; 0 if the file has none.
	Revision int64
	// Entries are the schedules, in the order of the file, each with Owner set.
	Entries []Entry
	// AtStart are entries without a rule: each runs at the start of a node that has
	// the file (@start), or at the first start after a boot of its host (@reboot).
	// They are not in the store.
	AtStart []Entry
	// Limits are the limits of the owner, by name; nil: the form of the file has none, and the owner's limits
	// in the store stay as they are.
	Limits []hourbell.Limit
	// Keep is how long nodes that have the file keep finished jobs, by kind. It
	// is not in the store.
	Keep map[string]hourbell.Keep
	// Warnings are settings of the file that have no effect, although the file
	// is accepted: programs that read the file must print them.
	Warnings []Error
}

// Warn adds a warning.
func (f *File) Warn(w Error) { f.Warnings = append(f.Warnings, w) }

// All returns the entries of both lists in the order of the file.
func (f *File) All() []Entry {
	all := slices.Concat(f.Entries, f.AtStart)
	slices.SortStableFunc(all, func(a, b Entry) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// SortWarnings sorts the warnings by line.
func (f *File) SortWarnings() {
	slices.SortStableFunc(f.Warnings, func(a, b Error) int { return byLine(&a, &b) })
}

// byLine orders mistakes by their place. A file that names another file has mistakes in both.
func byLine(a, b *Error) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

// Entry is one schedule, or one job for the start of a node, and its position
// in the file.
type Entry struct {
	hourbell.Schedule
	Line int // counted from 1
	// Boot is, of an entry without a rule, whether it runs once for each boot of a host (Reboot)
	// instead of once for each start of a node (Start).
	Boot bool
}

// The words that stand for a rule in entries without a rule.
const (
	Reboot = "@reboot"
	Start  = "@start"
)

// AtStart returns the word that stands for the rule of an entry without a rule.
func (e Entry) AtStart() string {
	if e.Boot {
		return Reboot
	}
	return Start
}

// Schedules returns the entries in the form that a client takes.
func (f *File) Schedules() []hourbell.Schedule {
	schedules := make([]hourbell.Schedule, len(f.Entries))
	for i, entry := range f.Entries {
		schedules[i] = entry.Schedule
	}
	return schedules
}

// LimitsOption returns the option that puts the file's limits together with its schedules, if the file may have limits.
func (f *File) LimitsOption() []hourbell.Option {
	if f.Limits == nil {
		return nil
	}
	return []hourbell.Option{hourbell.Limits(f.Limits...)}
}

// Error is one mistake in a file, or one warning.
type Error struct {
	File    string
	Line    int    // 0: the file as a whole
	Entry   string // the entry, such as `schedules[2] "name"`; may be empty
	Field   string // may be empty
	Problem string
	Remedy  string
}

// Error returns one line: file:line: entry: field problem; remedy.
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	if e.Entry != "" && e.Field != "" {
		text += ": " + e.Entry
	}
	text += ": "
	if subject := cmp.Or(e.Field, e.Entry); subject != "" {
		text += check.Sentence(subject, "", e.Problem)
	} else {
		text += e.Problem
	}
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return oneLine(text)
}

// oneLine replaces line breaks and bytes that are not printable, because a
// message may quote any text.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// maxErrors is the maximum number of mistakes that are kept; further mistakes
// are only counted.
const maxErrors = 1000

// FileError collects the mistakes of one file. The zero value is ready.
type FileError struct {
	list []*Error
	more int
}

// Add records a mistake.
func (e *FileError) Add(err Error) {
	if len(e.list) == maxErrors {
		e.more++
		return
	}
	e.list = append(e.list, &err)
}

// List returns the mistakes.
func (e *FileError) List() []*Error { return e.list }

// Error returns a line for each mistake.
func (e *FileError) Error() string {
	var lines []string
	for _, err := range e.list {
		lines = append(lines, err.Error())
	}
	if e.more > 0 {
		lines = append(lines, fmt.Sprintf("%s: %s of this sort; correct the mistakes above first", e.list[0].File, plain.Plural(e.more, "more mistake")))
	}
	return strings.Join(lines, "\n")
}

// Err returns e, sorted by line, if it contains mistakes, else nil.
func (e *FileError) Err() error {
	if len(e.list) == 0 {
		return nil
	}
	slices.SortStableFunc(e.list, byLine)
	return e
}

// Field describes a bad value without its position: the field, and what is
// wrong with it.
type Field struct{ Name, Value, Problem, Remedy string }

// Title returns the name, and the value if there is one, as messages show them.
func (f Field) Title() string {
	if f.Value == "" {
		return f.Name
	}
	return strings.TrimSpace(fmt.Sprintf("%s %q", f.Name, f.Value))
}

// Fields splits the error of a Validate method into fields, joined errors too.
func Fields(err error) []Field {
	var (
		joined interface{ Unwrap() []error }
		field  *check.FieldError
		rule   *recur.Error
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &joined):
		var all []Field
		for _, one := range joined.Unwrap() {
			all = append(all, Fields(one)...)
		}
		return all
	case errors.As(err, &field):
		return []Field{{field.Field, field.Value, field.Problem, field.Remedy}}
	case errors.As(err, &rule):
		return []Field{{rule.Field, rule.Value, rule.Problem, rule.Remedy}}
	}
	return []Field{{Problem: err.Error()}}
}

// Owner returns the owner of a file that does not set one: the type of the file
// and the base name of its path, shortened and cleaned so that it is a valid
// name.
func Owner(sort, path string) string { return sort + ":" + Label(filepath.Base(path), 100) }

// Label returns a part of a name for any text: printable, at most limit bytes.
func Label(text string, limit int) string {
	text = strings.TrimSpace(oneLine(strings.Map(func(r rune) rune {
		if r == '\u2028' || r == '\u2029' || (r >= 0x80 && r < 0xa0) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, text)))
	text = strings.ReplaceAll(text, "\ufffd", "_")
	if len(text) > limit {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = strings.TrimSpace(text[:limit])
	}
	return text
}

// CheckText records what no reader accepts: too many bytes, invalid UTF-8, NUL.
func CheckText(name string, text []byte, errs *FileError) bool {
	if len(text) > MaxSize {
		errs.Add(Error{File: name, Problem: fmt.Sprintf("the file has %d bytes", len(text)), Remedy: fmt.Sprintf("split it into files of at most %d", MaxSize)})
		return false
	}
	before := len(errs.list)
	for line, rest := 1, text; len(rest) > 0 && len(errs.list) < maxErrors; line++ {
		end := len(rest)
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			end = i + 1
		}
		checkLine(name, line, rest[:end], errs)
		rest = rest[end:]
	}
	return len(errs.list) == before
}

func checkLine(name string, line int, text []byte, errs *FileError) {
	if !utf8.Valid(text) {
		errs.Add(Error{File: name, Line: line, Problem: "is not valid UTF-8", Remedy: "save the file in UTF-8"})
	}
	if bytes.IndexByte(text, 0) >= 0 {
		errs.Add(Error{File: name, Line: line, Problem: "contains a NUL byte", Remedy: "remove it"})
	}
}

// Suggest returns ` (did you mean "x"?)` for the choice nearest to a misspelt
// word, or "" if no choice is near.
func Suggest(word string, choices []string) string {
	best, least := "", 3
	for _, choice := range choices {
		if d := distance(word, choice); d < least && d < len(choice) {
			best, least = choice, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// distance is the number of letters to insert, delete or change (Levenshtein);
// words of very different lengths count as far apart.
func distance(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
