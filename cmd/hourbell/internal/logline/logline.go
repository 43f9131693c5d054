// Package logline makes the loggers of the program: lines for a terminal, or JSON.
package logline

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/plain"
)

// New makes the logger for a level (trace, debug, info, warn or error) and a
// format (text or json). The error is a *check.FieldError that names the flag.
func New(w io.Writer, level, format string) (*slog.Logger, error) {
	l, err := parseLevel(level)
	if err != nil {
		return nil, err
	}
	switch format {
	case "text":
		return slog.New(&lineHandler{out: &lockedWriter{w: w}, level: l, terse: l >= slog.LevelInfo}), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l, ReplaceAttr: nameTrace})), nil
	}
	return nil, &check.FieldError{Field: "log-format", Value: check.Shorten(format), Problem: "is unknown", Remedy: "use text or json"}
}

func parseLevel(word string) (slog.Level, error) {
	switch word {
	case "trace":
		return event.LevelTrace, nil
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, &check.FieldError{Field: "log-level", Value: check.Shorten(word), Problem: "is unknown", Remedy: "use trace, debug, info, warn or error"}
}

// nameTrace replaces the level below DEBUG by its name.
func nameTrace(groups []string, a slog.Attr) slog.Attr {
	if level, ok := a.Value.Any().(slog.Level); ok && len(groups) == 0 && a.Key == slog.LevelKey && level <= event.LevelTrace {
		return slog.String(slog.LevelKey, "TRACE")
	}
	return a
}

// NewHandler returns a handler that writes lines for a terminal with all
// attributes. Concurrent calls are allowed if w allows them.
func NewHandler(w io.Writer, level slog.Level) slog.Handler {
	return &lineHandler{out: w, level: level}
}

// lockedWriter writes one line at a time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}

// lineHandler writes log records for a terminal: the time of day, the message
// in a column of its own, then key=value. It implements slog.Handler.
//
//	12:00:02 job completed         schedule=hello slot=12:00:02 job=17 ran=3ms
type lineHandler struct {
	out    io.Writer
	level  slog.Level
	terse  bool   // leave out attributes that are only useful when looking for faults
	prefix string // of keys, from WithGroup
	before string // attributes from WithAttrs, as text
}

// messageWidth is the column in which the attributes begin, if the message is
// short enough.
const messageWidth = 22

// Enabled implements slog.Handler.
func (h *lineHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// WithGroup implements slog.Handler.
func (h *lineHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	other := *h
	other.prefix += name + "."
	return &other
}

// WithAttrs implements slog.Handler.
func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	other := *h
	var line logLine
	for _, a := range attrs {
		line.add(h.prefix, a, time.Now())
	}
	other.before += line.pairs.String()
	return &other
}

// Handle implements slog.Handler.
func (h *lineHandler) Handle(_ context.Context, r slog.Record) error {
	message := plain.Clean(r.Message)
	if r.Level != slog.LevelInfo {
		message = levelWord(r.Level) + " " + message
	}
	var line logLine
	line.pairs.WriteString(h.before)
	r.Attrs(func(a slog.Attr) bool {
		if !h.terse || worthSaying(r, a) {
			line.add(h.prefix, a, r.Time)
		}
		return true
	})
	text := fmt.Sprintf("%s %-*s %s", r.Time.Format("15:04:05"), messageWidth, message, line.pairs.String())
	_, err := io.WriteString(h.out, strings.TrimRight(text, " ")+"\n"+line.below.String())
	return err
}

func levelWord(level slog.Level) string {
	if level <= event.LevelTrace {
		return "TRACE"
	}
	return level.String()
}

// worthSaying reports whether an attribute is written. Attributes of calm lines
// are left out if the line already contains them, or if they are only useful
// when looking for faults.
func worthSaying(r slog.Record, a slog.Attr) bool {
	switch a.Key {
	case "queue", "token":
		return false
	case "node":
		return !has(r, "job") && !has(r, "slot")
	case "count":
		return a.Value.Resolve().Kind() != slog.KindInt64 || a.Value.Int64() != 1
	case "kind":
		return !has(r, "schedule")
	case "attempt":
		return a.Value.Resolve().Kind() != slog.KindInt64 || a.Value.Int64() != 1
	}
	return true
}

func has(r slog.Record, key string) bool {
	found := false
	r.Attrs(func(a slog.Attr) bool {
		found = found || a.Key == key
		return !found
	})
	return found
}

// logLine collects attributes: short attributes in the line, texts of several
// lines below it.
type logLine struct {
	pairs strings.Builder
	below strings.Builder
}

// add writes an attribute; day is the date of the record.
func (l *logLine) add(prefix string, a slog.Attr, day time.Time) {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, member := range value.Group() {
			l.add(prefix, member, day)
		}
		return
	}
	if a.Key == "" {
		return
	}
	if text := value.String(); value.Kind() == slog.KindString && strings.Contains(strings.TrimSpace(text), "\n") {
		l.below.WriteString(plain.CleanLines(strings.TrimSpace(text), "         "+plain.Clean(prefix+a.Key)+"| "))
		return
	}
	l.pairs.WriteString(" " + plain.Clean(prefix+a.Key) + "=" + logValue(value, day))
}

// logValue formats a value as one word, or quoted.
func logValue(value slog.Value, day time.Time) string {
	switch value.Kind() {
	case slog.KindTime:
		return logTime(value.Time(), day)
	case slog.KindDuration:
		return plain.Brief(value.Duration())
	}
	text := value.String()
	if text == "" || strings.ContainsAny(text, " =\"") || !plain.IsClean(text) {
		return strconv.Quote(text)
	}
	return text
}

// logTime formats a time, without the date if it is the date of the line.
func logTime(t, day time.Time) string {
	t = t.In(day.Location())
	if t.Format(time.DateOnly) == day.Format(time.DateOnly) {
		return t.Format("15:04:05.999")
	}
	return t.Format("2006-01-02T15:04:05.999Z07:00")
}
