package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/filestest"
)

const checkedTab = `#hourbell-file: owner=ops revision=4 on_failure=https://x.example/?key=hunter2
MAILTO=ops@example.org
TOKEN=hunter2
HOME=/srv
#hourbell: name=backup timeout=2h overlap=skip
30 2 * * * backup --full%hunter2
@reboot it's
`

// TestCheckCrontab compares the output of check for each line.
func TestCheckCrontab(t *testing.T) {
	t.Setenv("TZ", "Europe/Prague")
	b := newBench(t)
	writeFile(t, "tab", checkedTab)
	text := b.ok("check", "tab")
	for _, want := range []string{
		"tab: user crontab, 1 schedule of owner \"ops\", 1 at start, revision 4\n",
		"\n  backup\n    line    6\n    rule    CRON_TZ=Europe/Prague 30 2 * * *\n    means   at 02:30 every day, Europe/Prague\n    runs    /bin/sh -c 'backup --full'\n    as      the node's user\n    in      /srv\n",
		"    env     cron's: SHELL PATH HOME LOGNAME; set: HOME MAILTO TOKEN\n    input   8 bytes (--show-secrets prints it)\n    limits  1 attempt, timeout 2h0m0s, on_loss fail, overlap skip\n",
		"    on_failure POST https://x.example/?…\n    next    2027-03-02T02:30:00+01:00\n            2027-03-03T02:30:00+01:00\n            2027-03-04T02:30:00+01:00\n",
		"    rule    @reboot: once for each boot of a host\n    runs    /bin/sh -c 'it'\\''s'\n",
		"    limits  1 attempt, timeout none, on_loss fail\n",
		"\n  warnings\n    tab:2: MAILTO: nothing is mailed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("check lacks\n%s\nin\n%s", want, text)
		}
	}
	asJSON := b.ok("check", "--crontab", "tab", "--output", "json")
	if strings.Contains(text+asJSON, "hunter2") {
		t.Errorf("a secret is shown:\n%s\n%s", text, asJSON)
	}
	for _, shown := range []string{b.ok("check", "tab", "--show-secrets"), b.ok("check", "tab", "--show-secrets", "--output", "json")} {
		if n := strings.Count(shown, "hunter2"); n < 3 {
			t.Errorf("%d secrets are shown:\n%s", n, shown)
		}
	}
	var checked []files.Record
	if err := json.Unmarshal([]byte(asJSON), &checked); err != nil || len(checked) != 1 {
		t.Fatalf("%v in %s", err, asJSON)
	}
	if f := checked[0]; f.Form != files.UserCrontab || f.Owner != "ops" || *f.Revision != 4 || len(f.Schedules) != 2 || len(f.Warnings) != 1 ||
		f.Schedules[0].Argv[2] != "backup --full" || *f.Schedules[0].Rule != "30 2 * * *" || len(f.Schedules[0].Next) != 3 || f.Schedules[1].Rule != nil {
		t.Errorf("got %+v", f)
	}
	noStore(t, b)
}

// TestCheckDirectory checks that ignored files are named.
func TestCheckDirectory(t *testing.T) {
	b := newBench(t)
	filestest.Dir(t, "d")
	writeFile(t, "d/one", "0 0 * * * root date\n")
	writeFile(t, "d/two.sh", "nonsense\n")
	text := b.ok("check", "--crontab-system", "d")
	if !strings.Contains(text, "d/one: system crontab, 1 schedule") || !strings.Contains(text, "    as      root\n") || !strings.Contains(text, "d/two.sh: left alone: its name has more") {
		t.Errorf("check prints\n%s", text)
	}
	if record := b.objects("check", "--crontab-system", "d")[0]; len(record["left_alone"].([]any)) != 1 {
		t.Errorf("check prints %v", record)
	}
}

// TestCheckLooksAround checks that check warns, with file and line, about
// settings that cannot work on this machine and about rules without an instant.
func TestCheckLooksAround(t *testing.T) {
	b := newBench(t)
	home := t.TempDir()
	writeFile(t, "tab", "HOME="+home+"\nSHELL=/bin/sh\n0 0 * * * a\nHOME=/nowhere/at/all\nSHELL=bash\n0 0 30 2 * b\nHOME=work\nSHELL="+home+"\n0 0 1 1 * c\n")
	text := b.ok("check", "--crontab", "tab")
	for _, want := range []string{
		"tab:4: HOME is not a directory on this machine", "tab:5: SHELL is not a path from / on", `tab:6: rule "0 0 30 2 *" never rings`,
		"tab:7: HOME is not a path from / on", "tab:8: SHELL is not a program on this machine",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("check lacks %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "tab:1:") || strings.Contains(text, "tab:2:") || strings.Contains(text, "tab:3:") || strings.Contains(text, "tab:9:") {
		t.Errorf("check warns of what is right:\n%s", text)
	}
}

// TestLateFailures checks that check, apply, schedules put and enqueue say when an edge counts a failure at the latest, if
// that is late, and that the overlap of a schedule that follows others is shown as it is in force.
func TestLateFailures(t *testing.T) {
	b := newBench(t)
	writeFile(t, "file.yaml", "owner: x\nschedules:\n"+
		"  - {name: late, cron: '0 3 * * *', command: [a]}\n"+
		"  - {name: quick, cron: '0 3 * * *', command: [a], max_attempts: 1}\n"+
		"  - {name: bounded, cron: '0 3 * * *', command: [a], max_attempts: 3, backoff: 'constant:10m'}\n"+
		"  - name: tell\n    after: [late, {schedule: quick, on: failure}, {schedule: bounded, on: either}]\n    command: [b]\n"+
		"  - name: page\n    after: {schedule: late, on: failure}\n    overlap: skip\n    command: [b]\n")
	late := `schedule "page": after: a failure of "late" counts after its last attempt of 25, which may begin up to 11 days after`
	bounded := `schedule "tell": after: a failure of "bounded" counts after its last attempt of 3, which may begin up to 22m0s after`
	checked := b.ok("check", "file.yaml")
	if !strings.Contains(checked, late) || !strings.Contains(checked, bounded) || strings.Count(checked, "counts after") != 2 {
		t.Errorf("check:\n%s", checked)
	}
	overlaps := map[string]any{}
	for _, s := range b.objects("check", "file.yaml")[0]["schedules"].([]any) {
		overlaps[s.(map[string]any)["name"].(string)] = s.(map[string]any)["overlap"]
	}
	if overlaps["late"] != "skip" || overlaps["tell"] != "allow" || overlaps["page"] != "skip" {
		t.Errorf("check prints the overlaps %v", overlaps)
	}
	if r := b.run("apply", "file.yaml"); r.code != 0 || !strings.Contains(r.err, late) || !strings.Contains(r.err, bounded) {
		t.Errorf("apply: %+v", r)
	}
	if r := b.run("schedules", "put", "more", "--after", "late:failure", "--", "c"); r.code != 0 || !strings.Contains(r.err, `a failure of "late" counts`) {
		t.Errorf("schedules put: %+v", r)
	}
	b.ok("enqueue", "export", "--backoff", "constant:10m", "--max-attempts", "7")
	b.ok("enqueue", "export", "--max-attempts", "1")
	want := "a failure of job 1 counts after its last attempt of 7, which may begin up to 1h6m0s after"
	if r := b.run("enqueue", "tell", "--after", "1:failure", "--after", "2:failure"); r.code != 0 || !strings.Contains(r.err, want) || strings.Contains(r.err, "job 2") {
		t.Errorf("enqueue --after: %+v", r)
	}
	if r := b.run("enqueue", "tell", "--after", "1"); r.code != 0 || r.err != "" {
		t.Errorf("enqueue after a success: %+v", r)
	}
	writeFile(t, "graph.yaml", "jobs:\n  export: {kind: export}\n  tell: {kind: tell, after: {export: failure}}\n")
	if r := b.run("enqueue", "--graph", "graph.yaml"); r.code != 0 || !strings.Contains(r.err, "of 25, which may begin up to 11 days after") {
		t.Errorf("enqueue --graph: %+v", r)
	}
}

// TestCheckShowsTheGoodFiles checks that a mistake in a file of a directory hides no other file, and
// that root is told of a crontab that serve would refuse.
func TestCheckShowsTheGoodFiles(t *testing.T) {
	b := newBench(t)
	filestest.Dir(t, "d")
	writeFile(t, "d/bad", "0 0 * * * root\n")
	writeFile(t, "d/good", "0 0 * * * root date\n")
	r := b.run("check", "--crontab-system", "d")
	if r.code != exitUsage || !strings.Contains(r.out, "d/good: system crontab, 1 schedule") || !strings.Contains(r.err, "d/bad:1: command is missing") {
		t.Errorf("check: %+v", r)
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chmod("d/good", 0o666); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"check", "serve"} {
		b.fails(exitUsage, []string{"d/good", "chmod go-w"}, verb, "--crontab-system", "d/good")
	}
}

// TestMailIsAskedFor checks the program of --mail, and that a MAILTO that a mail program could take
// for an option is refused only where mails are sent.
func TestMailIsAskedFor(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"", "sendmail", "/nowhere/sendmail", "/"} {
		b.fails(exitUsage, []string{"mail", "/usr/sbin/sendmail"}, "serve", "--mail", path)
	}
	writeFile(t, "tab", "MAILTO=-oQ\n0 0 * * * date\n")
	b.fails(exitUsage, []string{"tab:1: MAILTO", "begins with -"}, "serve", "--mail", "/bin/sh", "--crontab", "tab")
	if text := b.ok("check", "--crontab", "tab"); !strings.Contains(text, "nothing is mailed, except by nodes with serve --mail") {
		t.Errorf("check prints %s", text)
	}
}
