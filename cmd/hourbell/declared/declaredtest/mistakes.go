// Package declaredtest holds the golden test of those who read declarations.
package declaredtest

import (
	"os"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/declared"
)

// Mistakes runs every case of testdata/mistakes.txt: a text after "=== name",
// and after the line "==>" the messages that read gives when the text stands
// in the file of that name. With HOURBELL_UPDATE_GOLDEN=1 it writes what is got
// instead, to be read before it is kept.
func Mistakes(t *testing.T, name string, read func(name string, text []byte) (*declared.File, error)) {
	t.Helper()
	const path = "testdata/mistakes.txt"
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
			file, err := read(name, []byte(text))
			if err == nil || file != nil {
				t.Fatalf("taken: %+v, %v", file, err)
			}
			if got = err.Error(); got != strings.TrimSpace(want) && !update {
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
