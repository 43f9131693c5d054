package main

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
		equal(t, text, clean(text), want)
	}
	equal(t, "lines", cleanLines("a\r\n\tb\x1b", "> "), "> a\n>     b\\x1b\n")
}

func TestCutKeepsCharacters(t *testing.T) {
	for most := range 12 {
		if got := cut("会議会議", most); !utf8.ValidString(got) || len(got) > most+len("…") {
			t.Errorf("cut to %d: %q", most, got)
		}
	}
	equal(t, "short", cut("abc", 3), "abc")
}

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1500 * time.Nanosecond: "2µs", 3123456: "3.1ms", 1234567 * time.Microsecond: "1.23s", 3*time.Hour + 123*time.Millisecond: "3h0m0s",
	} {
		equal(t, "brief", brief(d), want)
	}
}
