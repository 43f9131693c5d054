// Package api_test runs the examples for programs that are not written in Go.
package api_test

import (
	"log/slog"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/api"
	"github.com/hourbell/hourbell/store/memory"
)

// TestExamples runs each example against an API with users.
func TestExamples(t *testing.T) {
	for _, c := range []struct{ program, script, schedule, says string }{
		{"python3", "hourbell_api.py", "reports/daily", "job 1\njob 1\nready: 1 mail mail\n"},
		{"sh", "hourbell_api.sh", "reports/hourly", `"kind":"mail"`},
	} {
		t.Run(c.script, func(t *testing.T) {
			needs := []string{c.program}
			if c.program == "sh" {
				needs = append(needs, "curl")
			}
			for _, program := range needs {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("%s is not installed", program)
				}
			}
			client, err := hourbell.New(memory.New(), hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			users := filepath.Join(t.TempDir(), "users.json")
			var token string
			err = access.EditUsers(users, func(u *access.Users) (err error) {
				token, err = u.AddToken("example", access.Operator, time.Now(), time.Time{})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			guard, err := access.NewGuard(access.Config{File: users})
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(api.Handler(client, api.Options{Authorize: guard.Authorize, Logger: slog.New(slog.DiscardHandler)}))
			defer server.Close()
			run := func(token string) (string, error) {
				command := exec.CommandContext(t.Context(), c.program, c.script)
				command.Env = append(command.Environ(), "HOURBELL_URL="+server.URL, "HOURBELL_TOKEN="+token)
				out, err := command.CombinedOutput()
				return string(out), err
			}
			if out, err := run("wrong"); err == nil || !strings.Contains(out, "auth token") {
				t.Errorf("with a wrong token: %v, and no remedy in %s", err, out)
			}
			out, err := run(token)
			if err != nil || !strings.Contains(out, c.says) {
				t.Errorf("%v: %s", err, out)
			}
			if _, err := client.Schedules.Get(t.Context(), c.schedule); err != nil {
				t.Errorf("the schedule: %v", err)
			}
			if n, err := client.Jobs.Count(t.Context(), hourbell.JobFilter{Kind: "mail"}); n != 1 || err != nil {
				t.Errorf("%d jobs, %v", n, err)
			}
		})
	}
}
