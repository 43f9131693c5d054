package schedulefile

import (
	"reflect"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
)

func readBack(t *testing.T, set *declared.File) *declared.File {
	t.Helper()
	text, err := Write(set)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read("x.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return got
}

// Write writes every key that Read reads, into a file that reads as the same
// schedules.
func TestWriteEveryKey(t *testing.T) {
	set, err := Read("hours.yaml", []byte(complete+`  - name: start
    cron: "@reboot"
    shell: warm up
    user: ada
    stdin: "a\nb"
    detached: keep
    base: cron
    timeout: none
    on_failure: {command: [tell, "it's"], env: {A: "#"}, dir: /, user: root}
    on_success: [{command: [ok]}, {shell: "a, b] #"}, {url: "https://x/"}]
    on_retry: {shell: again}
    on_output: {shell: read it}
    on_recovery: {url: "https://x/?a=b&c", method: PUT, header: {X-A: "b: c"}, body: '{"a": 1}'}
  - {name: each start, cron: "@start", shell: warm up}
`))
	if err != nil {
		t.Fatal(err)
	}
	got := readBack(t, set)
	if len(got.AtStart) != 2 || !got.AtStart[0].Boot || got.AtStart[1].Boot || !reflect.DeepEqual(got.AtStart[0].Schedule, set.AtStart[0].Schedule) {
		t.Errorf("got %+v, want %+v", got.AtStart, set.AtStart)
	}
	if !reflect.DeepEqual(got.Schedules(), set.Schedules()) || got.Owner != set.Owner || got.Revision != set.Revision {
		t.Errorf("got\n%+v\nwant\n%+v", got, set)
	}
}

func FuzzWrite(f *testing.F) {
	for _, text := range []string{
		"", " ", "plain", "a: b", "it's \"so\"", `\`, "#", "é\u2028\x7f\u00a0", "a\tb\r\n", "~", "null", "On", "=", "<<", "-", "- a", "? b", "*a", "&a", "!t", "|", ">", "%", "@a", "`", "1", "0x1f", "1e3", ".5", "{a}", "[b]", "a #b", "'", `"`, "...", "---",
		"\ufeff", "\U0001f514", "\u0085",
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		args, err := kinds.Command{Argv: []string{"x", a, b}, Env: map[string]string{"A" + a: b, "B": a}, Stdin: b}.Encode()
		hook, hookErr := declared.NewHook(kinds.Command{Shell: b, Dir: a})
		s := hourbell.Schedule{
			Name: a, Owner: "o", Rule: recur.Spec{Cron: "30 2 * * *", Zone: "Europe/Prague"}, Job: hourbell.RawArgs{Name: kinds.CommandKind, JSON: args},
			Group: b, Timeout: 90 * time.Minute, Hooks: hourbell.Hooks{OnMissed: hook},
		}
		if err != nil || hookErr != nil || s.Validate() != nil {
			return
		}
		got := readBack(t, &declared.File{Owner: "o", Entries: []declared.Entry{{Schedule: s}, {Schedule: twin(s)}}})
		if len(got.Entries) != 2 || !reflect.DeepEqual(got.Entries[0].Schedule, s) || !reflect.DeepEqual(got.Entries[1].Schedule, twin(s)) {
			t.Errorf("got %+v, want %+v", got.Entries, s)
		}
	})
}

// twin returns the schedule with another name.
func twin(s hourbell.Schedule) hourbell.Schedule {
	if s.Name += "2"; len(s.Name) > check.MaxName {
		s.Name = "2"
	}
	return s
}
