package proof

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

// roles are what processes of this binary can play. A test starts them with act.
var roles = map[string]func(*actor) error{
	"clerk":    playClerk,
	"crowd":    playCrowd,
	"reporter": playReporter,
	"enqueuer": playEnqueuer,
	"deaf":     playDeaf,
	"errands":  playErrands,
	"holder":   playMailer,
	"limited":  playLimited,
	"mailer":   playMailer,
	"mortal":   playMortal,
	"node":     playNode,
	"visitor":  playVisitor,
	"voyager":  playVoyager,
}

// actor is a process of this binary that plays a role, with what the test passed to it.
type actor struct {
	*ledger
	ctx     context.Context // ends when the process has to stop
	role    string
	name    string // of the node; empty if the test passed none
	lease   time.Duration
	file    *os.File // the witness
	workers *hourbell.Workers
}

// act starts a process of this binary that plays a role on the store at a URL of the harness. More variables go to its
// environment.
func act(t *testing.T, role, at string, w witness, env ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "HOURBELL_PROOF_ROLE="+role, "HOURBELL_PROOF_URL="+at,
		"HOURBELL_PROOF_LEASE="+lease(t).String(), "HOURBELL_PROOF_WITNESS="+w.path), env...)
	return start(t, cmd)
}

// play makes this test binary play a role.
func play(role string) int {
	if err := playRole(role); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		return 1
	}
	return 0
}

func playRole(role string) error {
	if role == "broken" { // it has no store
		return playBroken()
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	lease, err := time.ParseDuration(os.Getenv("HOURBELL_PROOF_LEASE"))
	if err != nil {
		return err
	}
	l, err := openLedger(ctx, os.Getenv("HOURBELL_PROOF_URL"), os.Getenv("HOURBELL_PROOF_WORKER_URL"))
	if err != nil {
		return err
	}
	defer l.close()
	file, err := os.OpenFile(os.Getenv("HOURBELL_PROOF_WITNESS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	return roles[role](&actor{
		ledger: l, ctx: ctx, role: role, name: os.Getenv("HOURBELL_PROOF_NAME"), lease: lease, file: file, workers: hourbell.NewWorkers(),
	})
}

// say adds a line to the witness. One write of a few bytes to a file that is open for appending is atomic.
func (a *actor) say(format string, args ...any) error {
	_, err := fmt.Fprintf(a.file, format+"\n", args...)
	return err
}

// serve runs a node with the workers of the actor until the process has to stop.
func (a *actor) serve(config hourbell.Config) error {
	config.Name, config.Workers = a.name, a.workers
	if config.Lease == 0 {
		config.Lease = a.lease
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	client, err := hourbell.New(a.backend, config)
	if err != nil {
		return err
	}
	return client.Run(a.ctx)
}

// work takes a time, or ends early with the reason of a context that ends.
func work(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// site is a migrated store on which processes of this binary work.
type site struct {
	t       *testing.T
	at      string // the URL of the store
	ledger  *ledger
	client  *hourbell.Client // of the test; it runs no jobs
	witness witness
}

func newSite(t *testing.T, at string) *site {
	t.Helper()
	run(t, at, "migrate", "up")
	l, err := openLedger(t.Context(), at, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	client, err := hourbell.New(l.backend, hourbell.Config{
		Logger: slog.New(slog.DiscardHandler), Callbacks: hourbell.Callbacks{Keys: callbackKeys()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &site{t: t, at: at, ledger: l, client: client, witness: newWitness(t)}
}

// exec executes statements.
func (s *site) exec(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if err := s.ledger.exec(s.t.Context(), text); err != nil {
			s.t.Fatal(err)
		}
	}
}

// live returns how many jobs have not ended; -1 if this is not known, because a writer holds up others.
func (s *site) live() int64 {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
	defer cancel()
	counts, err := s.client.Queues.List(ctx)
	if err != nil {
		s.t.Log(err)
		return -1
	}
	n := int64(0)
	for _, q := range counts {
		n += q.Ready + q.Running + q.Scheduled + q.Waiting
	}
	return n
}
