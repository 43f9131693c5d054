package hourbell_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// shop has jobs that make a callback URL and wait for its answer.
type shop struct {
	t      *testing.T
	client *hourbell.Client
	ahead  atomic.Int64 // by how much the store's clock is ahead
	urls   chan string
	run    func() // the node
}

// newShop makes a node whose URLs are valid for a minute.
func newShop(t *testing.T, keys ...string) *shop {
	t.Helper()
	s := &shop{t: t, urls: make(chan string, 10)}
	workers := noteWorkers(func(ctx context.Context, job *hourbell.Job[Note]) error {
		_, err := hourbell.Step(ctx, job, "ask", func(ctx context.Context) (bool, error) {
			url, err := job.CallbackURL(ctx, "payment", time.Minute)
			if err == nil {
				s.urls <- url
			}
			return true, err
		})
		if err != nil {
			return err
		}
		paid, err := hourbell.Wait[int](ctx, job, "payment", 0)
		if err != nil {
			return err
		}
		return job.SetResult(paid)
	})
	c := &cluster{t: t, store: memory.New(memory.WithClock(func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }))}
	s.client = c.client(workers, func(config *hourbell.Config) {
		config.Callbacks = hourbell.Callbacks{URL: "https://shop.example.org/callbacks/", Keys: bytesOf(keys)}
	})
	s.run = sync.OnceFunc(func() { c.run(s.client) })
	return s
}

func bytesOf(texts []string) (all [][]byte) {
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all
}

// order enqueues a job, and returns the token of its URL.
func (s *shop) order() (id int64, token string) {
	s.t.Helper()
	s.run()
	job, err := s.client.Enqueue(s.t.Context(), Note{})
	if err != nil {
		s.t.Fatal(err)
	}
	token, ok := strings.CutPrefix(<-s.urls, "https://shop.example.org/callbacks/")
	if !ok {
		s.t.Fatalf("the URL is %q", token)
	}
	return job.ID, token
}

func (s *shop) answer(token string, value any) error {
	return s.client.Signals.Answer(s.t.Context(), token, value)
}

const (
	keyOfTests  = "a key of the tests, and of no node"
	otherKey    = "another key, which signs nothing at all"
	tooShortKey = "short"
)

func TestACallbackIsAnsweredOnce(t *testing.T) {
	s := newShop(t, keyOfTests)
	id, token := s.order()
	if err := s.answer(token, 12); err != nil {
		t.Fatal(err)
	}
	if err := s.answer(token, 13); !errors.Is(err, hourbell.ErrAnswered) && !errors.Is(err, hourbell.ErrJobEnded) {
		t.Errorf("a second answer: %v", err)
	}
	eventually(t, "the job completes", func() bool { return state(t, s.client, id) == store.StateCompleted })
	if job, err := s.client.Jobs.Get(t.Context(), id); err != nil || string(job.Result) != "12" {
		t.Errorf("the result is %s (%v)", job.Result, err)
	}
	entries, err := s.client.Audit.List(t.Context(), hourbell.AuditFilter{})
	if err != nil || len(entries) != 1 {
		t.Errorf("the audit has %v (%v)", entries, err)
	}
}

// TestCallbacksThatNoKeySigned changes each part of a token, and the key.
func TestCallbacksThatNoKeySigned(t *testing.T) {
	s := newShop(t, keyOfTests)
	_, token := s.order()
	tokens := []string{"", "x", strings.Repeat("A", 4000), token + "A", token[:len(token)-1], strings.ToUpper(token), token + "="}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		text[i] ^= 1
		tokens = append(tokens, base64.RawURLEncoding.EncodeToString(text))
		text[i] ^= 1
	}
	for _, changed := range tokens {
		if err := s.answer(changed, 1); !errors.Is(err, hourbell.ErrNoCallback) {
			t.Errorf("%q: %v", changed, err)
		}
	}
	strange := newShop(t, otherKey)
	if err := strange.answer(token, 1); !errors.Is(err, hourbell.ErrNoCallback) {
		t.Errorf("with another key: %v", err)
	}
}

// TestAKeyIsReplaced: URLs of the key before are answered while the key is in the list.
func TestAKeyIsReplaced(t *testing.T) {
	s := newShop(t, otherKey, keyOfTests)
	_, token := s.order()
	before := newShop(t, keyOfTests)
	if err := before.answer(token, 1); !errors.Is(err, hourbell.ErrNoCallback) {
		t.Errorf("the first key does not sign: %v", err)
	}
	after := newShop(t, keyOfTests, otherKey)
	if err := after.answer(token, 1); errors.Is(err, hourbell.ErrNoCallback) {
		t.Errorf("the second key is not accepted: %v", err)
	}
}

// TestCallbacksThatExpire: a URL counts by the store's clock, and for the job that made it, not for another job with its number.
func TestCallbacksThatExpire(t *testing.T) {
	s := newShop(t, keyOfTests)
	_, token := s.order()
	s.ahead.Store(int64(time.Minute))
	if err := s.answer(token, 1); !errors.Is(err, hourbell.ErrExpired) {
		t.Errorf("after a minute: %v", err)
	}
	s.ahead.Store(0)
	other := newShop(t, keyOfTests)
	id, _ := other.order()
	if err := other.answer(token, 1); id != 1 || !errors.Is(err, hourbell.ErrExpired) {
		t.Errorf("for job %d of another store: %v", id, err)
	}
	if err := s.answer(token, 1); err != nil {
		t.Errorf("in time: %v", err)
	}
}

func TestCallbacksThatCannotBeMade(t *testing.T) {
	for _, c := range []struct {
		with hourbell.Callbacks
		has  string
	}{
		{hourbell.Callbacks{Keys: bytesOf([]string{tooShortKey})}, "shorter than 32 bytes"},
		{hourbell.Callbacks{URL: "https://shop.example.org"}, "keys are missing"},
		{hourbell.Callbacks{URL: "shop.example.org", Keys: bytesOf([]string{keyOfTests})}, "is not an address"},
		{hourbell.Callbacks{URL: "https://shop.example.org/?a=b", Keys: bytesOf([]string{keyOfTests})}, "is not an address"},
	} {
		_, err := hourbell.New(memory.New(), hourbell.Config{Callbacks: c.with})
		if err == nil || !strings.Contains(err.Error(), c.has) || strings.Contains(err.Error(), tooShortKey+"\"") {
			t.Errorf("%q: %v, want %q", c.with.URL, err, c.has)
		}
	}
	failed := make(chan error, 10)
	c := newCluster(t)
	client := c.client(noteWorkers(func(ctx context.Context, job *hourbell.Job[Note]) error {
		_, err := job.CallbackURL(ctx, "payment", time.Minute)
		failed <- err
		_, err = job.CallbackURL(ctx, "", 0)
		failed <- err
		return nil
	}))
	c.run(client)
	if _, err := client.Enqueue(t.Context(), Note{}); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "set Config.Callbacks") {
		t.Errorf("without settings: %v", err)
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "signal") || !strings.Contains(err.Error(), "validity") {
		t.Errorf("with bad values: %v", err)
	}
}
