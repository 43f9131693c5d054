package crontab

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is got into the golden file, to be read before it is kept")

// TestMistakes runs every case of the golden file: a text after "=== name",
// and after the line "==>" the messages that it gives.
func TestMistakes(t *testing.T) {
	const path = "testdata/mistakes.txt"
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, one := range strings.Split(strings.TrimPrefix(string(golden), "=== "), "\n=== ") {
		name, rest, _ := strings.Cut(one, "\n")
		text, want, _ := strings.Cut(rest+"\n", "==>\n")
		text = strings.TrimSuffix(text, "\n")
		var got string
		t.Run(name, func(t *testing.T) {
			file, err := Read("backup.cron", []byte(text))
			if err == nil || file != nil {
				t.Fatalf("taken: %+v, %v", file, err)
			}
			if got = err.Error(); got != strings.TrimSpace(want) && !*update {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
		all.WriteString("=== " + name + "\n" + strings.TrimSuffix(text, "\n") + "\n==>\n" + got + "\n")
	}
	if *update {
		if err := os.WriteFile(path, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
