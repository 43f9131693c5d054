package kinds

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

func TestValidateNamesEveryMistake(t *testing.T) {
	for _, test := range []struct {
		name    string
		command Command
		want    []string
	}{
		{"argv", Command{Argv: []string{"true"}}, nil},
		{"shell", Command{Shell: "true"}, nil},
		{"everything", Command{Argv: []string{"cat", ""}, Env: map[string]string{"A": "", "b.c-d": "x\ny"}, Dir: "/", Stdin: "\x00"}, nil},
		{"nothing", Command{}, []string{`argv: is empty, and so is shell; give the program and its arguments as argv, or one line as shell`}},
		{"both", Command{Argv: []string{"a"}, Shell: "b"}, []string{`shell: is given besides argv; give only one of them`}},
		{"no program", Command{Argv: []string{"", "a"}}, []string{`argv[0]: is empty; begin with the program to run`}},
		{"blank shell", Command{Shell: " \t"}, []string{`shell: is blank; give the program and its arguments as argv, or one line as shell`}},
		{"NUL", Command{Argv: []string{"a", "b\x00"}, Dir: "\x00", Env: map[string]string{"A": "\x00"}}, []string{
			`dir: contains a NUL byte, which no system can pass on; remove it`,
			`argv[1]: contains a NUL byte, which no system can pass on; remove it`,
			`env "A": contains a NUL byte, which no system can pass on; remove it`,
		}},
		{"UTF-8", Command{Shell: "\xff", Stdin: "\xff"}, []string{
			`shell: is not valid UTF-8; write it in UTF-8, or read other bytes from a file`,
			`stdin: is not valid UTF-8; write it in UTF-8, or read other bytes from a file`,
		}},
		{"names", Command{Shell: "a", Env: map[string]string{"": "1", "A=B": "2", "C\x00": "3"}}, []string{
			`env: is not a name of a variable; use a name without =, for example PATH`,
			`env "A=B": is not a name of a variable; use a name without =, for example PATH`,
			`env "C\x00": is not a name of a variable; use a name without =, for example PATH`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.command.Validate()
			if got, want := lines(err), test.want; !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			var field *hourbell.FieldError
			if err != nil && !errors.As(err, &field) {
				t.Errorf("%T holds no *hourbell.FieldError", err)
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
		`null`:                          "argv: is empty",
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

// A client encodes arguments by encoding/json; that must give the same command.
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
	node := []string{"HOURBELL_STORE=postgres://u:secret@db/x", "A=node", "B=node", "HOURBELL_SLOT=stale"}

	got := effective(environment(node, map[string]string{"A": "own"}, job))
	want := map[string]string{
		"A": "own", "B": "node", "HOURBELL_JOB_ID": "7", "HOURBELL_ATTEMPT": "2",
		"HOURBELL_SLOT": "2026-03-29T01:30:00.25Z", "HOURBELL_TOKEN": "99",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if node[0] != "HOURBELL_STORE=postgres://u:secret@db/x" {
		t.Error("the node's own environment was changed")
	}

	job.Slot = time.Time{}
	got = effective(environment(node, map[string]string{"HOURBELL_STORE": "sqlite:x.db"}, job))
	if got["HOURBELL_STORE"] != "sqlite:x.db" || got["HOURBELL_SLOT"] != "" {
		t.Errorf("got %v, want the command's own store and no slot", got)
	}
}

// effective is an environment as a process sees it: the last of a name counts.
func effective(env []string) map[string]string {
	seen := map[string]string{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		seen[name] = value
	}
	return seen
}

func TestTailKeepsTheEnd(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		limit := 1 + random.IntN(50)
		output := &tail{limit: limit}
		var all []byte
		for range random.IntN(30) {
			piece := make([]byte, random.IntN(3*limit))
			for i := range piece {
				piece[i] = byte(random.Uint32())
			}
			if n, err := output.Write(piece); n != len(piece) || err != nil {
				t.Fatalf("Write of %d bytes: %d, %v", len(piece), n, err)
			}
			all = append(all, piece...)
			if want := all[max(0, len(all)-limit):]; !slices.Equal(output.bytes(), want) {
				t.Fatalf("limit %d: got %x, want %x", limit, output.bytes(), want)
			}
			if len(output.kept) > 2*limit {
				t.Fatalf("holds %d bytes, more than twice %d", len(output.kept), limit)
			}
		}
	}
}

// lines are the messages of joined errors.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}
