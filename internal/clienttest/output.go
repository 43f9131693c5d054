package clienttest

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// output checks that what workers print is read while they run, by several ways of
// printing at the same time, and that the record of the attempt has the same then.
func output(e *env) {
	const lines = 50
	release := make(chan struct{})
	client := e.run(e.backend, func(ctx context.Context, job *hourbell.JobRow) error {
		switch string(job.RawArgs) {
		case `"silent"`:
			return nil
		case `"flood"`:
			line := []byte(strings.Repeat("x", 999) + "\n")
			for range 1000 {
				_, _ = job.Writer().Write(line)
			}
			job.Log("end of the flood")
		default:
			slog.New(job.LogHandler(nil)).Info("begun", "job", job.ID)
			var all sync.WaitGroup
			for range lines {
				all.Go(func() { job.Log("a line of %d", job.ID) })
			}
			all.Wait()
			fmt.Fprint(job.Writer(), "no line")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-release:
		}
		job.Log(", but now")
		return nil
	})
	if out, err := client.Jobs.Output(e.Context(), store.ReadOutputRequest{ID: e.finished(client,
		e.enqueue(client, `"silent"`)).ID}); err != nil || out.Running || len(out.Data) > 0 {
		e.Errorf("the output of a silent job: %+v, %v", out, err)
	}
	speaks, floods := e.enqueue(client, "{}"), e.enqueue(client, `"flood"`)
	said := e.output(client, speaks, "no line")
	if text := string(said.Data); said.From != 0 || !strings.Contains(text, fmt.Sprintf("msg=begun job=%d\n", speaks)) ||
		strings.Count(text, fmt.Sprintf("a line of %d\n", speaks)) != lines {
		e.Errorf("output while the job runs: %+v\n%s", said, text)
	}
	flood := e.output(client, floods, "end of the flood\n")
	if end := int64(1_000_000 + len("end of the flood\n")); flood.End() != end || len(flood.Data) != store.OutputLimit {
		e.Errorf("of %d bytes there are %d, from %d on", end, len(flood.Data), flood.From)
	}
	close(release)
	if job := e.finished(client, speaks); string(job.Attempts[0].Output) != string(said.Data)+", but now\n" ||
		job.Attempts[0].Printed != said.End()+int64(len(", but now\n")) {
		e.Errorf("the record of the attempt: %+v", job.Attempts)
	}
	rest, err := client.Jobs.Output(e.Context(), store.ReadOutputRequest{ID: speaks, Token: said.Token, From: said.End()})
	if err != nil || rest.Running || string(rest.Data) != ", but now\n" {
		e.Errorf("the rest of the output: %+v, %v", rest, err)
	}
	if job := e.finished(client, floods); job.Attempts[0].Printed != flood.End()+int64(len(", but now\n")) {
		e.Errorf("the record of the flood has %d bytes of %d", len(job.Attempts[0].Output), job.Attempts[0].Printed)
	}
}

// output waits until the output of an attempt that runs ends with a text, and
// returns it.
func (e *env) output(client *hourbell.Client, id int64, end string) store.JobOutput {
	e.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		out, err := client.Jobs.Output(e.Context(), store.ReadOutputRequest{ID: id})
		e.must(err)
		if out.Running && strings.HasSuffix(string(out.Data), end) {
			return out
		}
		if time.Now().After(deadline) {
			e.Fatalf("job %d has not printed %q: %+v", id, end, out)
		}
	}
}
