package snippets

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/internal/testserver"
)

// TestSessions runs the commands of each page in their order, in a temporary folder, with a store of their own. A command that
// fails, fails the test, except in a block in console, which also shows what commands print: numbers may differ, and "…" stands
// for any text. A command that prints more at its end fails, too. Commands that go on until they are stopped (serve, demo) go on in
// the background until the page ends.
//
// A block whose first line is a comment with the name of a file (# nightly.yaml, // main.go) becomes that file. Other
// schedule files and crontabs are read by hourbell check. testdata/PAGE.sh prepares the folder: rows that a page takes for
// granted, and stand-ins for programs. A page that names a PostgreSQL database has an empty one.
func TestSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: the program is built, and commands run for half a minute")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	program := build(t)
	except := readExceptions(t)
	for _, p := range pages(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.run(t, program, except)
		})
	}
}

// TestRefusedRequestsFail checks that a command of a page fails if a server answers curl with a status of 400 or more.
func TestRefusedRequestsFail(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/accepted" {
			http.Error(w, "the body has no kind", http.StatusUnprocessableEntity)
		}
	}))
	defer server.Close()
	for path, fails := range map[string]bool{"/accepted": false, "/refused": true} {
		out, err := exec.Command("bash", "-c", `. testdata/common.sh; curl -sS "$0"`, server.URL+path).CombinedOutput()
		if (err != nil) != fails || strings.Contains(string(out), "has no kind") != fails {
			t.Errorf("%s: %v, %s", path, err, out)
		}
	}
}

// build compiles the program, and returns the folder that has it.
func build(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	build := exec.Command("go", "build", "-o", folder, ".")
	build.Dir, build.Env = filepath.Join(root, "cmd", "hourbell"), append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	return folder
}

// fileName matches the first line of a block that becomes a file.
var fileName = regexp.MustCompile(`^(?:#|//) ([A-Za-z0-9_.-]+\.[a-z]+)\n`)

// run checks the blocks of a page that are not Go.
func (p page) run(t *testing.T, program string, except exceptions) {
	var s *session
	for _, b := range p.blocks {
		if except.has(p, b.text) {
			continue
		}
		name := fileName.FindStringSubmatch(b.text)
		if s == nil && (name != nil || b.language == "sh" || b.language == "console" || b.language == "yaml" || b.language == "crontab") {
			s = newSession(t, p, program)
			defer s.close()
		}
		where := fmt.Sprintf("%s:%d", p.path, b.line)
		switch {
		case name != nil:
			s.write(name[1], b.text)
		case b.language == "json":
			for decoder := json.NewDecoder(strings.NewReader(b.text)); ; {
				var value any
				if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Errorf("%s: %v", where, err)
					break
				}
			}
		case b.language == "yaml":
			s.write("snippet.yaml", b.text)
			s.command(where, "hourbell check snippet.yaml", nil)
		case b.language == "crontab":
			s.write("snippet.crontab", b.text)
			s.command(where, "hourbell check snippet.crontab", nil)
		case b.language == "sql":
			p.statements(t, where, b)
		case b.language == "ini", b.language == "java":
			t.Errorf("%s: blocks in %s are not checked; give the reason in testdata/exceptions.txt", where, b.language)
		case b.language == "sh", b.language == "console":
			for _, c := range s.commands(b) {
				if !except.has(p, c.text) {
					s.command(where, c.text, c.output)
				}
			}
		}
	}
}

// statements runs a block of SQL in an empty store in PostgreSQL, after the statements of testdata/PAGE.sql, and takes everything
// back. A statement with parameters is only planned.
func (p page) statements(t *testing.T, where string, b block) {
	t.Helper()
	ctx := t.Context()
	url := newDatabase(t)
	backend, err := postgres.Open(ctx, url)
	must(t, err)
	defer backend.Close()
	client, err := hourbell.New(backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	must(t, client.Migrate(ctx))
	conn, err := pgx.Connect(ctx, url)
	must(t, err)
	defer conn.Close(ctx)
	setup, err := os.ReadFile(filepath.Join("testdata", p.name+".sql"))
	if !errors.Is(err, os.ErrNotExist) {
		must(t, err)
	}
	if _, err := conn.Exec(ctx, "begin;"+string(setup)); err != nil {
		t.Fatalf("testdata/%s.sql: %v", p.name, err)
	}
	if strings.Contains(b.text, "$1") {
		_, err = conn.Prepare(ctx, "", b.text)
	} else {
		_, err = conn.Exec(ctx, b.text)
	}
	if err != nil {
		t.Errorf("%s: %v", where, err)
	}
}

// command is a command of a block, and the output that the block shows, or nil.
type command struct {
	text   string
	output *string
}

// commands splits a block into commands. A command goes on in the next line until the shell finds it complete.
func (s *session) commands(b block) (all []command) {
	text, shown := "", strings.Builder{}
	flush := func() {
		if len(all) > 0 && b.language == "console" {
			output := shown.String()
			all[len(all)-1].output = &output
			shown.Reset()
		}
	}
	for line := range strings.Lines(b.text) {
		if b.language == "console" && text == "" {
			after, found := strings.CutPrefix(line, "$ ")
			if !found {
				shown.WriteString(line)
				continue
			}
			flush()
			line = after
		} else if text == "" && (strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")) {
			continue
		}
		text += line
		parse := exec.CommandContext(s.t.Context(), "bash", "-n")
		parse.Stdin = strings.NewReader(text)
		if out, err := parse.CombinedOutput(); err == nil && len(out) == 0 && !strings.HasSuffix(text, "\\\n") {
			all, text = append(all, command{text: text}), ""
		}
	}
	if text != "" {
		s.t.Errorf("%s:%d: the last command is not complete: %s", s.page.path, b.line, text)
	}
	flush()
	return all
}

// session is a shell in a temporary folder.
type session struct {
	t      *testing.T
	page   page
	folder string
	shell  *exec.Cmd
	input  io.WriteCloser
	done   chan string // an exit code for each command
	living *os.File    // ends when the shell and all processes that it has started have ended
	ports  sync.Map    // that are used instead of the ports of the page
	store  string      // the URL of the PostgreSQL database, once a command names one
	n      int
}

// newSession starts the shell and prepares the folder.
func newSession(t *testing.T, p page, program string) *session {
	t.Helper()
	here, err := filepath.Abs(".")
	must(t, err)
	s := &session{t: t, page: p, folder: t.TempDir(), done: make(chan string)}
	s.shell = exec.Command("bash", "--noprofile", "--norc")
	s.shell.Dir = s.folder
	s.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // to end everything that the page has started
	s.shell.Env = []string{
		"HOME=" + s.folder, "TZ=UTC", "LANG=C.UTF-8", "PATH=" + program + ":" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(s.folder, ".state"),
		"GOCACHE=" + goEnv(t, "GOCACHE"), "GOMODCACHE=" + goEnv(t, "GOMODCACHE"), "GOFLAGS=" + goEnv(t, "GOFLAGS"),
		"REPOSITORY=" + filepath.Join(here, root),
	}
	s.input, err = s.shell.StdinPipe()
	must(t, err)
	out, err := s.shell.StdoutPipe()
	must(t, err)
	living, held, err := os.Pipe()
	must(t, err)
	s.living, s.shell.ExtraFiles = living, []*os.File{held}
	must(t, s.shell.Start())
	must(t, held.Close())
	go func() {
		defer close(s.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.done <- lines.Text()
		}
	}()
	for _, setup := range []string{"common.sh", p.name + ".sh"} {
		path := filepath.Join(here, "testdata", setup)
		if _, err := os.Stat(path); err == nil {
			s.command("testdata/"+setup, ". "+path, nil)
		}
	}
	return s
}

// close ends the shell and what it has started, and waits for all of it.
func (s *session) close() {
	_ = s.input.Close()
	_ = syscall.Kill(-s.shell.Process.Pid, syscall.SIGTERM)
	killed := time.AfterFunc(20*time.Second, func() { _ = syscall.Kill(-s.shell.Process.Pid, syscall.SIGKILL) })
	defer killed.Stop()
	for range s.done { // the shell itself
	}
	_, _ = io.Copy(io.Discard, s.living) // nothing is written to it
	_ = s.living.Close()
	_ = s.shell.Wait() // ended by the signal
}

// write makes a file in the folder in which the shell is.
func (s *session) write(name, text string) {
	s.t.Helper()
	written := filepath.Join(s.folder, ".written")
	must(s.t, os.WriteFile(written, []byte(text), 0o600))
	s.command("testdata: "+name, "cp "+written+" "+name, nil)
}

var (
	portPattern  = regexp.MustCompile(`\b(8080|8081|8443)\b`)
	storePattern = regexp.MustCompile(`postgres://[^\s'"]+`)
	pathPattern  = regexp.MustCompile(`(^|\s)/(srv|etc)/`) // folders that PAGE.sh has made in the temporary folder
)

// command runs a command, and compares its exit code or its output.
func (s *session) command(where, text string, output *string) {
	s.t.Helper()
	text = portPattern.ReplaceAllStringFunc(text, s.port)
	text = pathPattern.ReplaceAllString(text, "$1"+s.folder+"/$2/")
	if !strings.HasPrefix(where, "testdata") && storePattern.MatchString(text) {
		if s.store == "" {
			s.store = newDatabase(s.t)
		}
		text = storePattern.ReplaceAllLiteralString(text, s.store)
	}
	s.n++
	out := filepath.Join(s.folder, fmt.Sprintf(".out%d", s.n))
	began := time.Now()
	_, err := fmt.Fprintf(s.input, "{ %s\n} </dev/null >%s 2>&1; echo $?\n", strings.TrimSuffix(text, "\n"), out)
	must(s.t, err)
	code := "none within a minute"
	select {
	case code = <-s.done:
	case <-time.After(time.Minute):
	}
	printed := func() string {
		text, err := os.ReadFile(out)
		must(s.t, err)
		return string(text)
	}
	if testing.Verbose() {
		s.t.Logf("%s (%s): %s", where, time.Since(began).Round(time.Millisecond), text)
	}
	if output == nil {
		if code != "0" {
			s.t.Errorf("%s: %sexit code %s:\n%s", where, text, code, printed())
		}
		return
	}
	// A command in the background prints more later.
	want := steady(*output, isServer(text))
	for deadline := time.Now().Add(time.Minute); !want.MatchString(normal(printed())); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) || !strings.Contains(printed(), "node started") && code != "0" || code == "0" && !isServer(text) {
			s.t.Errorf("%s: %sprints\n%s\ninstead of\n%s", where, text, printed(), *output)
			return
		}
	}
}

// isServer reports whether a command goes on in the background.
func isServer(text string) bool {
	return regexp.MustCompile(`\b(hourbell|cmd/hourbell) (serve|demo)\b|go run \.`).MatchString(text)
}

var (
	numbers = regexp.MustCompile(`\d+`)
	spaces  = regexp.MustCompile(`\s+`)
)

// normal returns an output without what differs between runs: digits and the widths of columns.
func normal(text string) string {
	return spaces.ReplaceAllString(numbers.ReplaceAllString(text, "0"), " ")
}

// steady returns the pattern of an output as a page shows it. Only if goesOn, output may go on after it.
func steady(shown string, goesOn bool) *regexp.Regexp {
	parts := strings.Split(strings.TrimSpace(normal(shown)), "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	pattern := "^" + strings.Join(parts, ".*?")
	if !goesOn {
		pattern += " ?$"
	}
	return regexp.MustCompile(pattern)
}

// port returns a free port in place of a port of the page, the same each time.
func (s *session) port(text string) string {
	if port, found := s.ports.Load(text); found {
		return port.(string)
	}
	listener, err := new(net.ListenConfig).Listen(s.t.Context(), "tcp", "127.0.0.1:0")
	must(s.t, err)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(s.t, err)
	s.ports.Store(text, port)
	return port
}

// newDatabase creates a PostgreSQL database, which is dropped after the test, and returns its URL. Without a server the test is skipped.
func newDatabase(t *testing.T) string {
	t.Helper()
	server := testserver.URL(t, "HOURBELL_TEST_POSTGRES_URL")
	name := fmt.Sprintf("hb_snippets_%d_%d", os.Getpid(), time.Now().UnixNano())
	execute := func(statement string) {
		ctx := context.Background() // the test's own has ended when its clean-up runs
		conn, err := pgx.Connect(ctx, server)
		must(t, err)
		defer conn.Close(ctx)
		_, err = conn.Exec(ctx, statement)
		must(t, err)
	}
	execute("create database " + name)
	t.Cleanup(func() { execute("drop database " + name + " with (force)") })
	u, err := url.Parse(server)
	must(t, err)
	u.Path = "/" + name
	return u.String()
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
