// Package declaredtest contains the golden tests that the readers of
// declarations share.
//
// A golden file consists of cases: a text after "=== name", and after the line
// "==>" the messages of reading that text from a file with the name that the
// test gives. With HOURBELL_UPDATE_GOLDEN=1 the actual messages are written
// instead; read them before you commit them.
package declaredtest

import (
	"os"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/internal/declared"
)

// read is a reader of declarations.
type read = func(name string, text []byte) (*declared.File, error)

// Mistakes checks that every text of a golden file is refused, with exactly the
// messages of the golden file.
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

// Warnings checks that every text of a golden file is accepted, with exactly
// the warnings of the golden file.
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

// cases compares the messages for each text with the golden file.
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
