// Package plain formats values as plain text for people: for terminals, log
// lines, messages and pages. All functions are pure and safe for concurrent
// calls.
package plain

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Clean makes text safe for a terminal: characters that could move the cursor,
// change colours or change the direction of writing are escaped, and so are
// bytes that are not UTF-8.
func Clean(text string) string {
	if IsClean(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		text = text[size:]
	}
	return b.String()
}

// IsClean reports whether Clean returns the text unchanged.
func IsClean(text string) bool {
	for _, r := range text {
		if !strconv.IsPrint(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// CleanLines is Clean for text of several lines, each indented with indent.
func CleanLines(text, indent string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		b.WriteString(indent + Clean(strings.ReplaceAll(line, "\t", "    ")) + "\n")
	}
	return b.String()
}

// CleanPart is CleanLines, without an indentation, for a part of a text: a last line
// that has no end yet gets none.
func CleanPart(text string) string {
	clean := CleanLines(text, "")
	if text == "" || strings.HasSuffix(text, "\n") {
		return clean
	}
	return strings.TrimSuffix(clean, "\n")
}

// Cut keeps at most the given number of bytes, without half a character, and
// marks the cut.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// FirstLine returns the first line of an error, cut to fit a table.
func FirstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += "…"
	}
	return Cut(line, 60)
}

// Stamp formats an instant for tables: UTC, to the millisecond; "-" for the
// zero time.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04:05.999Z07:00")
}

// Brief rounds a duration to a useful precision.
func Brief(d time.Duration) string {
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(100 * time.Microsecond)
	default:
		d = d.Round(time.Microsecond)
	}
	return d.String()
}

// Dash returns "-" for an empty text.
func Dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// InZone formats an instant (RFC 3339) in a zone, or in the instant's own zone if
// zone is empty or unknown.
func InZone(t time.Time, zone string) string {
	if zone != "" {
		if loc, err := time.LoadLocation(zone); err == nil {
			t = t.In(loc)
		}
	}
	if _, offset := t.Zone(); offset%60 != 0 { // RFC 3339 has no seconds in offsets
		t = t.UTC()
	}
	return t.Format(time.RFC3339Nano)
}

// Plural returns a number and a noun that takes an s, such as "2 files".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// OneLine joins the lines of joined errors, and makes them safe for a terminal.
func OneLine(text string) string {
	var b strings.Builder
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		switch {
		case b.Len() == 0:
		case strings.HasSuffix(b.String(), ":"):
			b.WriteString(" ")
		default:
			b.WriteString("; ")
		}
		b.WriteString(Clean(strings.TrimSpace(line)))
	}
	return b.String()
}

// ShellQuote puts a word into quotes if a shell requires quotes.
func ShellQuote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Relative returns when an instant is, seen from now, in the greatest unit that fits at least
// twice, such as "3m ago" or "in 50s".
func Relative(at, now time.Time) string {
	d, text := now.Sub(at).Round(time.Second), "%s ago"
	if d < 0 {
		d, text = -d, "in %s"
	}
	if d == 0 {
		return "now"
	}
	unit, name := time.Second, "s"
	for _, one := range []struct {
		unit time.Duration
		name string
	}{{time.Minute, "m"}, {time.Hour, "h"}, {24 * time.Hour, "d"}} {
		if d >= 2*one.unit {
			unit, name = one.unit, one.name
		}
	}
	return fmt.Sprintf(text, fmt.Sprint(int64(d/unit))+name)
}
