package logline

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
)

func TestLineHandler(t *testing.T) {
	at := time.Date(2027, 3, 1, 12, 0, 2, 3e6, time.UTC)
	tests := []struct {
		name    string
		level   slog.Level
		message string
		attrs   []slog.Attr
		want    string
	}{
		{"a run", slog.LevelInfo, "job completed", []slog.Attr{
			slog.String("schedule", "hello"), slog.Time("slot", at.Truncate(time.Second)), slog.Int64("job", 17), slog.String("kind", "command"),
			slog.String("queue", "default"), slog.Int("attempt", 1), slog.Int64("token", 9), slog.Duration("ran", 3123456), slog.Int64("node", 1),
		}, "12:00:02 job completed           schedule=hello slot=12:00:02 job=17 ran=3.1ms\n"},
		{"a slot", slog.LevelInfo, "slot skipped", []slog.Attr{
			slog.String("schedule", "hello"), slog.Time("slot", at.Truncate(time.Second)), slog.Int64("count", 1), slog.String("detail", "paused"), slog.Int64("node", 1),
		}, "12:00:02 slot skipped            schedule=hello slot=12:00:02 detail=paused\n"},
		{"many slots", slog.LevelInfo, "slot missed", []slog.Attr{slog.Int64("count", 7)}, "12:00:02 slot missed             count=7\n"},
		{"another day", slog.LevelInfo, "m", []slog.Attr{slog.Time("slot", at.AddDate(0, 0, 1))}, "12:00:02 m                       slot=2027-03-02T12:00:02.003Z\n"},
		{"a retry", slog.LevelError, "job failed", []slog.Attr{slog.Int("attempt", 2), slog.String("error", "exit code 3")}, "12:00:02 ERROR job failed        attempt=2 error=\"exit code 3\"\n"},
		{"no attributes", slog.LevelWarn, "a message that is longer than its column", nil, "12:00:02 WARN a message that is longer than its column\n"},
		{"hostile", slog.LevelInfo, "m\x1b", []slog.Attr{slog.String("a", "\x1b[2J"), slog.String("b", ""), slog.String("c=", "x")}, "12:00:02 m\\x1b                   a=\"\\x1b[2J\" b=\"\" c==x\n"},
		{"lines", slog.LevelError, "m", []slog.Attr{slog.String("trace", "one\n\ttwo\x07\n"), slog.Int("n", 1)}, "12:00:02 ERROR m                 n=1\n         trace| one\n         trace|     two\\a\n"},
		{"groups", slog.LevelInfo, "m", []slog.Attr{slog.Group("g", slog.Int("n", 1)), slog.Any("e", errors.New("bad"))}, "12:00:02 m                       g.n=1 e=bad\n"},
		{"a name with direction", slog.LevelInfo, "m", []slog.Attr{slog.String("schedule", "会議 \u202E")}, "12:00:02 m                       schedule=\"会議 \\u202e\"\n"},
	}
	for _, test := range tests {
		var out bytes.Buffer
		h := &lineHandler{out: &out, level: slog.LevelInfo, terse: true}
		r := slog.NewRecord(at, test.level, test.message, 0)
		r.AddAttrs(test.attrs...)
		if err := h.Handle(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		equal(t, test.name, out.String(), test.want)
	}
}

func TestLoggerLevelsAndFormats(t *testing.T) {
	for level, lines := range map[string]int{"trace": 5, "debug": 4, "info": 3, "warn": 2, "error": 1} {
		for _, format := range []string{"text", "json"} {
			var out bytes.Buffer
			logger, err := New(&out, level, format)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range []slog.Level{event.LevelTrace, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
				logger.With("a", 1).WithGroup("g").Log(context.Background(), l, "m", "node", 1)
			}
			if got := bytes.Count(out.Bytes(), []byte("\n")); got != lines {
				t.Errorf("%s %s: %d lines instead of %d:\n%s", level, format, got, lines, out.String())
			}
			if trace := bytes.Contains(out.Bytes(), []byte("TRACE")); trace != (level == "trace") {
				t.Errorf("%s %s: TRACE is %v in\n%s", level, format, trace, out.String())
			}
		}
	}
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}
