package kinds

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
)

func TestValidateNamesEveryMistake(t *testing.T) {
	for _, test := range []struct {
		name    string
		command Command
		want    []string
	}{
		{"argv", Command{Argv: []string{"true"}}, nil},
		{"shell", Command{Shell: "true"}, nil},
		{"everything", Command{Argv: []string{"cat", ""}, Env: map[string]string{"A": "", "b.c-d": "x\ny"}, Dir: "/", Stdin: "\x00", Base: BaseCron, User: "www-data", Detached: KeepDetached}, nil},
		{"nothing", Command{}, []string{`argv is empty, and so is shell; give the program and its arguments as argv, or one line as shell`}},
		{"both", Command{Argv: []string{"a"}, Shell: "b"}, []string{`shell is given besides argv; give only one of them`}},
		{"no program", Command{Argv: []string{"", "a"}}, []string{`argv[0] is empty; begin with the program to run`}},
		{"blank shell", Command{Shell: " \t"}, []string{`shell is blank; write the line to run`}},
		{"NUL", Command{Argv: []string{"a", "b\x00"}, Dir: "\x00", Env: map[string]string{"A": "\x00"}}, []string{
			`dir: contains a NUL byte, which no system accepts; remove it`,
			`argv[1]: contains a NUL byte, which no system accepts; remove it`,
			`env "A": contains a NUL byte, which no system accepts; remove it`,
		}},
		{"UTF-8", Command{Shell: "\xff", Stdin: "\xff"}, []string{
			`shell is not valid UTF-8; write it in UTF-8, or read other bytes from a file`,
			`stdin is not valid UTF-8; write it in UTF-8, or read other bytes from a file`,
		}},
		{"choices", Command{Shell: "a", Base: "crom", Detached: "kept", User: "root:adm"}, []string{
			`user "root:adm" is not a login name; write the name as it is in the first column of /etc/passwd`,
			`base "crom" is not a choice; write cron, or leave it out`,
			`detached "kept" is not a choice; write keep, or leave it out`,
		}},
		{"names", Command{Shell: "a", Env: map[string]string{"": "1", "A=B": "2", "C\x00": "3"}}, []string{
			`env is not a name of a variable; use a name without =, for example PATH`,
			`env "A=B" is not a name of a variable; use a name without =, for example PATH`,
			`env "C\x00" is not a name of a variable; use a name without =, for example PATH`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.command.Validate()
			if got, want := lines(err), test.want; !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			var field *check.FieldError
			if err != nil && !errors.As(err, &field) {
				t.Errorf("%T holds no *check.FieldError", err)
			}
		})
	}
}

func TestValidateKeepsSecrets(t *testing.T) {
	err := Command{Shell: "a", Env: map[string]string{"PASSWORD": "hunter2\x00"}, Stdin: "hunter2\xff"}.Validate()
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v, want an error without the values", err)
	}
}

func TestDecodeIsStrict(t *testing.T) {
	for args, want := range map[string]string{
		``:                              "EOF",
		`null`:                          "argv is empty",
		`[]`:                            "cannot unmarshal array",
		`{"argv":"ls -l"}`:              "cannot unmarshal string",
		`{"argv":[1]}`:                  "cannot unmarshal number",
		`{"comand":["a"]}`:              `unknown field "comand"`,
		`{"shell":"a","timeout":"1s"}`:  `unknown field "timeout"`,
		`{"shell":"a"} {"shell":"b"}`:   "something follows",
		`{"shell":"a"}x`:                "something follows",
		`{"shell":"a`:                   "unexpected EOF",
		`{"shell":"a\u0000"}`:           "NUL",
		`{"shell":"a","env":{"A":"b"}}`: "",
	} {
		_, err := DecodeCommand([]byte(args))
		if want == "" && err == nil {
			continue
		}
		if err == nil || want == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", args, err, want)
		}
	}
}

func TestEncodeRoundTrip(t *testing.T) {
	command := Command{Shell: `a < b > c && d "é" ` + "\n\t", Env: map[string]string{"B": "2", "A": "1"}, Dir: "/x", Stdin: "\x00\n"}
	text, err := command.Encode()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"shell":"a < b > c && d \"é\" \n\t","env":{"A":"1","B":"2"},"dir":"/x","stdin":"\u0000\n"}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	back, err := DecodeCommand(text)
	if err != nil || !reflect.DeepEqual(back, command) {
		t.Errorf("got back %+v, %v", back, err)
	}
	if _, err := (Command{}).Encode(); err == nil {
		t.Error("an empty command was encoded")
	}
}

// A client encodes arguments with encoding/json; decoding them must give the
// same command.
func TestPlainJSONRoundTrip(t *testing.T) {
	command := Command{Argv: []string{"sh", "-c", "<&>"}}
	text, err := json.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeCommand(text)
	if err != nil || !reflect.DeepEqual(back, command) {
		t.Errorf("got back %+v, %v", back, err)
	}
}

func TestEnvironment(t *testing.T) {
	slot := time.Date(2026, 3, 29, 2, 30, 0, 250_000_000, time.FixedZone("", 3600))
	job := &hourbell.JobRow{ID: 7, Attempt: 2, Token: 99, Slot: slot}
	base := []string{"A=base", "B=twice", "HOURBELL_SLOT=stale", "B=base", "=C:=C:/dir"}

	got := environment(base, map[string]string{"A": "own"}, job)
	want := []string{
		"B=base", "=C:=C:/dir", "A=own", "HOURBELL_JOB_ID=7", "HOURBELL_ATTEMPT=2",
		"HOURBELL_SLOT=2026-03-29T01:30:00.25Z", "HOURBELL_TOKEN=99", "HOURBELL_NODE=", "HOURBELL_HOST=",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if base[0] != "A=base" || base[4] != "=C:=C:/dir" {
		t.Error("the base itself was changed")
	}

	job.Slot = time.Time{}
	got = environment(nil, map[string]string{"HOURBELL_STORE": "sqlite:x.db"}, job)
	if valueOf(got, "HOURBELL_STORE") != "sqlite:x.db" || !slices.Contains(got, "HOURBELL_SLOT=") {
		t.Errorf("got %v, want the command's own store and no slot", got)
	}
}

func TestNodesEnvironment(t *testing.T) {
	t.Setenv("HOURBELL_STORE", "postgres://u:secret@db/x")
	t.Setenv("HOME", "/node")
	t.Setenv("OTHER", "of the node")
	got := environment(baseEnvironment(BaseNode, nil), nil, &hourbell.JobRow{})
	if valueOf(got, "OTHER") != "of the node" || valueOf(got, "HOME") != "/node" || strings.Contains(strings.Join(got, "\n"), "secret") {
		t.Errorf("got %q", got)
	}
	got = environment(baseEnvironment(BaseNode, &user.User{Username: "www", HomeDir: "/var/www"}), nil, &hourbell.JobRow{})
	if valueOf(got, "HOME") != "/var/www" || valueOf(got, "LOGNAME") != "www" || valueOf(got, "USER") != "www" {
		t.Errorf("as another user: %q", got)
	}
}

func TestCronsEnvironment(t *testing.T) {
	who := &user.User{Username: "www", HomeDir: "/var/www"}
	system := map[string]string{"LANG": "C.UTF-8", "PATH": "/of/the/system", "TZ": "UTC"}
	own := Command{Base: BaseCron, Env: map[string]string{"LOGNAME": "root", "SHELL": "/bin/bash", "TZ": ""}}
	got := lastOfEach(append(cronEnvironment(who, system), pairs(own.ownEnv())...))
	slices.Sort(got)
	want := []string{"HOME=/var/www", "LANG=C.UTF-8", "LOGNAME=www", "PATH=/usr/bin:/bin", "SHELL=/bin/bash", "TZ="}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if own.Env["LOGNAME"] != "root" {
		t.Error("the command itself was changed")
	}
}

func pairs(env map[string]string) (list []string) {
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	return list
}

// The expected values are the results of pam_env 1.5.2.
func TestSystemVariables(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"A=b\nC=d":                         {"A": "b", "C": "d"},
		"# x\n\n \t A=b\n":                 {"A": "b"},
		"A=b c # said\n":                   {"A": "b c "},
		"A=b  \n":                          {"A": "b  "},
		"A=b\r\n":                          {"A": "b\r"},
		"export A=b\n":                     {"A": "b"},
		"export  A=b\n":                    {},
		"A=\"b c\"\nB='d'\n":               {"A": "b c", "B": "d"},
		"A=\"b'\nB=\"\nC=\"\"\nD=\"b\"c\n": {"A": "b", "B": "", "C": "", "D": "b\"c"},
		"A=b\"c\"\n":                       {"A": "b\"c\""},
		"A=\"#b\"\n":                       {"A": ""},
		"A=b=c\n":                          {"A": "b=c"},
		"A=\n":                             {"A": ""},
		"A=b\nA\n":                         {},
		"A-B=c\n=d\nA B=c\nÄ=c\n":          {},
		"A=b\\\n c\nD=e\n":                 {"A": "b c", "D": "e"},
		"A=b\\ \n\n# x\nc\nD=e\n":          {"A": "bc", "D": "e"},
		"A=b\\# x\nD=e\n":                  {"A": "b\\", "D": "e"},
		"A=b\nC=d\\":                       {"A": "b"},
	} {
		file := filepath.Join(t.TempDir(), "environment")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := systemVariables(file); !maps.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	first, second := filepath.Join(t.TempDir(), "1"), filepath.Join(t.TempDir(), "2")
	_ = os.WriteFile(first, []byte("A=1\nB=1\nC=1\n"), 0o600)
	_ = os.WriteFile(second, []byte("B=2\nC\n"), 0o600)
	if got := systemVariables(first, "/nowhere", second); !maps.Equal(got, map[string]string{"A": "1", "B": "2"}) {
		t.Errorf("of two files: %q", got)
	}
}

// lines returns the messages of joined errors.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}
