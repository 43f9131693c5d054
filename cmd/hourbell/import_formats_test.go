package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportFormats compares what import makes of a file of each format with a golden file, and reads the result by check.
func TestImportFormats(t *testing.T) {
	t.Setenv("TZ", "America/New_York") // has no influence
	dir, err := filepath.Abs("internal/imports/testdata")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	if err := os.CopyFS(".", os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range files {
		args := []string{"import", file}
		switch filepath.Ext(file) {
		case ".golden", ".service", ".yaml.out", ".sqlite", ".db":
			continue
		case ".crontab":
			args = append(args, "--format", "supercronic")
		}
		tried++
		got := b.run(args...)
		text := fmt.Sprintf("$ hourbell %s\n%s%sexit code %d\n", strings.Join(args, " "), got.out, got.err, got.code)
		golden := filepath.Join(dir, file+".golden")
		if os.Getenv("HOURBELL_UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(golden, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, golden, text, string(want))
		if got.code == exitDone {
			writeFile(t, "out.yaml", got.out)
			b.ok("check", "out.yaml")
		} else if got.out != "" {
			t.Errorf("%s: mistakes, and a schedule file:\n%s", file, got.out)
		}
	}
	if tried < 12 {
		t.Errorf("%d files were read", tried)
	}
}

// TestImportChoices checks the flags that concern files of other schedulers.
func TestImportChoices(t *testing.T) {
	b := newBench(t)
	writeFile(t, "recurring.yml", "production:\n  a: {class: A, schedule: every day at noon}\nstaging:\n  b: {class: B, schedule: every hour}\n")
	b.fails(exitUsage, []string{"production, staging", "--section"}, "import", "recurring.yml")
	got := b.run("import", "recurring.yml", "--section", "production", "--tz", "Asia/Tokyo")
	if got.code != exitDone || !strings.Contains(got.out, "tz: Asia/Tokyo") || strings.Contains(got.out, "kind: B") || !strings.Contains(got.err, "recurring.yml:3: staging") {
		t.Errorf("got %+v", got)
	}
	b.fails(exitUsage, []string{"format", "is unknown"}, "import", "recurring.yml", "--format", "yaml")
	b.fails(exitUsage, []string{"tz", "Nowhere"}, "import", "recurring.yml", "--tz", "Nowhere")
	writeFile(t, "tab", "0 5 * * * date\n")
	if err := os.Mkdir("out", 0o777); err != nil {
		t.Fatal(err)
	}
	if got := b.run("import", "recurring.yml", "tab", "--section", "staging", "--into", "out"); got.code != exitDone {
		t.Errorf("got %+v", got)
	}
	b.ok("check", "out/recurring.yaml", "out/tab.yaml")
}
