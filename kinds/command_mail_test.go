//go:build unix

package kinds

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/handover"
)

func TestCheckMailTo(t *testing.T) {
	for text, problem := range map[string]string{
		"":                                  "",
		"root":                              "",
		"ops@example.org":                   "",
		"a.b+cron@example.org, root,_x%y@z": "",
		"-oQx":                              "begins with -",
		"root, -Xlog":                       "begins with -",
		"root\nBcc: all@example.org":        "control character",
		"root\x7f":                          "control character",
		"|sh":                               `character '|'`,
		"/etc/passwd":                       `character '/'`,
		"`id`":                              "character",
		"$(id)":                             "character",
		"Ada <ada@example.org>":             "character",
		"é@example.org":                     "character",
		"a,,b":                              "empty address",
		",":                                 "empty address",
		"a b":                               "blank within",
		"@x":                                "neither a letter nor a digit",
		strings.Repeat("a", 1001):           "longer",
	} {
		err := CheckMailTo(text)
		if (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v instead of %q", text, err, problem)
		}
	}
}

// mails is a program that takes mails into a folder, as sendmail does.
type mails struct {
	t   *testing.T
	dir string
	Mailer
}

func newMails(t *testing.T, script string) *mails {
	t.Helper()
	m := &mails{t: t, dir: t.TempDir()}
	write(t, m.dir, "sendmail", 0o755, "#!/bin/sh\ncd '"+m.dir+"'\n"+script)
	m.Program, m.Host = filepath.Join(m.dir, "sendmail"), "tower"
	return m
}

const taken = "echo \"$0 $*\" >args; env >env; id -un >who; cat >new; mv new mail\n"

// perform runs a command whose output is mailed, and returns its output.
func (m *mails) perform(ctx context.Context, schedule string, command Command) (string, error) {
	m.t.Helper()
	args, err := command.Encode()
	if err != nil {
		m.t.Fatal(err)
	}
	job := &hourbell.JobRow{ID: 7, Schedule: schedule, RawArgs: args}
	err = CommandWorker{Mail: &m.Mailer}.Work(ctx, job)
	return string(job.Output()), err
}

// read returns a file that the program wrote, and removes it; ok: there is one.
func (m *mails) read(name string) (text string, ok bool) {
	m.t.Helper()
	file := filepath.Join(m.dir, name)
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", false
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		m.t.Fatal(err)
	}
	return string(content), true
}

// received reads the mail that the program took.
func (m *mails) received() (header netmail.Header, body string) {
	m.t.Helper()
	text, ok := m.read("mail")
	if !ok {
		m.t.Fatal("no mail was sent")
	}
	got, err := netmail.ReadMessage(strings.NewReader(text))
	if err != nil {
		m.t.Fatalf("%v in %q", err, text)
	}
	decoded, err := io.ReadAll(quotedprintable.NewReader(got.Body))
	if err != nil {
		m.t.Fatal(err)
	}
	return got.Header, string(decoded)
}

func cronLine(shell string, env ...string) Command {
	c := Command{Shell: shell, Base: BaseCron, Env: map[string]string{}}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		c.Env[name] = value
	}
	return c
}

// TestMail checks what is mailed, to whom, and how the program is started.
func TestMail(t *testing.T) {
	m := newMails(t, taken)
	if _, err := m.perform(t.Context(), "nächtlich", cronLine("echo größe; exit 3", "MAILTO=ops@example.org, root", "TOKEN=hunter2")); err == nil {
		t.Error("the command did not fail")
	}
	header, body := m.received()
	subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
	if err != nil || subject != "Cron <"+self().Username+"@tower> nächtlich" || header.Get("To") != "ops@example.org, root" || header.Get("Auto-Submitted") != "auto-generated" || header.Get("X-Hourbell-Job") != "7" {
		t.Errorf("header %v, subject %q, %v", header, subject, err)
	}
	if body != "größe\n\nhourbell: exit code 3\n" {
		t.Errorf("body %q", body)
	}
	args, _ := m.read("args")
	env, _ := m.read("env")
	if !strings.HasSuffix(args, "sendmail -i -t\n") || strings.Contains(env, "hunter2") || !strings.Contains(env, "LOGNAME="+self().Username) {
		t.Errorf("arguments %q, environment %q", args, env)
	}
	if _, err := m.perform(t.Context(), "s", cronLine("printf '\\377'")); err != nil {
		t.Error(err)
	}
	if header, body = m.received(); header.Get("To") != self().Username || body != "\uFFFD" {
		t.Errorf("without MAILTO: %v %q", header, body)
	}
	for name, command := range map[string]Command{
		"an empty MAILTO":       cronLine("echo x", "MAILTO="),
		"no output":             cronLine("true"),
		"a failure without any": cronLine("exit 1"),
		"no crontab's line":     {Shell: "echo x", Env: map[string]string{"MAILTO": "root"}},
	} {
		output, _ := m.perform(t.Context(), "s", command)
		if _, ok := m.read("mail"); ok || strings.Contains(output, "mailed") {
			t.Errorf("%s: a mail, or %q", name, output)
		}
	}
	job := &hourbell.JobRow{ID: 7}
	job.Log("x")
	m.send(t.Context(), CommandWorker{}, cronLine("x", "MAILTO=root"), job, &handover.LeftError{})
	if _, ok := m.read("mail"); ok {
		t.Error("a mail of a command that goes on under the next program")
	}
}

// TestMailIsRefused checks that output that cannot be mailed is reported, and that the outcome of the
// command stays the same.
func TestMailIsRefused(t *testing.T) {
	var failed []string
	m := newMails(t, "echo no space >&2; exit 75\n")
	m.Failed = func(job *hourbell.JobRow, err error) { failed = append(failed, err.Error()) }
	for _, test := range []struct{ to, want string }{
		{"root", m.Program + ": exit code 75 no space"},
		{"root\nBcc: x", "MAILTO has a control character"},
		{"-t", "begins with -"},
	} {
		output, err := m.perform(t.Context(), "s", cronLine("echo x", "MAILTO="+test.to))
		if err != nil || !strings.Contains(output, "hourbell: the output is not mailed: ") || !strings.Contains(output, test.want) {
			t.Errorf("%q: output %q, error %v", test.to, output, err)
		}
	}
	if len(failed) != 3 {
		t.Errorf("reported: %q", failed)
	}
}

// TestMailsAreRationed checks that a schedule, and a node, send a bounded number of mails an hour, and
// that a later mail has the number of those before it that were held back.
func TestMailsAreRationed(t *testing.T) {
	m := newMails(t, taken)
	now := time.Now()
	for i := range mailsOfLine + 5 {
		if _, ok := m.take("noisy", now); ok != (i < mailsOfLine) {
			t.Fatalf("mail %d: %v", i, ok)
		}
	}
	if output, err := m.perform(t.Context(), "noisy", cronLine("echo x", "MAILTO=root")); err != nil || !strings.Contains(output, "not mailed: 10 mails of this schedule") {
		t.Errorf("output %q, error %v", output, err)
	}
	if held, ok := m.take("other", now); held != 0 || !ok {
		t.Error("another schedule was held back")
	}
	if held, ok := m.take("noisy", now.Add(mailTime)); held != 6 || !ok {
		t.Errorf("an hour later: %v, after %d", ok, held)
	}
	sent := 0
	for i := range 2 * mailsOfAll {
		if _, ok := m.take(strings.Repeat("s", i+1), now.Add(3*mailTime)); ok {
			sent++
		}
	}
	if sent != mailsOfAll {
		t.Errorf("the node sent %d mails within an hour", sent)
	}
}

// TestMailAsTheUserOfTheLine needs root.
func TestMailAsTheUserOfTheLine(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	m := newMails(t, taken)
	for dir := m.dir; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	command := cronLine("id -un")
	command.User = "nobody"
	if output, err := m.perform(t.Context(), "s", command); err != nil || output != "nobody\n" {
		t.Fatalf("output %q, error %v", output, err)
	}
	header, _ := m.received()
	if who, _ := m.read("who"); who != "nobody\n" || header.Get("To") != "nobody" || !strings.Contains(header.Get("Subject"), "<nobody@tower>") {
		t.Errorf("sent as %q: %v", who, header)
	}
}

// TestMailEnds checks that a mail program that hangs is ended with a job that is stopped.
func TestMailEnds(t *testing.T) {
	m := newMails(t, "echo $$ >pid; exec sleep 300\n")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	job := &hourbell.JobRow{ID: 7}
	job.Log("x")
	began := time.Now()
	m.send(ctx, CommandWorker{Grace: 300 * time.Millisecond}, cronLine("x", "MAILTO=root"), job, nil)
	if took := time.Since(began); took > 10*time.Second || !strings.Contains(string(job.Output()), "not mailed") {
		t.Errorf("it took %v; the output is %q", took, job.Output())
	}
}
