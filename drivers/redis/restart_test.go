package redis

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/hourbell/hourbell/lock"
)

// startServer starts a server on a folder and returns what kills it.
func startServer(t *testing.T, port, folder string, settings ...string) (kill func()) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed; this test starts one")
	}
	cmd := exec.Command(program, append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", folder}, settings...)...)
	must(t, cmd.Start())
	running := true
	kill = func() {
		if running {
			running = false
			must(t, cmd.Process.Signal(syscall.SIGKILL))
			_ = cmd.Wait() // the message that the server was killed
		}
	}
	t.Cleanup(kill)
	awaitListening(t, "127.0.0.1:"+port)
	return kill
}

// A server that keeps nothing forgets a lock that is held when it restarts, as the
// documentation says; one that syncs each write does not. Tokens grow either way.
func TestRestartOfTheServer(t *testing.T) {
	serverURL(t) // who has no server need not have the program
	for name, test := range map[string]struct {
		settings []string
		forgets  bool
	}{
		"without persistence":    {[]string{"--save", "", "--appendonly", "no"}, true},
		"with each write synced": {[]string{"--save", "", "--appendonly", "yes", "--appendfsync", "always"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			port, folder := freePort(t), t.TempDir()
			kill := startServer(t, port, folder, test.settings...)
			client := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:" + port})
			defer client.Close()
			p := New(GoRedis(client))
			req := lock.Request{Name: "send", Owner: "first", Hold: time.Hour}
			first, err := p.TryLock(t.Context(), req)
			must(t, err)
			kill()
			startServer(t, port, folder, test.settings...)
			req.Owner = "second"
			second, err := p.TryLock(t.Context(), req)
			if !test.forgets {
				if !errors.Is(err, lock.ErrHeld) {
					t.Fatalf("a lock that is held must be so after a restart: %v", err)
				}
				must(t, first.Extend(t.Context(), 2*time.Hour))
				return
			}
			must(t, err)
			if second.Token() <= first.Token() {
				t.Errorf("token %d came after %d", second.Token(), first.Token())
			}
			if err := first.Extend(t.Context(), 2*time.Hour); !errors.Is(err, lock.ErrLost) {
				t.Errorf("the holder whose lock was forgotten must hear of it: %v", err)
			}
		})
	}
}
