package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// listening starts Listen and waits until it listens.
func listening(t *testing.T, b *Backend) (wakes chan store.Wake, ended chan error) {
	t.Helper()
	wakes, ended = make(chan store.Wake, 100), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() { ended <- b.Listen(ctx, func(w store.Wake) { wakes <- w }) }()
	select {
	case w := <-wakes:
		if w.Kind != store.WakeAll {
			t.Fatalf("Listen began with %+v", w)
		}
	case err := <-ended:
		t.Fatal(err)
	case <-time.After(10 * time.Second):
		t.Fatal("Listen does not begin")
	}
	return wakes, ended
}

func wantWake(t *testing.T, wakes chan store.Wake, want store.Wake) {
	t.Helper()
	select {
	case got := <-wakes:
		if got != want {
			t.Errorf("woken by %+v, want %+v", got, want)
		}
	case <-time.After(5 * time.Second):
		t.Errorf("no wake-up, want %+v", want)
	}
}

func TestWakeNamesTheQueue(t *testing.T) {
	b := fresh(t)
	wakes, _ := listening(t, b)
	jobs := noop(3)
	for i := range jobs {
		jobs[i].Queue = "naïve queue'"
	}
	_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
	must(t, err)
	wantWake(t, wakes, store.Wake{Kind: store.WakeJobs, Queue: "naïve queue'"})
	jobs[1].Queue = "q"
	_, err = b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
	must(t, err)
	wantWake(t, wakes, store.Wake{Kind: store.WakeJobs})
}

func TestListenSaysThatItsConnectionBroke(t *testing.T) {
	b := fresh(t)
	_, ended := listening(t, b)
	execute(t, `select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen "`+b.channel+`"' and pid <> pg_backend_pid()`)
	select {
	case err := <-ended:
		if err == nil || errors.Is(err, store.ErrNoPush) {
			t.Errorf("Listen ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("Listen does not end when its connection breaks")
	}
}

func TestListenIsDeafThroughPgBouncer(t *testing.T) {
	b := openAt(t, urlFrom(t, bouncerVariable), newSchema(t))
	start := time.Now()
	err := b.Listen(t.Context(), func(w store.Wake) { t.Errorf("woken by %+v", w) })
	if !errors.Is(err, store.ErrNoPush) || !strings.Contains(err.Error(), "pooler") {
		t.Errorf("Listen through a pooler ended with %v", err)
	}
	if took := time.Since(start); took > probeTime+2*time.Second {
		t.Errorf("it took %v to find out", took)
	}
}

func TestListenURL(t *testing.T) {
	direct := urlFrom(t, serverVariable)
	b := openAt(t, urlFrom(t, bouncerVariable), newSchema(t), ListenURL(direct))
	migrate(t, b)
	wakes, _ := listening(t, b)
	insertN(t, b, 1)
	wantWake(t, wakes, store.Wake{Kind: store.WakeJobs, Queue: "q"})
}

// TestListenURLIsExplained checks that a URL for listening through which nothing arrives, or which
// cannot be read, is named with its remedy.
func TestListenURLIsExplained(t *testing.T) {
	b := openAt(t, urlFrom(t, serverVariable), newSchema(t), ListenURL(urlFrom(t, bouncerVariable)))
	err := b.Listen(t.Context(), func(store.Wake) {})
	if !errors.Is(err, store.ErrNoPush) || !strings.Contains(err.Error(), "the URL for listening seems to name another database") || !strings.Contains(err.Error(), "--notify-url") {
		t.Errorf("Listen through a pooler ended with %v", err)
	}
	_, err = Open(t.Context(), urlFrom(t, serverVariable), ListenURL("postgres://u:hunter2@h/db?sslmode=hunter2"))
	if err == nil || !strings.Contains(err.Error(), "the URL for listening") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Open with a URL that cannot be read: %v", err)
	}
}

func TestChannelNames(t *testing.T) {
	long := channelOf(strings.Repeat("é", 31))
	if len(long) > 63 || long == channelOf(strings.Repeat("e", 62)) {
		t.Errorf("channel of a long schema name: %q", long)
	}
	if channelOf("a") == channelOf("b") {
		t.Error("two schemas share a channel")
	}
}
