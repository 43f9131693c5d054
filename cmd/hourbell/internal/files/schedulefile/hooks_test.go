package schedulefile

import (
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
)

// The nearest hook wins, and none or an empty value switches off the hooks of
// the outer sections.
func TestHooks(t *testing.T) {
	file, err := Read("hours.yaml", []byte(`
on_failure: mail ops
on_missed: https://example.org/missed?a=b&c=d
groups:
  nightly:
    on_failure: {command: [page, --now], env: {LEVEL: 1}, user: ops}
    on_recovery: {url: https://example.org/up, method: PUT, header: {X-Key: secret}}
  lone: {on_failure: x}
schedules:
  - {name: a, every: 1m, shell: a}
  - {name: b, every: 1m, shell: b, group: nightly}
  - {name: c, every: 1m, shell: c, group: nightly, on_failure: none, on_missed: , on_recovery: own}
`))
	if err != nil {
		t.Fatal(err)
	}
	args := func(h hourbell.Args) string {
		if h == nil {
			return "-"
		}
		return declared.Raw(h).Name + " " + string(declared.Raw(h).JSON)
	}
	const missed = `http {"url":"https://example.org/missed?a=b&c=d"}`
	for i, want := range [][3]string{
		{`command {"shell":"mail ops"}`, missed, "-"},
		{`command {"argv":["page","--now"],"env":{"LEVEL":"1"},"user":"ops"}`, missed, `http {"url":"https://example.org/up","method":"PUT","header":{"X-Key":"secret"}}`},
		{"-", "-", `command {"shell":"own"}`},
	} {
		h := file.Entries[i].Hooks
		if got := [3]string{args(h.OnFailure), args(h.OnMissed), args(h.OnRecovery)}; got != want {
			t.Errorf("%s: got %q, want %q", file.Entries[i].Name, got, want)
		}
	}
	if len(file.Warnings) != 1 || !strings.Contains(file.Warnings[0].Error(), `hours.yaml:8: groups "lone": no schedule of this file is in the group`) {
		t.Errorf("warnings %v", file.Warnings)
	}
}

// TestSeveralHooks checks that a key may have a list of hooks, which replaces the hooks of outer
// sections.
func TestSeveralHooks(t *testing.T) {
	file, err := Read("hours.yaml", []byte(`
on_failure: [mail ops, {command: [page]}, "https://example.org/down"]
on_retry: note
schedules:
  - {name: a, every: 1m, shell: a, on_success: [one, two]}
  - {name: b, every: 1m, shell: b, on_failure: own, on_retry: []}
`))
	if err != nil {
		t.Fatal(err)
	}
	hooks := func(i int) (all []string) {
		file.Entries[i].Hooks.Each(func(name string, job hourbell.Args) {
			all = append(all, name+" "+declared.Raw(job).Name+" "+string(declared.Raw(job).JSON))
		})
		return all
	}
	for i, want := range []string{
		`on_success command {"shell":"one"}|on_success command {"shell":"two"}|on_failure command {"shell":"mail ops"}|on_failure command {"argv":["page"]}|` +
			`on_failure http {"url":"https://example.org/down"}|on_retry command {"shell":"note"}`,
		`on_failure command {"shell":"own"}`,
	} {
		if got := strings.Join(hooks(i), "|"); got != want {
			t.Errorf("%s: got %s, want %s", file.Entries[i].Name, got, want)
		}
	}
}
