package crontab

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

func read(t *testing.T, r Reader, lines ...string) *declared.File {
	t.Helper()
	file, err := r.Read("etc/tab", []byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func commandOf(t *testing.T, entry declared.Entry) kinds.Command {
	t.Helper()
	c, err := kinds.DecodeCommand(declared.Raw(entry.Job).JSON)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSystemForm also checks that, after the user, the first blank is layout
// and the others belong to the command, as under cron.
func TestSystemForm(t *testing.T) {
	file := read(t, Reader{Form: System}, "SHELL=/bin/bash", "17 *\t* * *\troot    cd / && run-parts /etc/cron.hourly", "@daily www-data  clean %yes", `0 1 * * * CORP\ada date`)
	root, web := commandOf(t, file.Entries[0]), commandOf(t, file.Entries[1])
	if want := (kinds.Command{Argv: []string{"/bin/bash", "-c", "   cd / && run-parts /etc/cron.hourly"}, Env: map[string]string{"SHELL": "/bin/bash"}, User: "root", Base: kinds.BaseCron}); !reflect.DeepEqual(root, want) {
		t.Errorf("got %+v, want %+v", root, want)
	}
	if web.User != "www-data" || web.Argv[2] != " clean " || web.Stdin != "yes\n" {
		t.Errorf("got %+v", web)
	}
	if c := commandOf(t, file.Entries[2]); c.User != `CORP\ada` {
		t.Errorf("got %+v", c)
	}
}

// The user of a line is part of its name in the system form only.
func TestNamesKnowTheUserOfTheSystemForm(t *testing.T) {
	names := func(r Reader, lines ...string) []string {
		var names []string
		for _, entry := range read(t, r, lines...).Entries {
			names = append(names, entry.Name)
		}
		return names
	}
	system := names(Reader{Form: System}, "0 0 * * * root date", "0 0 * * * ada date")
	user := names(Reader{}, "0 0 * * * date", "0 0 * * * date%x", "0 0 * * * date%y")
	spool := names(Reader{User: "ada"}, "0 0 * * * date")
	for _, name := range slices.Concat(system, user) {
		if strings.HasSuffix(name, "-2") {
			t.Errorf("%q is told apart by a number", name)
		}
	}
	if system[0] == system[1] || user[0] == user[1] || user[1] == user[2] || system[1] == user[0] || hashOf(spool[0]) != hashOf(user[0]) {
		t.Errorf("system %q, user %q, spool %q", system, user, spool)
	}
	if c := commandOf(t, read(t, Reader{User: "ada"}, "0 0 * * * date").Entries[0]); c.User != "ada" {
		t.Errorf("a line of a user's crontab runs as %q", c.User)
	}
}

func hashOf(name string) string { return name[strings.LastIndexByte(name, '-'):] }

// The expected values were observed with Debian's cron.
func TestInput(t *testing.T) {
	for line, want := range map[string][2]string{
		`date`:                           {`date`, ""},
		`date +\%H`:                      {`date +%H`, ""},
		`cat%`:                           {`cat`, ""},
		`cat%a`:                          {`cat`, "a\n"},
		`cat%a%`:                         {`cat`, "a\n"},
		`cat%%a%%b`:                      {`cat`, "\na\n\nb\n"},
		`cat%one\%1%two\\three\\%four\`:  {`cat`, "one%1\ntwo\\\\three\\%four\\\n"},
		`echo a\\b 'c\d' "e\%f" '\\x\\'`: {`echo a\b 'c\d' "e%f" '\x\'`, ""},
		`echo \\%in`:                     {`echo \`, "in\n"},
		`echo \\\%in`:                    {`echo \%in`, ""},
		`echo \`:                         {`echo \`, ""},
	} {
		if command, input := splitInput(line); command != want[0] || input != want[1] {
			t.Errorf("%s: got %q and %q, want %q", line, command, input, want)
		}
	}
}

func TestComments(t *testing.T) {
	file := read(
		t, Reader{},
		`#hourbell-file: owner=ops revision=12 group=nightly on_failure="curl -fsS 'https://x/?a=b'" timeout=2h`,
		"HOME=/srv",
		`#hourbell: name="the backup" overlap=skip max_attempts=3 on_loss=retry`,
		`#hourbell: on_failure=none on_missed=https://example.org/missed on_recovery='say "well"'`,
		"0 1 * * * backup",
		"#hourbell: timeout=30m dir=/tmp detached=keep user=ada queue=slow priority=1 paused=true",
		"0 2 * * * report",
		"@reboot warm-up",
		"@start warm-up",
	)
	if file.Owner != "ops" || file.Revision != 12 || len(file.Entries) != 2 || len(file.AtStart) != 2 || !file.AtStart[0].Boot || file.AtStart[1].Boot || len(file.Warnings) != 0 {
		t.Fatalf("got %+v", file)
	}
	backup, report, start := file.Entries[0], file.Entries[1], file.AtStart[0]
	if backup.Name != "the backup" || backup.Overlap != "skip" || backup.MaxAttempts != 3 || backup.OnLoss != hourbell.RetryOnLoss ||
		backup.Timeout != 2*time.Hour || backup.Group != "nightly" || backup.Owner != "ops" || backup.Line != 5 {
		t.Errorf("backup is %+v", backup)
	}
	if h := backup.Hooks; h.OnFailure != nil || h.OnMissed == nil || declared.Raw(h.OnMissed).Name != kinds.HTTPKind || string(declared.Raw(h.OnMissed).JSON) != `{"url":"https://example.org/missed"}` ||
		h.OnRecovery == nil || string(declared.Raw(h.OnRecovery).JSON) != `{"shell":"say \"well\""}` {
		t.Errorf("hooks of backup are %+v", h)
	}
	c := commandOf(t, report)
	if c.Dir != "/tmp" || c.Detached != kinds.KeepDetached || c.User != "ada" || report.Timeout != 30*time.Minute || report.Queue != "slow" || report.Priority != 1 || !report.Paused {
		t.Errorf("report is %+v, %+v", report, c)
	}
	if !strings.HasPrefix(report.Name, "ops:report-") {
		t.Errorf("report is called %q", report.Name)
	}
	if f := report.Hooks.OnFailure; f == nil || string(declared.Raw(f).JSON) != `{"shell":"curl -fsS 'https://x/?a=b'"}` {
		t.Errorf("the file's hook is %+v", f)
	}
	if start.Rule.String() != "" || start.Timeout != 2*time.Hour || start.MaxAttempts != 1 || start.OnLoss != hourbell.FailOnLoss || start.Overlap != "" || !json.Valid(declared.Raw(start.Job).JSON) {
		t.Errorf("what runs at the start is %+v", start)
	}
}

// TestSeveralHooks checks that a key of hooks may be repeated, and that the hooks of a line replace
// the hooks of the file.
func TestSeveralHooks(t *testing.T) {
	file := read(
		t, Reader{}, "#hourbell-file: on_failure=mail on_failure=page on_retry=note", "#hourbell: on_failure=own on_success=one", "#hourbell: on_success=two",
		"0 0 * * * a", "0 1 * * * b",
	)
	for i, want := range []string{
		`on_success {"shell":"one"}|on_success {"shell":"two"}|on_failure {"shell":"own"}|on_retry {"shell":"note"}`,
		`on_failure {"shell":"mail"}|on_failure {"shell":"page"}|on_retry {"shell":"note"}`,
	} {
		var got []string
		file.Entries[i].Hooks.Each(func(name string, job hourbell.Args) { got = append(got, name+" "+string(declared.Raw(job).JSON)) })
		if strings.Join(got, "|") != want {
			t.Errorf("line %d: got %s, want %s", i, strings.Join(got, "|"), want)
		}
	}
}

// The author of a user's crontab gets no more permissions than that user.
func TestUsersStayThemselves(t *testing.T) {
	ada := Reader{User: "ada"}
	file := read(t, ada, "#hourbell-file: on_failure='tell ops'", "#hourbell: on_missed=https://example.org", "0 0 * * * date")
	h := file.Entries[0].Hooks
	if string(declared.Raw(h.OnFailure).JSON) != `{"shell":"tell ops","user":"ada"}` || declared.Raw(h.OnMissed).Name != kinds.HTTPKind {
		t.Errorf("the hooks are %+v", h)
	}
	if name := file.Entries[0].Name; file.Owner != "crontab:spool/ada" || !strings.HasPrefix(name, "crontab:spool/ada:date-") {
		t.Errorf("owner %q, name %q", file.Owner, name)
	}
	own := read(t, ada, "#hourbell: name=crontab:spool/ada:mine", "0 0 * * * date")
	if own.Entries[0].Name != "crontab:spool/ada:mine" {
		t.Errorf("got %+v", own.Entries[0])
	}
	for _, text := range []string{
		"#hourbell-file: user=root", "#hourbell-file: owner=prod", "#hourbell: user=root\n0 0 * * * date",
		"#hourbell: name=nightly\n0 0 * * * date", "#hourbell: name=crontab:spool/adam:x\n@reboot date", "#hourbell: name=crontab:spool/ada\n@reboot date",
	} {
		if file, err := ada.Read("tab", []byte(text)); err == nil {
			t.Errorf("%s: taken: %+v", text, file)
		}
	}
}

// No message contains text that may be secret.
func TestMessagesShowNoSecrets(t *testing.T) {
	for _, text := range []string{
		"export DB_PASSWORD=hunter2; run a b c d",
		"DB PASSWORD=hunter2 x y z w",
		`5 PASSWORD="my hunter2" x y z w`,
		`0 0 * * PASSWORD="my hunter2" x y`,
		"curl -u me:hunter2 https://x.example y z w",
		"0 P=hunter2? * * * x",
		"@daily=hunter2 x",
		"0 0 * * * P=hunter2 backup",
		"0 0 * * * root:P=hunter2 backup",
		"0 0 * * * 'P=hunter2 backup",
		"#hourbell: on_failure=tell hunter2\n0 0 * * * root x",
		"#hourbell: =hunter2\n0 0 * * * root x",
		"#hourbell: name=P=hunter2\n0 0 * * * root x\n#hourbell: name=P=hunter2\n0 0 * * * root x",
		"CRON_TZ=P=hunter2",
		`A="hunter2" hunter2`,
	} {
		for _, form := range []Form{User, System} {
			file, err := Read("tab", []byte(text), form)
			said := fmt.Sprint(err)
			if err == nil {
				said = fmt.Sprint(file.Warnings)
			}
			if strings.Contains(said, "hunter2") {
				t.Errorf("%s: %s", text, said)
			}
		}
	}
}

// A problem that CheckSetting reports is a warning at the line of the setting.
func TestCheckSetting(t *testing.T) {
	r := Reader{CheckSetting: func(name, value string) (string, string) {
		if name == "HOME" && value == "/nowhere" {
			return "is bad", "mend it"
		}
		return "", ""
	}}
	file := read(t, r, "SHELL=/bin/sh", "HOME=/nowhere", "0 0 * * * date", "0 0 * * * date")
	if len(file.Warnings) != 1 || file.Warnings[0].Error() != "etc/tab:2: HOME is bad; mend it" {
		t.Errorf("got %+v", file.Warnings)
	}
}

func TestParsePairs(t *testing.T) {
	for text, want := range map[string][]pair{
		``:                        nil,
		` a=b  c= `:               {{key: "a", value: "b"}, {key: "c"}},
		"a=\"b c\"\td='e  \"f\"'": {{key: "a", value: "b c"}, {key: "d", value: `e  "f"`}},
		`a=b\ c d="e\"f\\g\h"`:    {{key: "a", value: "b c"}, {key: "d", value: `e"f\g\h`}},
		`a=b=c 'd e=f'`:           {{key: "a", value: "b=c"}, {key: "d e", value: "f"}},
	} {
		if got, problem := parsePairs(text); problem != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %s", text, got, problem)
		}
	}
	for _, text := range []string{`a`, `=a`, `a="b`, `a='b`, `a=b c`} {
		if got, problem := parsePairs(text); problem == "" {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

// Where a line runs is set as all other keys are, for a line or for a file.
func TestLinesHavePlaces(t *testing.T) {
	file := read(t, Reader{Form: System}, "#hourbell-file: on=label=role=db", "1 * * * * root a", "#hourbell: on=host=web1", "2 * * * * root b")
	for i, want := range []hourbell.Place{{Label: "role=db"}, {Host: "web1"}} {
		if got := file.Entries[i].On; got != want {
			t.Errorf("line %d runs on %v", i+1, got)
		}
	}
}

// The crontab of a host runs on the host alone. Hosts have equal crontabs side by side, because owner and names contain the
// host; so the crontab may not set another.
func TestCrontabsOfAHost(t *testing.T) {
	web1 := Reader{Form: System, Host: "web1"}
	file := read(t, web1, "1 * * * * root run-parts /etc/cron.hourly", `#hourbell: name=crontab@web1:tab:own overlap=skip`, "2 * * * * root b", "@reboot root c")
	if file.Owner != "crontab@web1:tab" || len(file.Warnings) != 0 {
		t.Errorf("owner %s, warnings %v", file.Owner, file.Warnings)
	}
	for _, entry := range file.All() {
		if !strings.HasPrefix(entry.Name, "crontab@web1:tab:") {
			t.Errorf("the name is %s", entry.Name)
		}
	}
	for _, entry := range file.Entries {
		if entry.On != (hourbell.Place{Host: "web1"}) {
			t.Errorf("%s runs on %v", entry.Name, entry.On)
		}
	}
	if on := file.AtStart[0].On; !on.IsZero() {
		t.Errorf("a line that runs where its node starts runs on %v", on)
	}
	if owner := (Reader{User: "ada", Host: "web2"}).Owner("tab"); owner != "crontab@web2:spool/ada" {
		t.Errorf("the owner of a user's crontab is %s", owner)
	}
	for line, want := range map[string]string{
		"#hourbell: on=one":                  "on is not a key here",
		"#hourbell-file: owner=crontab:tab":  "owner is not a key here",
		"#hourbell: name=own":                `does not begin with "crontab@web1:tab:"`,
		"#hourbell-file: on=label=role=role": "on is not a key here",
	} {
		if _, err := web1.Read("etc/tab", []byte(line+"\n1 * * * * root a\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Lines that look as if each machine needed them are named in a cluster's crontab, unless their place is given.
func TestHousekeepingInAClustersCrontab(t *testing.T) {
	for i, line := range []string{
		"0 3 * * * root /srv/backup",
		"0 3 * * * root /srv/report --parts",
		"17 * * * * root cd / && run-parts --report /etc/cron.hourly",
		"5-55/10 * * * * root command -v debian-sa1 > /dev/null && debian-sa1 1 1",
		"57 0 * * 0 root if [ -x /usr/share/mdadm/checkarray ]; then /usr/share/mdadm/checkarray --cron; fi",
		"30 3 * * 0 root test -e /run/systemd/system || SERVICE_MODE=1 /usr/lib/x86_64/e2fsprogs/e2scrub_all",
		"25 6 * * * root test -x /usr/sbin/anacron || true",
		"0 3 * * * root /usr/sbin/logrotate /etc/logrotate.conf",
	} {
		warned := i >= 2
		file := read(t, Reader{Form: System}, line)
		found := len(file.Warnings) == 1 && strings.Contains(file.Warnings[0].Problem, "looks like the housekeeping of one machine")
		if found != warned || !warned && len(file.Warnings) > 0 {
			t.Errorf("%s: %v", line, file.Warnings)
		}
		if file := read(t, Reader{Form: System}, "#hourbell: on=label=role=db", line); len(file.Warnings) > 0 {
			t.Errorf("%s, with its place: %v", line, file.Warnings)
		}
	}
}
