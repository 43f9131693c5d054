package crontab

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
)

const whole = `# what a server has
PATH=/usr/local/bin:/usr/bin:/bin
MAILTO=""

30 2 * * *	/usr/local/bin/backup --full
 */5  8-18 * jan,jul mon-fri   date +\%H:\%M >> "$HOME/log" # not a comment
@daily echo a\\b 'c\d'
	# indented comment
SHELL = /bin/bash
HOME='/srv/my app'
"QUOTED" = " x "
CRON_TZ=Europe/Prague
NOTE=a = b # c
0 9 * * 1 TOKEN=hunter2 report  --all 
CRON_TZ=
SHELL=/bin/sh
@hourly FOO=bar ls`

func TestWholeCrontab(t *testing.T) {
	file, err := Read("/var/spool/cron/backup.cron", []byte(whole), User)
	if err != nil {
		t.Fatal(err)
	}
	entry := func(line int, name, cron, zone, args string) declared.Entry {
		return declared.Entry{Line: line, Schedule: hourbell.Schedule{
			Name: "crontab:backup.cron:" + name, Owner: "crontab:backup.cron", Rule: recur.Spec{Cron: cron, Zone: zone},
			Job: hourbell.RawArgs{Name: "command", JSON: []byte(args)}, MaxAttempts: 1, OnLoss: hourbell.FailOnLoss, Overlap: hourbell.OverlapAllow, Timeout: hourbell.MaxDuration,
		}}
	}
	const (
		first  = `"env":{"MAILTO":"","PATH":"/usr/local/bin:/usr/bin:/bin"},"base":"cron"}`
		prague = `"env":{"CRON_TZ":"Europe/Prague","HOME":"/srv/my app","MAILTO":"","NOTE":"a = b # c","PATH":"/usr/local/bin:/usr/bin:/bin","QUOTED":" x ","SHELL":"/bin/bash"},"base":"cron","dir":"/srv/my app"}`
		last   = `"env":{"CRON_TZ":"","HOME":"/srv/my app","MAILTO":"","NOTE":"a = b # c","PATH":"/usr/local/bin:/usr/bin:/bin","QUOTED":" x ","SHELL":"/bin/sh"},"base":"cron","dir":"/srv/my app"}`
	)
	want := []declared.Entry{
		entry(5, "NAME", "30 2 * * *", "", `{"shell":"/usr/local/bin/backup --full",`+first),
		entry(6, "NAME", "*/5 8-18 * jan,jul mon-fri", "", `{"shell":"date +%H:%M >> \"$HOME/log\" # not a comment",`+first),
		entry(7, "NAME", "@daily", "", `{"shell":"echo a\\b 'c\\d'",`+first),
		entry(14, "NAME", "0 9 * * 1", "Europe/Prague", `{"argv":["/bin/bash","-c","TOKEN=hunter2 report  --all "],`+prague),
		entry(17, "NAME", "@hourly", "", `{"shell":"FOO=bar ls",`+last),
	}
	// A change of these names would make new schedules for every user.
	names := []string{
		"backup-4962b2120d",
		"date-8e137295a8",
		"echo-9820b79c63",
		"report-e89b535a23",
		"ls-96d830c9cf",
	}
	for i := range want {
		want[i].Name = strings.Replace(want[i].Name, "NAME", names[i], 1)
		if !reflect.DeepEqual(file.Entries[i], want[i]) {
			t.Errorf("got\n%+v %s\nwant\n%+v %s", file.Entries[i], declared.Raw(file.Entries[i].Job).JSON, want[i], declared.Raw(want[i].Job).JSON)
		}
	}
	if len(file.Entries) != len(want) || file.Owner != "crontab:backup.cron" || file.Revision != 0 {
		t.Errorf("got %d entries, owner %q, revision %d", len(file.Entries), file.Owner, file.Revision)
	}
}

func TestSameInEveryDress(t *testing.T) {
	want, err := Read("backup.cron", []byte(whole), User)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"CRLF":     strings.ReplaceAll(whole, "\n", "\r\n"),
		"BOM":      "\ufeff" + whole,
		"last end": whole + "\n",
	} {
		got, err := Read("backup.cron", []byte(text), User)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestNothingToRun(t *testing.T) {
	for _, text := range []string{"", "\n\n", "# only this", "PATH=/bin\n"} {
		if file, err := Read("x", []byte(text), User); err != nil || len(file.Entries) != 0 {
			t.Errorf("%q: got %+v, %v", text, file, err)
		}
	}
}

// Names depend on the line, not on its position; equal lines get different
// names.
func TestNamesStayWithTheirLines(t *testing.T) {
	names := func(text string) []string {
		t.Helper()
		file, err := Read("a/b.cron", []byte(text), User)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, entry := range file.Entries {
			all = append(all, entry.Name)
		}
		return all
	}
	before := names("0 1 * * * one\n0 2 * * * two\n0 2 * * * two\n")
	after := names("# moved\nX=1\n0  2 * * *\ttwo\n0 2 * * * two\n\n0 1 * * * one\n")
	if before[0] != after[2] || before[1] != after[0] || before[2] != after[1] {
		t.Errorf("before %q, after %q", before, after)
	}
	if before[2] != before[1]+"-2" {
		t.Errorf("equal lines are called %q and %q", before[1], before[2])
	}
	apart := names("0 1 * * * one\n0 2 * * * one\nCRON_TZ=Europe/Prague\n0 1 * * * one\n")
	if apart[0] == apart[1] || apart[0] == apart[2] || apart[1] == apart[2] {
		t.Errorf("different lines share a name: %q", apart)
	}
	long := names("0 1 * * * " + strings.Repeat("long", 5000))
	if len(long[0]) > check.MaxName {
		t.Errorf("a name of %d bytes", len(long[0]))
	}
}

// Arguments and values may be secret, and are not part of names.
func TestProgram(t *testing.T) {
	for command, want := range map[string]string{
		"/usr/bin/backup --full":       "backup",
		"curl -u me:hunter2 https://x": "curl",
		"A=1 B=hunter2 run":            "run",
		"A+=1 ./run.sh":                "run.sh",
		"A='sec ret' run":              "sh",
		"A=\"$(cat hunter2)\" run":     "sh",
		"A=hunter2;run x":              "run",
		"A=hun/ter2":                   "sh",
		"A=hunter2":                    "sh",
		"--key=hunter2 x":              "sh",
		"me:hunter2@host x":            "sh",
		`"/opt/my app/run" x`:          "sh",
		"$HOME/bin/run":                "sh",
		"`which run`":                  "sh",
		"~/bin/run":                    "run",
		"date>hunter2":                 "date",
		"cd /srv&&./run;":              "run",
		"(cd /srv; run)":               "run",
		"[ -x a ] && b":                "b",
		"cd /srv":                      "cd",
		"test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )":                                                       "run-parts",
		"test -e /run/systemd/system || SERVICE_MODE=1 /usr/lib/x86_64-linux-gnu/e2fsprogs/e2scrub_all_cron":                                "e2scrub_all_cron",
		"command -v debian-sa1 > /dev/null && debian-sa1 1 1":                                                                               "debian-sa1",
		"[ -x /usr/lib/php/sessionclean ] && if [ ! -d /run/systemd/system ]; then /usr/lib/php/sessionclean; fi":                           "sessionclean",
		`if [ -x /usr/share/mdadm/checkarray ] && [ $(date +\%d) -le 7 ]; then /usr/share/mdadm/checkarray --cron --all --idle --quiet; fi`: "checkarray",
		`[ "$(echo "a;b" 'c)')" = x ] && backup --key hunter2`:                                                                              "backup",
		"test `which a;b` = x && backup 2>&1 | logger -t backup":                                                                            "backup",
		"if test -e 'a && hunter2'; then TOKEN='x' run; fi":                                                                                 "sh",
		`[ -n "${A:-$(b; c)}" ] && { cd /srv; nice run & }`:                                                                                 "nice",
		"[ -x a ]":                         "sh",
		"test -x 'unclosed && hunter2":     "test",
		". /etc/profile; run":              "sh",
		"..":                               "sh",
		"/":                                "sh",
		"é":                                "sh",
		"/srv/" + strings.Repeat("x", 100): strings.Repeat("x", 32),
	} {
		if got := program(command); got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}

func TestParseSetting(t *testing.T) {
	for line, want := range map[string]struct {
		setting setting
		problem string
		ok      bool
	}{
		`A=b`:               {setting{"A", "b"}, "", true},
		`A = b c  `:         {setting{"A", "b c"}, "", true},
		`A=`:                {setting{"A", ""}, "", true},
		`A=""`:              {setting{"A", ""}, "", true},
		`'A'	=	"b 'c'"	`:    {setting{"A", "b 'c'"}, "", true},
		`A=b"c"`:            {setting{"A", `b"c"`}, "", true},
		`A=$HOME/bin:$PATH`: {setting{"A", "$HOME/bin:$PATH"}, "", true},
		`A="b" c`:           {setting{"A", ""}, "has text after the closing quote", true},
		`A='b`:              {setting{"A", ""}, "has a quote that is not closed", true},
		`1=b`:               {setting{"1", "b"}, "", true},
		`=b`:                {},
		`"A=b`:              {},
		`* * * * * A=b`:     {},
		`@daily A=b c`:      {},
		`A b=c`:             {},
	} {
		s, problem, ok := parseSetting(line)
		if s != want.setting || problem != want.problem || ok != want.ok {
			t.Errorf("%s: got %q, %q, %v", line, s, problem, ok)
		}
	}
}

func TestHostileFiles(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"NUL":      {"0 0 * * * a\n0 0 * * * b\x00c\n", "backup.cron:2: contains a NUL byte; remove it"},
		"UTF-8":    {"# \xff\n0 0 * * * \xfe\n", "backup.cron:1: is not valid UTF-8; save the file in UTF-8\nbackup.cron:2: is not valid UTF-8; save the file in UTF-8"},
		"size":     {strings.Repeat("\n", declared.MaxSize+1), "backup.cron: the file has 16777217 bytes; split it into files of at most 16777216"},
		"long":     {"P=hunter2\n0 0 * * * " + strings.Repeat("a", 2<<20), "backup.cron:2: command cannot have 2097"},
		"mistakes": {strings.Repeat("x\n", 100_000), "99000 more mistakes"},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := Read("backup.cron", []byte(test.text), User)
			var errs *declared.FileError
			if file != nil || !errors.As(err, &errs) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %+v, %.300v", file, err)
			}
		})
	}
}

// For any text, Read returns a file whose schedules are valid and have
// different names, or mistakes.
func FuzzRead(f *testing.F) {
	f.Add([]byte(whole), false)
	for _, path := range []string{"testdata/mistakes.txt", "testdata/system.txt", "testdata/warnings.txt"} {
		golden, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range strings.Split(string(golden), "\n") {
			f.Add([]byte(line), path == "testdata/system.txt")
		}
	}
	f.Add([]byte("#hourbell: name='a b' on_failure=\"x\"\n@reboot cat%a\\%b%"), false)
	f.Fuzz(func(t *testing.T, text []byte, system bool) {
		form := User
		if system {
			form = System
		}
		file, err := Read("backup.cron", text, form)
		if (file == nil) == (err == nil) {
			t.Fatalf("got %v and %v", file, err)
		}
		if err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				if !strings.HasPrefix(line, "backup.cron") {
					t.Errorf("a message without its file: %q", line)
				}
			}
			return
		}
		seen := map[string]bool{}
		for _, entry := range file.All() {
			if entry.Rule.Cron == "" {
				entry.Rule.Cron = "@daily"
			}
			command, commandErr := kinds.DecodeCommand(declared.Raw(entry.Job).JSON)
			if err := entry.Validate(); err != nil || commandErr != nil || seen[entry.Name] || entry.Line < 1 || system != (command.User != "") && system {
				t.Errorf("line %d, %q: %v, %v", entry.Line, entry.Name, err, commandErr)
			}
			seen[entry.Name] = true
		}
	})
}
