package mysql

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// TestStatementsOfIdleCalls pins how many statements the server gets for each call that a node without work repeats.
func TestStatementsOfIdleCalls(t *testing.T) {
	storeURL, _ := newDatabase(t, "")
	w, through := throughWire(t, storeURL)
	b := openStore(t, through)
	migrate(t, b)
	node := register(t, b, time.Hour)
	ctx := t.Context()
	_, err := b.Insert(ctx, store.InsertRequest{Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 5}, Delay: time.Hour}}})
	must(t, err)
	must(t, b.Flush(ctx))
	claim := store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 5}
	suspects := claim
	suspects.Suspects = true
	keep := time.Hour
	for _, call := range []struct {
		name string
		most int
		do   func() error
	}{
		{"look for wake-ups", 1, func() error { _, err := b.readWakes(ctx); return err }},
		{"claim", 1, func() error {
			res, err := b.Claim(ctx, claim)
			if err == nil && (res.NextDue.Sub(res.Now) < 50*time.Minute || res.NextDue.Sub(res.Now) > time.Hour || !res.NoSuspects) {
				t.Errorf("the answer to the claim is %+v", res)
			}
			return err
		}},
		{"claim of suspects", 1, func() error { _, err := b.Claim(ctx, suspects); return err }},
		{"heartbeat", 2, func() error { _, err := b.Heartbeat(ctx, store.HeartbeatRequest{Node: node}); return err }},
		{"read due schedules", 1, func() error { _, err := b.DueSchedules(ctx, store.DueSchedulesRequest{Limit: 500}); return err }},
		{"read claims", 1, func() error { _, err := b.Claims(ctx, store.ClaimsRequest{Node: node}); return err }},
		{"prune", 1, func() error {
			_, err := b.Prune(ctx, store.PruneRequest{Completed: keep, Failed: keep, Slots: keep, Nodes: keep, Audit: keep, Limit: 100})
			return err
		}},
		{"recount permits", 1, func() error {
			_, err := b.RecountPermits(ctx, store.RecountRequest{Node: node, Limit: 100})
			return err
		}},
	} {
		must(t, b.numberEvents(ctx))
		w.take()
		must(t, call.do())
		if sent := w.take(); len(sent) > call.most {
			t.Errorf("%s: %d statements, want %d at most:\n%s", call.name, len(sent), call.most, strings.Join(sent, "\n\n"))
		}
	}
}

// TestTheRateOfAnIdleNode: with the defaults, and the statements of TestStatementsOfIdleCalls, a node with one queue and the place of its
// host sends at most two statements a second.
func TestTheRateOfAnIdleNode(t *testing.T) {
	const lookedFor, beats, polls, minutely = 1, 2, 3, 3 // a queue, the queue of a place, and schedules are polled at intervals of 9 s or longer
	perSecond := lookedFor/idleLook.Seconds() + beats/5.0 + polls/9.0 + minutely/30.0
	if perSecond > 2 {
		t.Errorf("an idle node sends %.2f statements a second", perSecond)
	}
}

// TestAnIdleNodeSendsFewStatements watches what a node sends while it has no work: only statements that are transactions of their
// own, and no more of them than the intervals of its loops allow. A slow machine makes them fewer.
func TestAnIdleNodeSendsFewStatements(t *testing.T) {
	storeURL, _ := newDatabase(t, "")
	w, through := throughWire(t, storeURL)
	b := openStore(t, through)
	migrate(t, b)
	workers := hourbell.NewWorkers()
	workers.Handle("idle", func(context.Context, *hourbell.JobRow) error { return nil })
	const heartbeat = time.Second
	client, err := hourbell.New(b, hourbell.Config{
		Workers: workers, Queues: map[string]int{"q": 5}, Lease: 5 * heartbeat, Heartbeat: heartbeat, Logger: slog.New(slog.DiscardHandler),
	})
	must(t, err)
	_, err = client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "later", Rule: recur.Every(30 * 24 * time.Hour), Job: hourbell.RawArgs{Name: "idle"}, Queue: "q"})
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	t.Cleanup(func() {
		must(t, client.Stop(context.Background()))
		must(t, <-ended)
	})

	beginnings := []string{"SELECT 1 FROM ("} // of session.findsAny
	for _, s := range []statement{readWakes, findWork, extendLease, readHeartbeat, findFirstSchedule, findRecount, sqlrows.ListClaims} {
		beginnings = append(beginnings, beginningOf(b, s))
	}
	var sent []string
	count := func(s statement) (n int) {
		for _, text := range sent {
			if strings.HasPrefix(text, beginningOf(b, s)) {
				n++
			}
		}
		return n
	}
	for sent = w.take(); count(readHeartbeat) < 2; sent = append(sent, w.take()...) { // what it does when it starts
		time.Sleep(10 * time.Millisecond)
	}
	began := time.Now()
	w.take()
	for sent = nil; count(readHeartbeat) < 4; sent = append(sent, w.take()...) {
		time.Sleep(10 * time.Millisecond)
	}
	took := time.Since(began)
	for _, text := range sent {
		if !slices.ContainsFunc(beginnings, func(s string) bool { return strings.HasPrefix(text, s) }) {
			t.Errorf("an idle node sends %q", text)
		}
	}
	for s, interval := range map[statement]time.Duration{readWakes: idleLook, extendLease: heartbeat, readHeartbeat: heartbeat} {
		if n, most := count(s), int(took/interval)+2; n > most {
			t.Errorf("%v: an idle node sends it %d times in %v, want %d times at most", sources[s], n, took, most)
		}
	}
}

// beginningOf returns what the text of a statement begins with.
func beginningOf(b *Backend, s statement) string {
	text := b.texts[s].pieces[0].Code
	return text[:min(len(text), 60)]
}
