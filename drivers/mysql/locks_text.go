package mysql

import (
	"fmt"
	"strings"
)

// Statements have named parameters, :name, and macros, {name(argument)}, for
// parts that depend on the types of the columns.

// args are the values of a statement's parameters, by name. A missing value is
// null.
type args map[string]any

// statement is a text with question marks, and the name of the parameter for
// each question mark.
type statement struct {
	text  string
	order []string
}

// values returns the values for the question marks.
func (s statement) values(a args) []any {
	values := make([]any, len(s.order))
	for i, name := range s.order {
		values[i] = a[name]
	}
	return values
}

// compile replaces named parameters by question marks. Elsewhere the statements
// of this package have no colon before a letter.
func compile(text string) statement {
	var s statement
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, ":")
		out.WriteString(before)
		if !found {
			s.text = out.String()
			return s
		}
		end := strings.IndexFunc(after, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
		if end < 0 {
			end = len(after)
		}
		if text = after[end:]; end == 0 {
			out.WriteByte(':')
			continue
		}
		s.order = append(s.order, after[:end])
		out.WriteByte('?')
	}
}

// expand replaces macros, inner macros first.
func expand(text string, macros map[string]func(argument string) string) string {
	for {
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return strings.NewReplacer("\x01", "{", "\x02", "}").Replace(text)
		}
		start := strings.LastIndexByte(text[:end], '{')
		name, argument, _ := strings.Cut(text[start+1:end], "(")
		body := "\x01" + name + "\x02" // a marker for braces that are restored later: the name of a table
		if macro, ok := macros[name]; ok {
			body = macro(strings.TrimSuffix(argument, ")"))
		}
		text = text[:start] + body + text[end+1:]
	}
}

// timeText is how statements convert instants for a column: which part of the
// fraction of a second the column stores, and whether the column depends on a
// session's time zone.
type timeText struct {
	step    int    // the precision in microseconds
	foreign string // the time zone of other programs' sessions; empty: the column is in UTC
}

// timeColumn returns the timeText of a column.
func timeColumn(columns map[string]column, name, zone string) (t timeText, err error) {
	c := columns[name]
	t.step = 1
	for range 6 - c.precision {
		t.step *= 10
	}
	switch c.kind {
	case "datetime":
		return t, nil
	case "timestamp":
		t.foreign = zone
		return t, nil
	case "":
		return t, fmt.Errorf("it has no column %s; a lock table has name, lock_until, locked_at and locked_by", name)
	}
	return t, fmt.Errorf("column %s is of type %s; make it timestamp(3) or datetime(3)", name, c.kind)
}

// utc returns the expression that reads the column.
func (t timeText) utc(column string) string {
	if t.foreign == "" {
		return column
	}
	return fmt.Sprintf("CONVERT_TZ(%s, @@session.time_zone, %s)", column, t.foreign)
}

// write converts an instant in UTC to the column's type.
func (t timeText) write(instant string) string {
	if t.foreign == "" {
		return instant
	}
	return fmt.Sprintf("CONVERT_TZ(%s, %s, @@session.time_zone)", instant, t.foreign)
}

// up and down round to the column's precision, because some servers round
// values and others cut them.
func (t timeText) up(instant string) string {
	if t.step == 1 {
		return instant
	}
	return fmt.Sprintf("(%[1]s + INTERVAL MOD(%[2]d - MOD(MICROSECOND(%[1]s), %[2]d), %[2]d) MICROSECOND)", instant, t.step)
}

func (t timeText) down(instant string) string {
	if t.step == 1 {
		return instant
	}
	return fmt.Sprintf("(%[1]s - INTERVAL MOD(MICROSECOND(%[1]s), %[2]d) MICROSECOND)", instant, t.step)
}

// least converts an at-least time from milliseconds to microseconds, for a time
// that counts from the stored value of a column: it adds the part that the
// column cut, if that is more than a millisecond.
func (t timeText) least(duration string) string {
	if t.step <= 1000 {
		return duration + " * 1000"
	}
	return fmt.Sprintf("(%[1]s * 1000 + SIGN(%[1]s) * %[2]d)", duration, t.step-1)
}

// macros returns the macros of the statements.
func macros(until, at timeText) map[string]func(string) string {
	return map[string]func(string) string{
		"now":        func(string) string { return "COALESCE(CAST(:now AS DATETIME(6)), UTC_TIMESTAMP(6))" },
		"micros":     func(x string) string { return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + x + ")" },
		"until":      func(x string) string { return until.write(until.up("(" + x + ")")) },
		"until_down": func(x string) string { return until.write(until.down(x)) },
		"at":         func(x string) string { return at.write(at.down(x)) },
		"at_least":   at.least,
		"utc_until":  until.utc,
		"utc_at":     at.utc,
	}
}
