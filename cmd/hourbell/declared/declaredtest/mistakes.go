// Package declaredtest holds the golden tests of those who read declarations.
//
// A golden file has cases: a text after "=== name", and after the line "==>"
// what reading it says when the text stands in the file of the name that the
// test gives. With HOURBELL_UPDATE_GOLDEN=1 what is got is written instead, to
// be read before it is kept.
package declaredtest

import (
	"os"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/declared"
)

// read is a reader of declarations.
type read = func(name string, text []byte) (*declared.File, error)

// Mistakes holds that every text of a golden file is refused, with just the
// messages that stand there.
func Mistakes(t *testing.T, golden, name string, read read) {
	t.Helper()
	cases(t, golden, func(t *testing.T, text []byte) string {
		file, err := read(name, text)
		if err == nil || file != nil {
			t.Fatalf("taken: %+v, %v", file, err)
		}
		return err.Error()
	})
}

// Warnings holds that every text of a golden file is taken, with just the
// warnings that stand there.
func Warnings(t *testing.T, golden, name string, read read) {
	t.Helper()
	cases(t, golden, func(t *testing.T, text []byte) string {
		file, err := read(name, text)
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		var lines []string
		for _, warning := range file.Warnings {
			lines = append(lines, warning.Error())
		}
		return strings.Join(lines, "\n")
	})
}

// cases compares what a reader says of each text with the golden file.
func cases(t *testing.T, path string, say func(t *testing.T, text []byte) string) {
	t.Helper()
	update := os.Getenv("HOURBELL_UPDATE_GOLDEN") != ""
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, one := range strings.Split(strings.TrimPrefix(string(golden), "=== "), "\n=== ") {
		title, rest, _ := strings.Cut(one, "\n")
		text, want, _ := strings.Cut(rest+"\n", "==>\n")
		text = strings.TrimSuffix(text, "\n")
		var got string
		t.Run(title, func(t *testing.T) {
			if got = say(t, []byte(text)); got != strings.TrimSpace(want) && !update {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
		all.WriteString("=== " + title + "\n" + text + "\n==>\n" + got + "\n")
	}
	if update {
		if err := os.WriteFile(path, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
