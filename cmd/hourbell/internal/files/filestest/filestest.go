// Package filestest writes the files of tests.
package filestest

import (
	"os"
	"testing"
	"time"
)

// Write writes a file.
func Write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Dir makes a directory.
func Dir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// Dated writes a file as of some minutes after a fixed time.
func Dated(t *testing.T, path, text string, minutes int) {
	t.Helper()
	Write(t, path, text)
	at := time.Date(2026, 1, 1, 0, minutes, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}
