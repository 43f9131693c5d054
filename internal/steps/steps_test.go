package steps_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/steps"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// patience is how long a test waits for an event before it fails.
const patience = time.Minute

type command struct{}

func (command) Kind() string { return "command" }

// job is a job whose worker serves a socket, as a command has it, in each attempt.
type job struct {
	*steps.Server // of the attempt that runs
	client        *hourbell.Client
	id            int64
	folder        string
	serving       chan serving
	end           chan bool // lets the attempt end
}

// serving is an attempt that has begun.
type serving struct {
	server *steps.Server
	token  int64
}

// begin runs a job until the test ends, in the environment that its command has.
func begin(t *testing.T) *job {
	t.Helper()
	folder, err := steps.Folder()
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(folder)) })
	j := &job{folder: folder, serving: make(chan serving), end: make(chan bool)}
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, j.work)
	j.client, err = hourbell.New(memory.New(), hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	must(t, j.client.Migrate(t.Context()))
	enqueued, err := j.client.Enqueue(t.Context(), command{})
	must(t, err)
	j.id = enqueued.ID
	stopped := make(chan error, 1)
	go func() { stopped <- j.client.Run(context.WithoutCancel(t.Context())) }()
	t.Cleanup(func() {
		close(j.end)
		must(t, j.client.Stop(context.Background()))
		must(t, <-stopped)
	})
	t.Setenv(steps.Variable, steps.Path(folder))
	t.Setenv("HOURBELL_JOB_ID", strconv.FormatInt(j.id, 10))
	j.await(t)
	return j
}

// await waits for the next attempt.
func (j *job) await(t *testing.T) {
	t.Helper()
	select {
	case now := <-j.serving:
		j.Server = now.server
		t.Setenv("HOURBELL_TOKEN", strconv.FormatInt(now.token, 10))
	case <-time.After(patience):
		t.Fatal("the job does not run")
	}
}

func (j *job) work(ctx context.Context, row *hourbell.Job[command]) error {
	server, err := steps.Serve(ctx, j.folder, steps.Job{
		ID: strconv.FormatInt(row.ID, 10), Token: strconv.FormatInt(row.Token, 10),
		Step: func(ctx context.Context, name string, do func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
			return hourbell.Step(ctx, row, name, do)
		},
		Wait: func(ctx context.Context, name string, timeout time.Duration) (json.RawMessage, error) {
			return hourbell.Wait[json.RawMessage](ctx, row, name, timeout)
		},
		Parked: func(err error) bool {
			result, selected := work.Selected(err)
			return selected && result == store.Snooze
		},
		TimedOut: func(err error) bool { return errors.Is(err, hourbell.ErrNoSignal) },
	})
	if err != nil {
		return err
	}
	j.serving <- serving{server, row.Token}
	<-j.end
	server.Close()
	return server.Parked()
}

// step takes a step whose result is value.
func step(t *testing.T, name, value string) (string, error) {
	t.Helper()
	got, err := steps.Step(t.Context(), name, func() (json.RawMessage, error) { return json.RawMessage(value), nil })
	return string(got), err
}

// TestSteps takes steps, and waits for signals.
func TestSteps(t *testing.T) {
	j := begin(t)
	if j.Used() {
		t.Error("the socket was used before")
	}
	if got, err := step(t, "charge", `"receipt 7"`); err != nil || got != `"receipt 7"` {
		t.Errorf("the step returns %s, %v", got, err)
	}
	if !j.Used() {
		t.Error("the socket was not used after a step")
	}
	refused := errors.New("the card is refused")
	if _, err := steps.Step(t.Context(), "mail", func() (json.RawMessage, error) { return nil, refused }); !errors.Is(err, refused) {
		t.Errorf("a step that fails returns %v", err)
	}
	if _, err := step(t, "charge", `"again"`); err == nil || !strings.Contains(err.Error(), "used twice") {
		t.Errorf("a name that is used twice: %v", err)
	}
	must(t, j.client.Signals.Send(t.Context(), j.id, "approval", "ann"))
	if got, err := steps.Wait(t.Context(), "approval", time.Hour); err != nil || string(got) != `"ann"` {
		t.Errorf("the wait returns %s, %v", got, err)
	}
	if j.Parked() != nil {
		t.Error("the job lies aside after a signal that was there")
	}
	if _, err := steps.Wait(t.Context(), "payment", time.Hour); !errors.Is(err, steps.ErrParked) {
		t.Errorf("the wait returns %v, want ErrParked", err)
	}
	if j.Parked() == nil {
		t.Error("the job does not lie aside")
	}
	if _, err := step(t, "ship", `true`); !errors.Is(err, steps.ErrParked) {
		t.Errorf("a step of a job that lies aside returns %v", err)
	}
	kept, err := j.client.Jobs.Steps(t.Context(), j.id)
	must(t, err)
	var names []string
	for _, step := range kept {
		names = append(names, step.Name)
	}
	if got := strings.Join(names, " "); got != "charge approval payment" {
		t.Errorf("the job has stored %q", got)
	}
}

// TestTimedOut has a wait whose time is over in the second attempt, to which the result of the step is kept.
func TestTimedOut(t *testing.T) {
	j := begin(t)
	if _, err := step(t, "ask", `"asked"`); err != nil {
		t.Error(err)
	}
	if _, err := steps.Wait(t.Context(), "approval", time.Millisecond); !errors.Is(err, steps.ErrParked) {
		t.Errorf("the wait returns %v, want ErrParked", err)
	}
	j.end <- true
	j.await(t)
	if got, err := step(t, "ask", `"asked again"`); err != nil || got != `"asked"` {
		t.Errorf("the step of the attempt before returns %s, %v", got, err)
	}
	if _, err := steps.Wait(t.Context(), "approval", time.Millisecond); !errors.Is(err, steps.ErrTimedOut) || j.Parked() != nil {
		t.Errorf("the wait returns %v, want ErrTimedOut", err)
	}
}

// ask sends a text to the socket, and returns the answer.
func (j *job) ask(t *testing.T, text string) (answer string) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", steps.Path(j.folder))
	must(t, err)
	defer conn.Close()
	must(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err = io.WriteString(conn, text)
	must(t, err)
	must(t, conn.(*net.UnixConn).CloseWrite())
	all, err := io.ReadAll(conn)
	must(t, err)
	return string(all)
}

// TestRefused sends requests that are refused, and change nothing.
func TestRefused(t *testing.T) {
	j := begin(t)
	id, token := os.Getenv("HOURBELL_JOB_ID"), os.Getenv("HOURBELL_TOKEN")
	request := func(id, token, rest string) string {
		return `{"job":"` + id + `","token":"` + token + `",` + rest + "}\n"
	}
	for name, test := range map[string]struct{ text, says string }{
		"nothing":              {"", "EOF"},
		"no JSON":              {"step charge\n", "invalid character"},
		"another type":         {`["step"]`, "cannot unmarshal"},
		"half of a request":    {`{"job":"` + id, "unexpected EOF"},
		"another token":        {request(id, token+"0", `"step":"charge"`), "another claim"},
		"no token":             {request(id, "", `"step":"charge"`), "another claim"},
		"another job":          {request("999", token, `"step":"charge"`), "this socket is for job " + id},
		"no name":              {request(id, token, `"for":1`), "one step or one signal"},
		"two names":            {request(id, token, `"step":"charge","wait":"approval"`), "one step or one signal"},
		"a name that is long":  {request(id, token, `"step":"`+strings.Repeat("x", check.MaxName+1)+`"`), "step"},
		"a signal's long name": {request(id, token, `"wait":"`+strings.Repeat("x", check.MaxName+1)+`"`), "signal"},
	} {
		answer := j.ask(t, test.text)
		if !strings.HasPrefix(answer, `{"error":`) || !strings.Contains(answer, test.says) {
			t.Errorf("%s: %s", name, answer)
		}
	}
	if j.Used() {
		t.Error("a request that was refused counts as used")
	}
	kept, err := j.client.Jobs.Steps(t.Context(), j.id)
	must(t, err)
	if len(kept) > 0 {
		t.Errorf("requests that were refused stored %v", kept)
	}

	t.Setenv("HOURBELL_TOKEN", token+"0")
	if _, err := step(t, "charge", "true"); err == nil || !strings.Contains(err.Error(), "another claim") {
		t.Errorf("a program with another token: %v", err)
	}
	t.Setenv(steps.Variable, "")
	var field *check.FieldError
	if _, err := step(t, "charge", "true"); !errors.As(err, &field) || field.Field != steps.Variable {
		t.Errorf("a program without the variable: %v", err)
	}
}

// TestSizes keeps the largest result, and refuses larger ones.
func TestSizes(t *testing.T) {
	j := begin(t)
	for name, character := range map[string]string{"letters": "x", "markup": "<", "control characters": `\u0001`} {
		value := `"` + strings.Repeat(character, (check.MaxResult-2)/len(character)) + `"`
		if got, err := step(t, name, value); err != nil || got != value {
			t.Errorf("the largest result of %s: %d bytes, %v", name, len(got), err)
		}
	}
	if _, err := step(t, "too large", `"`+strings.Repeat("x", check.MaxResult-1)+`"`); err == nil || !strings.Contains(err.Error(), "value") {
		t.Errorf("a result that is too large by a byte: %v", err)
	}
	if _, err := step(t, "no JSON", "{"); err == nil {
		t.Error("a result that is no JSON is kept")
	}

	// A message without end is not read to its end.
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", steps.Path(j.folder))
	must(t, err)
	defer conn.Close()
	must(t, conn.SetDeadline(time.Now().Add(patience)))
	sent := 0
	for block := bytes.Repeat([]byte(" "), 64<<10); err == nil; sent++ {
		if sent > 1000 {
			t.Fatal("the server reads without a bound")
		}
		_, err = conn.Write(block)
	}
	if got, err := step(t, "after it", "7"); err != nil || got != "7" {
		t.Errorf("a step after a message without end: %s, %v", got, err)
	}
}

// TestOneStepAtATime takes a step within a step, and a step after a program that died in its step.
func TestOneStepAtATime(t *testing.T) {
	begin(t)
	_, err := steps.Step(t.Context(), "outer", func() (json.RawMessage, error) {
		return nil, errors.Join(errors.New("outer"), func() error { _, err := step(t, "inner", "true"); return err }())
	})
	if err == nil || !strings.Contains(err.Error(), `step "outer" is not over`) {
		t.Errorf("a step within a step returns %v", err)
	}

	ctx, die := context.WithCancel(t.Context())
	_, err = steps.Step(ctx, "dies", func() (json.RawMessage, error) {
		die()
		return nil, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the step that dies returns %v", err)
	}
	if _, err := step(t, "next", "true"); err != nil {
		t.Errorf("the step after it returns %v", err)
	}
}

// TestTheCommandEnds has steps of a command that has ended.
func TestTheCommandEnds(t *testing.T) {
	j := begin(t)
	silent, err := new(net.Dialer).DialContext(t.Context(), "unix", steps.Path(j.folder)) // sends nothing
	must(t, err)
	defer silent.Close()
	var called atomic.Bool
	_, err = steps.Step(t.Context(), "charge", func() (json.RawMessage, error) {
		closed := make(chan bool)
		go func() {
			j.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(patience):
			t.Error("Close waits for a program that has not ended")
		}
		called.Store(true)
		return json.RawMessage("true"), nil
	})
	if err == nil || !called.Load() {
		t.Errorf("a step whose command has ended returns %v", err)
	}
	if _, err := step(t, "mail", "true"); err == nil || !strings.Contains(err.Error(), "the node has ended") {
		t.Errorf("a step after the end of the command returns %v", err)
	}
	kept, err := j.client.Jobs.Steps(t.Context(), j.id)
	must(t, err)
	if len(kept) > 0 {
		t.Errorf("the job has stored %v", kept)
	}
	j.Close() // again
}

// TestServeAgain serves a folder whose server has died.
func TestServeAgain(t *testing.T) {
	folder := t.TempDir()
	must(t, os.WriteFile(steps.Path(folder), nil, 0o600))
	server, err := steps.Serve(t.Context(), folder, steps.Job{})
	must(t, err)
	server.Close()
	if _, err := steps.Serve(t.Context(), folder+"/missing", steps.Job{}); err == nil {
		t.Error("a folder that does not exist is served")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
