package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/hourbelltest"

	"github.com/hourbell/hourbell"
)

// start returns a kit in which the program runs, at the beginning of a year. sent are the mails.
func start(t *testing.T, send func(to string) error) (kit *hourbelltest.Kit, sent *[]string) {
	t.Helper()
	kit = hourbelltest.New(t, hourbell.Config{}, hourbelltest.StartAt(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	sent = new([]string)
	var mu sync.Mutex // workers run concurrently
	b := &billing{
		customers: func(context.Context) ([]string, error) { return []string{"ada", "eve"}, nil },
		send: func(_ context.Context, to, month string) error {
			mu.Lock()
			defer mu.Unlock()
			*sent = append(*sent, fmt.Sprintf("%s %s at %s", to, month, kit.Now().Format(time.DateTime)))
			return send(to)
		},
	}
	client, err := b.newClient(t.Context(), kit.Backend)
	if err != nil {
		t.Fatal(err)
	}
	kit.Run(client)
	return kit, sent
}

// TestAQuarter lets a quarter pass, over a change of the clocks.
func TestAQuarter(t *testing.T) {
	kit, sent := start(t, func(string) error { return nil })
	kit.TravelTo(time.Date(2026, 4, 15, 0, 0, 0, 0, time.UTC))
	slices.Sort(*sent)
	want := []string{
		"ada 2025-12 at 2026-01-01 08:00:00", "ada 2026-01 at 2026-02-02 08:00:00", "ada 2026-02 at 2026-03-02 08:00:00", "ada 2026-03 at 2026-04-01 07:00:00",
		"eve 2025-12 at 2026-01-01 08:00:00", "eve 2026-01 at 2026-02-02 08:00:00", "eve 2026-02 at 2026-03-02 08:00:00", "eve 2026-03 at 2026-04-01 07:00:00",
	}
	if !slices.Equal(*sent, want) {
		t.Errorf("sent %q\nwant %q", *sent, want)
	}
}

// TestTheMailServerIsDown checks that an invoice is sent when the mail server is back, and that the
// other customer has one mail.
func TestTheMailServerIsDown(t *testing.T) {
	down := true
	kit, sent := start(t, func(to string) error {
		if to == "eve" && down {
			return errors.New("connection refused")
		}
		return nil
	})
	kit.Advance(10 * time.Hour)
	kit.RequireEnqueued(Invoice{To: "ada", Month: "2025-12"})
	kit.RequireEnqueued(Invoice{To: "eve", Month: "2025-12"})
	down = false
	if attempts := kit.Drain(); len(attempts) != 1 || attempts[0].Err != nil {
		t.Errorf("%v, want one attempt that completes", attempts)
	}
	if n := len(slices.DeleteFunc(*sent, func(mail string) bool { return mail[:3] != "ada" })); n != 1 {
		t.Errorf("ada has %d mails", n)
	}
}

// TestAMonthIsMadeTwice checks that a second attempt at the job of a month sends nothing twice.
func TestAMonthIsMadeTwice(t *testing.T) {
	kit, sent := start(t, func(string) error { return nil })
	kit.Advance(24 * time.Hour)
	if _, err := kit.Client.Schedules.Trigger(t.Context(), "invoices"); err != nil {
		t.Fatal(err)
	}
	kit.RunDue()
	if len(*sent) != 2 {
		t.Errorf("%d mails, want one for each customer: %q", len(*sent), *sent)
	}
}
