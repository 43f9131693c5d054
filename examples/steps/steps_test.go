package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/api"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/hourbelltest"
	"github.com/hourbell/hourbell/store"
)

// enqueue enqueues a job, and lets it run.
func enqueue(t *testing.T, kit *hourbelltest.Kit, args hourbell.Args) (id int64) {
	t.Helper()
	job, err := kit.Client.Enqueue(t.Context(), args)
	must(t, err)
	kit.RunDue()
	return job.ID
}

// requireState fails the test unless a job has a state.
func requireState(t *testing.T, kit *hourbelltest.Kit, id int64, want store.State) {
	t.Helper()
	job, err := kit.Client.Jobs.Get(t.Context(), id)
	must(t, err)
	if job.State != want {
		t.Errorf("job %d is %s, want %s", id, job.State, want)
	}
}

// TestSignup lets three days pass. The first reminder fails, and is tried again without a further sleep.
func TestSignup(t *testing.T) {
	var sent []string
	down := true
	s := &shop{remind: func(_ context.Context, to string) error {
		if down {
			return errors.New("the mail server is down")
		}
		sent = append(sent, to)
		return nil
	}}
	kit := hourbelltest.New(t, hourbell.Config{Workers: s.workers()})
	id := enqueue(t, kit, Signup{Email: "ada@example.org"})
	if attempts := kit.Advance(71 * time.Hour); len(attempts) > 0 {
		t.Errorf("after 71 hours: %v", attempts)
	}
	if attempts := kit.Advance(time.Hour); len(attempts) != 1 || attempts[0].Result != store.Retry {
		t.Errorf("after 72 hours: %v", attempts)
	}
	down = false
	kit.Advance(time.Minute)
	kit.Advance(30 * 24 * time.Hour)
	requireState(t, kit, id, store.StateCompleted)
	if !slices.Equal(sent, []string{"ada@example.org"}) {
		t.Errorf("reminders to %q", sent)
	}
}

// orders is a shop that records what its orders do.
type orders struct {
	shop
	asked, shipped []string
	urls           []string
}

func newOrders() *orders {
	o := new(orders)
	o.askForApproval = func(context.Context, int64) error { o.asked = append(o.asked, "approval"); return nil }
	o.requestPayment = func(_ context.Context, _ int64, url string) error {
		o.asked, o.urls = append(o.asked, "payment"), append(o.urls, url)
		return nil
	}
	o.ship = func(_ context.Context, number string, payment Payment) error {
		o.shipped = append(o.shipped, number+" for "+payment.Number)
		return nil
	}
	return o
}

// start starts a kit whose callbacks are answered over HTTP.
func (o *orders) start(t *testing.T) *hourbelltest.Kit {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewUnstartedServer(mux)
	kit := hourbelltest.New(t, hourbell.Config{Workers: o.workers(), Callbacks: hourbell.Callbacks{
		URL:  "http://" + server.Listener.Addr().String() + "/callbacks",
		Keys: [][]byte{[]byte("a key of thirty-two random bytes")},
	}})
	mux.Handle("POST /callbacks/{token}", api.Callbacks(kit.Client, nil))
	server.Start()
	t.Cleanup(server.Close)
	return kit
}

// pay is the call of the payment provider. It returns the status.
func pay(t *testing.T, url, payment string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(payment))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	must(t, response.Body.Close())
	return response.StatusCode
}

// TestOrder approves an order after two days, pays it by its callback URL, and pays it again.
func TestOrder(t *testing.T) {
	o := newOrders()
	kit := o.start(t)
	id := enqueue(t, kit, Order{Number: "17", Amount: 4200})
	kit.Advance(48 * time.Hour)
	kit.Signal(id, "approval", Approval{By: "ann", Granted: true})
	if !slices.Equal(o.asked, []string{"approval", "payment"}) || len(o.shipped) > 0 {
		t.Fatalf("asked for %q, shipped %q", o.asked, o.shipped)
	}
	kit.Advance(48 * time.Hour)
	if status := pay(t, o.urls[0], `{"number": "p-1"}`); status != http.StatusNoContent {
		t.Errorf("the payment is answered with %d", status)
	}
	kit.RunDue()
	requireState(t, kit, id, store.StateCompleted)
	if !slices.Equal(o.asked, []string{"approval", "payment"}) || !slices.Equal(o.shipped, []string{"17 for p-1"}) {
		t.Errorf("asked for %q, shipped %q", o.asked, o.shipped)
	}
	if status := pay(t, o.urls[0], `{"number": "p-2"}`); status != http.StatusConflict {
		t.Errorf("the second payment is answered with %d", status)
	}
}

// TestOrdersThatEnd has an order that is refused, an order without an approval, and an order that is not paid.
func TestOrdersThatEnd(t *testing.T) {
	o := newOrders()
	kit := o.start(t)
	refused := enqueue(t, kit, Order{Number: "1"})
	forgotten := enqueue(t, kit, Order{Number: "2"})
	unpaid := enqueue(t, kit, Order{Number: "3"})
	kit.Signal(refused, "approval", Approval{By: "ann"})
	requireState(t, kit, refused, store.StateCancelled)
	kit.Signal(unpaid, "approval", Approval{By: "ann", Granted: true})
	kit.Advance(7 * 24 * time.Hour)
	requireState(t, kit, forgotten, store.StateCancelled)
	if status := pay(t, o.urls[0], `{"number": "p-3"}`); status != http.StatusGone {
		t.Errorf("a payment after three days is answered with %d", status)
	}
	kit.Advance(30 * 24 * time.Hour)
	requireState(t, kit, unpaid, store.StateFailed)
	if len(o.shipped) > 0 {
		t.Errorf("shipped %q", o.shipped)
	}
}

// imports are rows, and how often each of them was imported.
type imports struct {
	shop
	times []uint8 // by the number of the row
	done  func(ctx context.Context, last int64) error
}

func newImports(rows int64) *imports {
	i := &imports{times: make([]uint8, rows+1)}
	i.readRows = printing(rows, io.Discard).readRows
	i.importRows = func(ctx context.Context, rows []row) error {
		last := rows[len(rows)-1].Number
		if err := i.done(ctx, last); err != nil {
			return err
		}
		for _, row := range rows {
			i.times[row.Number]++
		}
		return nil
	}
	return i
}

// counts returns how many rows were imported so often.
func (i *imports) counts() map[uint8]int {
	counts := map[uint8]int{}
	for _, times := range i.times[1:] {
		counts[times]++
	}
	return counts
}

// TestImportThatFails imports each row once, though the database is away in the middle.
func TestImportThatFails(t *testing.T) {
	i := newImports(1_000_000)
	away := true
	i.done = func(_ context.Context, last int64) error {
		if last > 400_000 && away {
			away = false
			return errors.New("the database is away")
		}
		return nil
	}
	kit := hourbelltest.New(t, hourbell.Config{Workers: i.workers()}, hourbelltest.Patience(time.Minute))
	id := enqueue(t, kit, Import{File: "rows.csv"})
	kit.Drain()
	requireState(t, kit, id, store.StateCompleted)
	if counts := i.counts(); counts[1] != 1_000_000 {
		t.Errorf("rows by how often they were imported: %v", counts)
	}
}

// TestImportThatDies kills the node in the middle: the import goes on at its last cursor.
func TestImportThatDies(t *testing.T) {
	i := newImports(10_000_000)
	var kit *hourbelltest.Kit
	var kept, resumed int64 // the cursor when the node dies, and the first rows after it
	i.done = func(ctx context.Context, last int64) error {
		switch {
		case kept > 0 && resumed == 0:
			resumed = last
		case kept == 0 && last > 4_000_000:
			if kept = cursor(t, kit); kept > 0 {
				return hourbelltest.Sleep(ctx, time.Hour) // the node dies here
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	}
	kit = hourbelltest.New(t, hourbell.Config{Workers: i.workers()}, hourbelltest.Patience(time.Minute))
	id := enqueue(t, kit, Import{File: "rows.csv"})
	kit.KillNode(id)
	kit.Drain()
	requireState(t, kit, id, store.StateCompleted)
	if kept == 0 || resumed != kept+1000 {
		t.Errorf("the import goes on at %d, and its cursor was %d", resumed, kept)
	}
	if counts := i.counts(); counts[0] > 0 || counts[1]+counts[2] != 10_000_000 {
		t.Errorf("rows by how often they were imported: %v", counts)
	}
}

// cursor returns the stored cursor of the import; 0: none.
func cursor(t *testing.T, kit *hourbelltest.Kit) (last int64) {
	for _, job := range hourbelltest.Jobs[Import](kit) {
		steps, err := kit.Client.Jobs.Steps(t.Context(), job.ID)
		must(t, err)
		for _, step := range steps {
			for _, digit := range step.Value {
				last = 10*last + int64(digit-'0')
			}
		}
	}
	return last
}

// TestRun runs the program, approves its order, and pays at the URL that it prints.
func TestRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	file := filepath.Join(t.TempDir(), "shop.db")
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, file, "127.0.0.1:0", 5000, in)
		in.Close()
		ended <- err
	}()
	var last string
	imported := false
	url := regexp.MustCompile(`http://\S+`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch last = lines.Text(); {
		case strings.HasPrefix(last, "approve it:"):
			backend, err := sqlite.Open(ctx, file)
			must(t, err)
			client, err := hourbell.New(backend, hourbell.Config{})
			must(t, err)
			_, err = client.Signals.SendToKey(ctx, "order-17", "approval", Approval{By: "ann", Granted: true})
			for errors.Is(err, hourbell.ErrNotFound) { // it has not begun to wait
				_, err = client.Signals.SendToKey(ctx, "order-17", "approval", Approval{By: "ann", Granted: true})
			}
			must(t, err)
			must(t, backend.Close())
		case strings.HasPrefix(last, "pay "):
			if status := pay(t, url.FindString(last), `{"number": "p-1"}`); status != http.StatusNoContent {
				t.Errorf("the payment is answered with %d", status)
			}
		case strings.HasPrefix(last, "rows to 5000"):
			imported = true
		}
		if imported && strings.HasPrefix(last, "order ") {
			stop()
		}
	}
	if err := <-ended; err != nil || last != "order 17 shipped, payment p-1" {
		t.Errorf("%v, the last line is %q", err, last)
	}
}

// TestThePageHasThisCode compares the workers with docs/steps.md.
func TestThePageHasThisCode(t *testing.T) {
	code, err := os.ReadFile("shop.go")
	must(t, err)
	page, err := os.ReadFile("../../docs/steps.md")
	must(t, err)
	n := 0
	for _, block := range strings.Split(string(page), "```go\n") {
		block, _, _ = strings.Cut(block, "```")
		if strings.HasPrefix(block, "func (s *shop)") {
			n++
			if !strings.Contains(string(code), block) {
				t.Errorf("shop.go does not have\n%s", block)
			}
		}
	}
	if n != 4 {
		t.Errorf("the page has %d functions of the shop, want 4", n)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
