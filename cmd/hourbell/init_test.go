package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/schedulefile"
)

// uncommented returns the file of init with its examples, which are the indented lines, and the keys without a blank, behind a #.
func uncommented(text []byte) string {
	all := regexp.MustCompile(`(?m)^#([a-z ] ?[a-z]+: ?.*)$`).ReplaceAllString(string(text), "$1")
	all = regexp.MustCompile(`(?m)^  # (- name: .*|  [a-z_]+: .*)$`).ReplaceAllString(all, "  $1")
	return all
}

// TestInit checks that the first file is read as it is and with all its examples, runs, and never
// replaces a file.
func TestInit(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	if out := b.ok("init"); !strings.Contains(out, "hourbell serve --file schedules.yaml") {
		t.Errorf("init prints %q", out)
	}
	equal(t, "the file", readFile("schedules.yaml"), string(firstFile))
	b.ok("check", "schedules.yaml")
	node := b.serve("--file", "schedules.yaml")
	node.awaits(`output="hello from Hourbell"`, 1)

	writeFile(t, "schedules.yaml", "mine")
	for _, args := range [][]string{{"init"}, {"init", "schedules.yaml"}, {"init", "./schedules.yaml"}} {
		b.fails(exitFailed, []string{"it exists, and is left as it is"}, args...)
	}
	equal(t, "the file that existed", readFile("schedules.yaml"), "mine")
	b.fails(exitFailed, []string{"none/a.yaml", "make the folder first"}, "init", "none/a.yaml")
	b.fails(exitUsage, []string{"one too many"}, "init", "a.yaml", "b.yaml")
	b.fails(exitUsage, []string{"file", "is empty"}, "init", "")
	b.ok("init", "other name.yaml")

	set, err := schedulefile.Read("x.yaml", []byte(uncommented(firstFile)))
	if err != nil {
		t.Fatalf("with its examples: %v\n%s", err, uncommented(firstFile))
	}
	if examples := strings.Count(string(firstFile), "- name:"); len(set.Entries) != examples || set.Owner != "ops" || len(set.Warnings) > 0 {
		t.Errorf("%d of %d schedules, owner %q, warnings %v", len(set.Entries), examples, set.Owner, set.Warnings)
	}
}

// TestFirstRun checks what the program prints without arguments: each of its commands exists.
func TestFirstRun(t *testing.T) {
	b := newBench(t)
	r := b.run()
	if r.code != exitUsage || r.out != "" {
		t.Errorf("%+v", r)
	}
	tries := regexp.MustCompile(`(?m)^  hourbell .*$`).FindAllString(r.err, -1)
	if len(tries) != 3 {
		t.Errorf("%d things to try in\n%s", len(tries), r.err)
	}
	root := newProgram().rootCommand()
	for _, words := range regexp.MustCompile("hourbell ([a-z]+)").FindAllStringSubmatch(strings.Join(tries, "\n"), -1) {
		if c, _, err := root.Find(words[1:]); err != nil || c == root {
			t.Errorf("%q is no command", words[0])
		}
	}
	noStore(t, b)
	if _, err := os.Stat("schedules.yaml"); err == nil {
		t.Error("a file was written")
	}
}

func readFile(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}
