package schedulefile

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/recur"
)

const complete = `# every key
owner: ops
revision: 7
schedules:
  - name: backup
    cron: "30 2 * * *"
    tz: Europe/Prague
    command: [backup, --level, 9, true, 007]
    env: {LEVEL: 9, EMPTY: "", FLAG: yes}
    dir: /srv
    queue: slow
    priority: 1
    max_attempts: 3
    on_loss: fail
    timeout: 1h30m
    group: nightly
    paused: true
    overlap: allow
  - name: report
    every: 90s
    shell: |
      a < b &&
      c
  - {name: once, at: 2026-03-01T09:00:00Z, kind: mail, args: {z: 1.50, a: [1e400, 12345678901234567890123, -0, ~, true, yes, "x<y", 'é'], "": {}}}
`

// TestReadKeep reads how long jobs of each kind are kept.
func TestReadKeep(t *testing.T) {
	file, err := Read("x.yaml", []byte(`kinds:
  http: {keep: {completed: none, failed: 30d}}
  mail: {keep: {completed: 1h30m}}
  sql: {}
schedules: []
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]hourbell.Keep{"http": {Completed: hourbell.KeepNone, Failed: 30 * 24 * time.Hour}, "mail": {Completed: 90 * time.Minute}}
	if !reflect.DeepEqual(file.Keep, want) {
		t.Errorf("got %v, want %v", file.Keep, want)
	}
}

func TestEveryKey(t *testing.T) {
	file, err := Read("/etc/hourbell/hours.yaml", []byte(complete))
	if err != nil {
		t.Fatal(err)
	}
	want := &declared.File{Owner: "ops", Revision: 7, Limits: []hourbell.Limit{}, Entries: []declared.Entry{
		{Line: 5, Schedule: hourbell.Schedule{
			Name: "backup", Owner: "ops", Rule: recur.Spec{Cron: "30 2 * * *", Zone: "Europe/Prague"}, Job: hourbell.RawArgs{Name: "command", JSON: []byte(`{"argv":["backup","--level","9","true","007"],"env":{"EMPTY":"","FLAG":"yes","LEVEL":"9"},"dir":"/srv"}`)},
			Queue: "slow", Priority: 1, MaxAttempts: 3, OnLoss: hourbell.FailOnLoss, Timeout: 90 * time.Minute,
			Group: "nightly", Paused: true, Overlap: hourbell.OverlapAllow,
		}},
		{Line: 19, Schedule: hourbell.Schedule{
			Name: "report", Owner: "ops", Rule: recur.Spec{Every: "90s"}, Job: hourbell.RawArgs{Name: "command", JSON: []byte(`{"shell":"a < b &&\nc\n"}`)},
		}},
		{Line: 24, Schedule: hourbell.Schedule{
			Name: "once", Owner: "ops", Rule: recur.Spec{At: "2026-03-01T09:00:00Z"}, Job: hourbell.RawArgs{Name: "mail", JSON: []byte(`{"z":1.50,"a":[1e400,12345678901234567890123,-0,null,true,"yes","x<y","é"],"":{}}`)},
		}},
	}}
	if !reflect.DeepEqual(file, want) {
		t.Errorf("got\n%+v\nwant\n%+v", file, want)
	}
	if all := file.Schedules(); len(all) != 3 || all[1].Name != "report" {
		t.Errorf("Schedules gave %+v", all)
	}
}

// Variations in which editors save a file must not change its meaning.
func TestSameInEveryDress(t *testing.T) {
	want, err := Read("hours.yaml", []byte(complete))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"CRLF":        strings.ReplaceAll(complete, "\n", "\r\n"),
		"BOM":         "\ufeff" + complete,
		"no last end": strings.TrimSuffix(complete, "\n"),
		"document":    "---\n" + complete + "...\n",
	} {
		got, err := Read("hours.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(got.Schedules(), want.Schedules()) {
			t.Errorf("%s: got\n%+v\nwant\n%+v", name, got, want)
		}
	}
}

func TestOwnerOfTheFile(t *testing.T) {
	for path, want := range map[string]string{
		"/etc/hourbell/hours.yaml":        "file:hours.yaml",
		"a b.yaml":                        "file:a b.yaml",
		"x\ny.yaml":                       "file:x_y.yaml",
		"\xff.yaml":                       "file:_.yaml",
		strings.Repeat("é", 300) + ".yml": "file:" + strings.Repeat("é", 50),
	} {
		file, err := Read(path, []byte("schedules: []"))
		if err != nil || file.Owner != want || len(file.Entries) != 0 {
			t.Errorf("%q: got %+v, %v, want owner %q", path, file, err, want)
		}
	}
}

func TestAnchors(t *testing.T) {
	file, err := Read("hours.yaml", []byte(`schedules:
  - &base
    name: a
    every: 1m
    shell: "true"
    env: &env {A: 1, B: 2}
  - <<: *base
    name: b
    env:
      <<: [*env, {C: 3, A: 9}]
      B: 4
`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"shell":"true","env":{"A":"1","B":"4","C":"3"}}`
	if got := file.Entries[1]; string(declared.Raw(got.Job).JSON) != want || got.Name != "b" || got.Rule.Every != "1m" {
		t.Errorf("got %+v with args %s, want %s", got, declared.Raw(got.Job).JSON, want)
	}
}

// Texts that are not schedule files, or that would cost far more than their
// size.
func TestHostileFiles(t *testing.T) {
	aliases := "x: &a0 [lol, lol]\n"
	for i := 1; i < 60; i++ {
		aliases += fmt.Sprintf("x%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	keys := ""
	for i := range 20_000 {
		keys += fmt.Sprintf("k%d: 1\n", i)
	}
	merges := "a: &a {" + strings.Repeat("x: 1, ", 1) + "}\n"
	wide := "w: &w {"
	for i := range 5000 {
		wide += fmt.Sprintf("k%d: 1, ", i)
	}
	wide += "}\n"
	for name, test := range map[string]struct{ text, want string }{
		"empty":         {"", "declares nothing"},
		"NUL":           {"owner: a\nschedules: []\x00\n", "hours.yaml:2: contains a NUL byte; remove it"},
		"UTF-8":         {"owner: a\n\n# \xff\nschedules: []\n", "hours.yaml:3: is not valid UTF-8; save the file in UTF-8"},
		"UTF-16":        {"\xff\xfeo\x00w\x00", "hours.yaml:1: is not valid UTF-8"},
		"size":          {strings.Repeat("#", declared.MaxSize+1), "the file has 16777217 bytes; split it"},
		"flow depth":    {strings.Repeat("[", 200_000), "nested too deeply"},
		"map depth":     {strings.Repeat("{a: ", 100_000), "nested too deeply"},
		"dash depth":    {strings.Repeat("- ", 200_000), "nested too deeply"},
		"key depth":     {strings.Repeat("? ", 100_000), "nested too deeply"},
		"keys":          {keys, "too many keys"},
		"laughs":        {aliases + "schedules: [{name: a, every: 1m, kind: k, args: *a59}]", "args are larger than 1 MiB"},
		"merges":        {merges + wide + "schedules: [" + strings.Repeat("{<<: *w}, ", 1000) + "]", "<< copies too much"},
		"many mistakes": {"schedules: [" + strings.Repeat("{}, ", 5000) + "]", "more mistakes of this sort"},
		"secret":        {"schedules: [{name: a, every: 1m, command: [x], env: {P: hunter2}, dir: " + strings.Repeat("x", 2<<20) + "}]", "args cannot have"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			file, err := Read("hours.yaml", []byte(test.text))
			var errs *declared.FileError
			if file != nil || !errors.As(err, &errs) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %+v, %.300v, want %q", file, err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Error("the message shows a secret")
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}

// For any text, Read returns a file whose schedules are valid, or mistakes.
func FuzzRead(f *testing.F) {
	f.Add([]byte(complete))
	for _, text := range []string{"", "---\n", "a: *a", "? [", "&a [*a]", "!!str", "<<: {<<: {}}", "- |\n", "%YAML 1.2\n---\n", "{a: b: c}", "\t", "\"\\x\"", "schedules: [{name: &n a, every: *n, args: .5}]"} {
		f.Add([]byte(text))
	}
	golden, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range strings.Split(string(golden), "==") {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Read("hours.yaml", text)
		if (file == nil) == (err == nil) {
			t.Fatalf("got %v and %v", file, err)
		}
		if err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				if !strings.HasPrefix(line, "hours.yaml") {
					t.Errorf("a message without its file: %q", line)
				}
			}
			return
		}
		for _, entry := range file.Entries {
			if err := entry.Validate(); err != nil || entry.Line < 1 {
				t.Errorf("line %d: %v", entry.Line, err)
			}
		}
	})
}
