package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/drivers/sqlite"
)

// TestTwoNodes lets two nodes send the digests of many users: each user gets one mail for each slot.
func TestTwoNodes(t *testing.T) {
	const users, slots = 20, 3
	file := filepath.Join(t.TempDir(), "mailer.db")
	var mu sync.Mutex
	sent := map[string]map[time.Time]int{}
	enough := make(chan struct{})
	const gone = "gone@example.org"
	var last time.Time // the last slot for which gone may get a mail: a slot may come due before gone unsubscribes
	send := func(to string, slot time.Time) error {
		mu.Lock()
		defer mu.Unlock()
		if to == gone {
			if slot.After(last) {
				t.Errorf("%s got a mail for %v", to, slot)
			}
			return nil
		}
		if sent[to] == nil {
			sent[to] = map[time.Time]int{}
		}
		sent[to][slot]++
		if len(sent) < users {
			return nil
		}
		for _, mails := range sent {
			if len(mails) < slots {
				return nil
			}
		}
		select {
		case <-enough:
		default:
			close(enough)
		}
		return nil
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 2)
	for node := range 2 {
		backend, err := sqlite.Open(ctx, file)
		must(t, err)
		defer backend.Close()
		m, err := newMailer(backend, send)
		must(t, err)
		must(t, m.client.Migrate(ctx))
		if node == 0 {
			for i := range users {
				must(t, m.subscribe(ctx, fmt.Sprintf("user%d@example.org", i), "* * * * * *", "Europe/Prague"))
			}
			must(t, m.subscribe(ctx, gone, "* * * * * *", "UTC"))
			must(t, m.unsubscribe(ctx, gone))
			last = time.Now()
			if err := m.subscribe(ctx, "odd@example.org", "61 * * * *", "UTC"); err == nil || !strings.Contains(err.Error(), "minute") {
				t.Errorf("a minute 61: %v", err)
			}
		}
		go func() { ended <- m.client.Run(ctx) }()
	}
	select {
	case <-enough:
	case <-time.After(time.Minute):
	}
	stop()
	must(t, <-ended)
	must(t, <-ended)
	for user, mails := range sent {
		for slot, n := range mails {
			if n != 1 {
				t.Errorf("%s got %d mails for %v", user, n, slot)
			}
		}
		if len(mails) < slots {
			t.Errorf("%s got %d mails", user, len(mails))
		}
	}
	if len(sent) != users {
		t.Errorf("%d users got mails, want %d", len(sent), users)
	}
}

// TestCommands runs the commands, and refuses others.
func TestCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mailer.db")
	for _, c := range []struct {
		args string
		ok   bool
	}{
		{"subscribe ada@example.org @daily Europe/Prague", true},
		{"subscribe ada@example.org @daily Europe/Nowhere", false},
		{"unsubscribe ada@example.org", true},
		{"unsubscribe", false},
	} {
		if err := run(t.Context(), file, strings.Fields(c.args), t.Output()); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.args, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
