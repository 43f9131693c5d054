package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// Voyage is a job of six steps.
type Voyage struct{ Number int }

func (Voyage) Kind() string { return "voyage" }

// porters reports how many children the voyage has.
func (v Voyage) porters() int { return 2 * (v.Number % 3 / 2) }

// Porter is a child of a voyage.
type Porter struct{ Number int }

func (Porter) Kind() string { return "porter" }

// stepTx takes a step whose effect is committed together with the step.
type stepTx func(ctx context.Context, name string, write func(exec func(ctx context.Context, text string, args ...any) error) error) error

// playVoyager is a node that runs voyages: each plans, books, sleeps, waits for its permit, pays,
// waits for its porters if it has any, and has the signal as its result.
func playVoyager(a *actor) error {
	a.voyages(a.workers, func(ctx context.Context, job *hourbell.Job[Voyage], stepTx stepTx) error {
		effect := func(name string) error {
			return stepTx(ctx, name, func(exec func(context.Context, string, ...any) error) error {
				time.Sleep(rand.N(20 * time.Millisecond))
				return exec(ctx, insertErrand, name, job.ID, job.Token, 0)
			})
		}
		_, err := hourbell.Step(ctx, job, "plan", func(ctx context.Context) (string, error) {
			if err := a.say("%d %d", job.ID, job.Token); err != nil {
				return "", err
			}
			return job.CallbackURL(ctx, "permit", time.Hour)
		})
		if err == nil {
			err = effect("book")
		}
		if err == nil {
			err = job.Sleep(ctx, time.Duration(100+job.Args.Number%5*100)*time.Millisecond)
		}
		if err != nil {
			return err
		}
		answer, err := hourbell.Wait[int](ctx, job, "permit", 0)
		if err == nil {
			err = effect("pay")
		}
		if err == nil && job.Args.porters() > 0 {
			err = porters(ctx, job)
		}
		if err != nil {
			return err
		}
		return job.SetResult(answer)
	})
	hourbell.Register(a.workers, func(_ context.Context, job *hourbell.Job[Porter]) error {
		time.Sleep(rand.N(20 * time.Millisecond))
		return job.SetResult(job.Args.Number)
	})
	return a.serve(hourbell.Config{
		Queues: map[string]int{"default": 8}, Callbacks: hourbell.Callbacks{URL: "https://proof.example.org", Keys: callbackKeys()},
	})
}

// porters lets a voyage have children, and checks what it reads of them.
func porters(ctx context.Context, job *hourbell.Job[Voyage]) error {
	requests := make([]hourbell.Request, job.Args.porters())
	for i := range requests {
		requests[i].Args = Porter{job.Args.Number + i}
	}
	if err := job.SpawnMany(ctx, requests, hourbell.MaxAttempts(100)); err != nil {
		return err
	}
	if err := job.WaitChildren(ctx); err != nil {
		return err
	}
	children, err := job.Children(ctx)
	if err == nil && len(children) != len(requests) {
		err = hourbell.Cancel(fmt.Errorf("%d children, want %d", len(children), len(requests)))
	}
	for i, child := range children {
		var number int
		if failed := child.Decode(&number); failed != nil || number != job.Args.Number+i || child.State != store.StateCompleted {
			err = hourbell.Cancel(fmt.Errorf("child %d of the voyage has the result %s: %v", i+1, child.Result, failed))
		}
	}
	return err
}

// callbackKeys are the keys of callback URLs.
func callbackKeys() [][]byte { return [][]byte{[]byte("a key that all nodes of the proofs share")} }

// permit gives a voyage its signal: every second voyage by its callback URL, which is in its first step.
func (s *site) permit(n int, id int64, value int) error {
	ctx := s.t.Context()
	if n%2 == 0 {
		return s.client.Signals.Send(ctx, id, "permit", value)
	}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		steps, err := s.client.Jobs.Steps(ctx, id)
		if err != nil {
			return err
		}
		for _, step := range steps {
			var url string
			if step.Name == "plan" {
				if err := json.Unmarshal(step.Value, &url); err != nil {
					return err
				}
				return s.client.Signals.Answer(ctx, strings.TrimPrefix(url, "https://proof.example.org/"), value)
			}
		}
	}
	return errors.New("the voyage has not begun")
}

// TestStepsHappenOnce (P3): jobs of several steps run on three nodes that are killed again and again, while signals come too early, in
// time and twice. Each effect that is committed with its step is there once, each job has the signal that was accepted, children
// are made once, and all jobs are completed.
//
// HOURBELL_PROOF_VOYAGES is how many jobs there are (60), and a kill comes for each twenty of them.
func TestStepsHappenOnce(t *testing.T) {
	t.Parallel()
	onEachStore(t, allStores, func(t *testing.T, at string) {
		s := newSite(t, at)
		s.exec(makeErrands)
		jobs := voyages(t)
		begun := 0
		begin := func() *process {
			begun++
			return act(t, "voyager", at, s.witness, fmt.Sprintf("HOURBELL_PROOF_NAME=voyager%d", begun))
		}
		nodes := []*process{begin(), begin(), begin()}
		ids := make([]int64, jobs)
		for n := range ids {
			added, err := s.client.Enqueue(t.Context(), Voyage{n}, hourbell.MaxAttempts(100), hourbell.Backoff("constant:100ms"))
			if err != nil {
				t.Fatal(err)
			}
			ids[n] = added.ID
		}
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for _, n := range rand.Perm(jobs) {
				if err := s.permit(n, ids[n], n); err != nil {
					t.Error(err)
				}
				err := s.permit(n, ids[n], -1)
				if !errors.Is(err, hourbell.ErrAnswered) && !errors.Is(err, hourbell.ErrJobEnded) {
					t.Errorf("a second signal to job %d: %v", ids[n], err)
				}
				time.Sleep(rand.N(40 * time.Millisecond))
			}
		}()
		for range max(jobs/20, 3) {
			time.Sleep(lease(t) / 4)
			n := rand.IntN(len(nodes))
			nodes[n].kill()
			nodes[n] = begin()
		}
		<-sent
		until(t, 2*time.Minute+time.Duration(jobs)*50*time.Millisecond, "all jobs to end", func() bool { return s.live() == 0 })
		for _, node := range nodes { // a node may still be starting, so that it cannot be asked to stop
			node.kill()
		}
		made := 0
		for n := range ids {
			made += Voyage{n}.porters()
		}
		all := []store.State{store.StateCompleted, store.StateFailed, store.StateCancelled, store.StateNotStarted}
		if found, err := s.client.Jobs.Count(t.Context(), hourbell.JobFilter{Kind: "porter", States: all}); err != nil || found != int64(made) {
			t.Errorf("%d porters were made, want %d: %v", found, made, err)
		}
		effects := map[string]int{}
		err := s.ledger.each(t.Context(), "SELECT name, job, token FROM errand", func(name string, job, _ int64) { effects[fmt.Sprint(name, " ", job)]++ })
		if err != nil {
			t.Fatal(err)
		}
		for n, id := range ids {
			job, err := s.client.Jobs.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if job.State != store.StateCompleted || effects[fmt.Sprint("book ", id)] != 1 || effects[fmt.Sprint("pay ", id)] != 1 {
				t.Errorf("job %d is %v with the effects %v", id, job.State, effects)
			}
			if got := strings.TrimSpace(string(job.Result)); got != strconv.Itoa(n) {
				t.Errorf("job %d has the signal %s, and %d was accepted", id, got, n)
			}
		}
		t.Logf("%d jobs, %d processes, %d plans", jobs, begun, len(s.witness.lines()))
	})
}

// voyages returns how many jobs TestStepsHappenOnce has.
func voyages(t *testing.T) int {
	t.Helper()
	text := os.Getenv("HOURBELL_PROOF_VOYAGES")
	if text == "" {
		return 60
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("HOURBELL_PROOF_VOYAGES: %v", err)
	}
	return n
}
