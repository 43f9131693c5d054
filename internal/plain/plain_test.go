package plain

import (
	"testing"
	"time"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"":                "",
		"plain 会議 é":      "plain 会議 é",
		"a\x1b[31mb":      `a\x1b[31mb`,
		"a\nb\r\tc\x00":   `a\nb\r\tc\x00`,
		"\xff\xfe":        `\xff\xfe`,
		"x\u202Ey\u2028z": `x\u202ey\u2028z`,
		"\uFFFD":          "\uFFFD",
		"it's \\":         `it's \`,
	} {
		equal(t, text, Clean(text), want)
	}
	equal(t, "lines", CleanLines("a\r\n\tb\x1b", "> "), "> a\n>     b\\x1b\n")
}

func TestCutKeepsCharacters(t *testing.T) {
	for most := range 12 {
		if got := Cut("会議会議", most); !utf8.ValidString(got) || len(got) > most+len("…") {
			t.Errorf("cut to %d: %q", most, got)
		}
	}
	equal(t, "short", Cut("abc", 3), "abc")
}

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1500 * time.Nanosecond: "2µs", 3123456: "3.1ms", 1234567 * time.Microsecond: "1.23s", 3*time.Hour + 123*time.Millisecond: "3h0m0s",
	} {
		equal(t, "brief", Brief(d), want)
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"one":                   "one",
		"one\n  two\r\nthree\n": "one; two; three",
		"two mistakes:\n\ta\nb": "two mistakes: a; b",
		"a\x1b\nb":              `a\x1b; b`,
	} {
		equal(t, text, OneLine(text), want)
	}
}

func TestShellQuote(t *testing.T) {
	for word, want := range map[string]string{
		"": "''", "a/b-c.d": "a/b-c.d", "two words": "'two words'", "it's": `'it'\''s'`, "$HOME": "'$HOME'",
	} {
		equal(t, word, ShellQuote(word), want)
	}
}

func TestInZone(t *testing.T) {
	noon := time.Date(2027, 7, 1, 12, 0, 0, 0, time.UTC)
	equal(t, "a zone", InZone(noon, "Europe/Prague"), "2027-07-01T14:00:00+02:00")
	equal(t, "its own zone", InZone(noon, ""), "2027-07-01T12:00:00Z")
	equal(t, "an unknown zone", InZone(noon, "Nowhere"), "2027-07-01T12:00:00Z")
	equal(t, "an offset with seconds", InZone(time.Date(1850, 1, 1, 0, 0, 0, 0, time.UTC), "Europe/Prague"), "1850-01-01T00:00:00Z")
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestRelative(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		from time.Duration
		want string
	}{
		{0, "now"},
		{-400 * time.Millisecond, "now"},
		{-time.Second, "1s ago"},
		{-119 * time.Second, "119s ago"},
		{-2 * time.Minute, "2m ago"},
		{-119 * time.Minute, "119m ago"},
		{-47 * time.Hour, "47h ago"},
		{-49 * time.Hour, "2d ago"},
		{3 * time.Second, "in 3s"},
		{400 * 24 * time.Hour, "in 400d"},
	} {
		if got := Relative(now.Add(test.from), now); got != test.want {
			t.Errorf("%v: %q instead of %q", test.from, got, test.want)
		}
	}
}
