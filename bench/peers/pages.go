package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/recur"
)

//go:embed pages.sql
var pagesFill string

// The rows of the cells "pages" and "pages-drain" that are not an address.
const (
	tenBrowsers = "ten browsers, all pages"
	noPage      = "no page open"
	tenPages    = "ten pages open"
)

// How often a row requests its address.
const pageRequests = 40

// The pause before each request of the overview, which is kept for all viewers for a second, and
// for twenty times as long as it was read: after the pause a request reads the store.
const (
	leastPause  = 2 * time.Second
	pauseFactor = 25
)

// storedSchedule is a schedule of the filled store.
const storedSchedule = "team%201/schedule%20101"

// pageAddresses are the pages that are measured. {jobs} is the number of jobs of the store.
var pageAddresses = []string{
	"/", "/jobs", "/jobs?state=failed", "/jobs?state=running", "/jobs?state=retrying", "/jobs?kind=rare",
	"/jobs?queue=queue%203&state=completed", "/jobs?error=exit&finished-since=1h",
	"/job?id={jobs}", "/schedules", "/schedules?owner=file%207", "/schedules?group=group%2010",
	"/schedule?name=" + storedSchedule, "/whatif?name=" + storedSchedule,
	"/slots", "/slots?schedule=" + storedSchedule, "/queues", "/groups", "/nodes", "/calendars",
	"/calendar?name=calendar%2010", "/batches", "/events", "/locks", "/audit",
}

// listAddresses are the lists of the API that are measured.
var listAddresses = []string{
	"/api/v1/jobs", "/api/v1/jobs?state=failed", "/api/v1/jobs?kind=rare", "/api/v1/jobs?unique=none",
	"/api/v1/jobs/count", "/api/v1/jobs/count?state=completed&kind=kind%203",
	"/api/v1/schedules", "/api/v1/schedules?group=group%2010", "/api/v1/slots", "/api/v1/slots?schedule=" + storedSchedule,
	"/api/v1/slots?group=group%2010", "/api/v1/slots?from={soon}",
	"/api/v1/queues", "/api/v1/groups", "/api/v1/nodes", "/api/v1/calendars", "/api/v1/batches", "/api/v1/locks", "/api/v1/audit",
}

// searchAddresses are the page and the list of jobs by a value in their arguments, which no index has. They look for jobs for 300 ms at most.
var searchAddresses = []string{"/jobs?args=number%3D77777", "/api/v1/jobs?args=number%3D77777"}

// openPages are the pages that are open while jobs are worked, each with its stream of changes.
var openPages = []string{
	"/", "/", "/jobs", "/jobs?state=running", "/queues", "/nodes", "/schedules", "/schedule?name=" + storedSchedule, "/slots", "/events",
}

// pagesCells measure the pages and the API of a process `hourbell serve` over a large store, and
// what open pages cost the jobs.
func (b *bench) pagesCells() []cell {
	pages := cell{
		name: "pages",
		title: fmt.Sprintf("The first byte of each page and of each list of the API, with %s jobs, %s schedules and %s slots in the store",
			thousands(b.env.stored), thousands(b.env.stored/10), thousands(10*b.env.stored)),
		metrics: []string{"p50 ms", "p95 ms", "max ms", "MB at the start", "MB"},
		rows:    []row{{tenBrowsers, b.allPages}}, once: true,
	}
	for _, address := range slices.Concat(pageAddresses, listAddresses, searchAddresses) {
		pages.rows = append(pages.rows, b.pageRow(address))
	}
	drains := cell{
		name:    "pages-drain",
		title:   fmt.Sprintf("Drain %s no-op jobs in the same store, while pages are open and change", thousands(b.env.jobs)),
		metrics: throughput, yardsticks: []string{noPage},
		rows: []row{
			{noPage, func(ctx context.Context) (metrics, error) { return b.drainBeside(ctx, nil) }},
			{tenPages, func(ctx context.Context) (metrics, error) { return b.drainBeside(ctx, openPages) }},
		},
	}
	return []cell{pages, drains, b.loadCell()}
}

// pageGoals are the goals of each page, and of each list of the API.
func pageGoals() (list []goal) {
	for _, address := range pageAddresses {
		list = append(list, goal{text: "first byte of " + address + ", p95", cell: "pages", row: address, metric: "p95 ms", most: 150})
	}
	for _, address := range listAddresses {
		list = append(list, goal{text: "first byte of " + address + ", p95", cell: "pages", row: address, metric: "p95 ms", most: 100})
	}
	for _, address := range searchAddresses {
		list = append(list, goal{text: "first byte of " + address + ", p95", cell: "pages", row: address, metric: "p95 ms", most: 350})
	}
	list = append(list, loadGoals()...)
	return append(list,
		goal{text: "ten browsers on all pages, MB of the process", cell: "pages", row: tenBrowsers, metric: "MB", most: 150},
		goal{text: "drain beside ten open pages, compared with no page", cell: "pages-drain", row: tenPages, metric: rate, versus: []string{noPage}, least: 0.95},
	)
}

// largeStore returns the database that the cells of pages share. It is filled when it is first
// needed, and dropped at the end of the run.
func (b *bench) largeStore(ctx context.Context) (database, error) {
	if b.large.url != "" {
		return b.large, nil
	}
	db, err := b.create(ctx, "")
	if err != nil {
		return db, err
	}
	began := time.Now()
	if err := b.fillLarge(ctx, db); err != nil {
		db.drop()
		return database{}, fmt.Errorf("fill the store: %w", err)
	}
	fmt.Fprintf(os.Stderr, "the store of the pages was filled in %.0f s\n", time.Since(began).Seconds())
	b.large = db
	return db, nil
}

func (b *bench) fillLarge(ctx context.Context, db database) error {
	backend, err := openBackend(ctx, db.request(child.Request{}))
	if err != nil {
		return err
	}
	defer backend.(io.Closer).Close()
	client, err := hourbell.New(backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if err := client.Migrate(ctx); err != nil {
		return err
	}
	weekends := hourbell.Calendar{Name: "model", CalendarSpec: recur.CalendarSpec{Weekdays: []string{"sat", "sun"}}}
	if _, err := client.Calendars.Put(ctx, weekends, 0); err != nil {
		return err
	}
	model := hourbell.Schedule{
		Name: "model", Rule: recur.Every(24 * time.Hour),
		Job: hourbell.RawArgs{Name: "noop", JSON: []byte(`{"number":1,"text":"the quick brown fox"}`)},
	}
	if _, err := client.Schedules.Put(ctx, model); err != nil {
		return err
	}
	if err := bareExec(ctx, db, strings.ReplaceAll(pagesFill, "{jobs}", strconv.Itoa(b.env.stored))); err != nil {
		return err
	}
	return bareExec(ctx, db, "VACUUM ANALYZE") // as autovacuum does soon
}

// served is a process `hourbell serve`.
type served struct {
	cmd    *exec.Cmd
	url    string
	cancel context.CancelFunc
}

// program builds the program when it is first needed, and returns its path.
func (b *bench) program(ctx context.Context) (string, error) {
	program := filepath.Join(b.dir, "hourbell")
	if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, ".")
		build.Dir, build.Stderr = filepath.Join("..", "cmd", "hourbell"), os.Stderr
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if err := build.Run(); err != nil {
			return "", fmt.Errorf("build hourbell: %w", err)
		}
	}
	return program, nil
}

// serve starts `hourbell serve` on a database, and waits until it answers.
func (b *bench) serve(ctx context.Context, db database) (*served, error) {
	program, err := b.program(ctx)
	if err != nil {
		return nil, err
	}
	addr, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &served{url: "http://" + addr, cancel: cancel}
	s.cmd = exec.CommandContext(ctx, program, "serve", "--store", db.far, "--listen", addr, "--queues", "served", "--state-dir", "", "--log-level", "warn")
	s.cmd.Stderr = os.Stderr
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = 20 * time.Second
	if err := s.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); ; {
		_, err := firstByte(ctx, s.url+"/readyz")
		if err == nil {
			return s, rest(ctx, 2*time.Second) // the node settles
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			s.end()
			return nil, fmt.Errorf("hourbell serve is not ready: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// end stops the process.
func (s *served) end() {
	s.cancel()
	_ = s.cmd.Wait()
}

// freeAddress returns an address of this machine that no process listens on.
func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// firstByte requests an address, and returns how long its first byte took.
func firstByte(ctx context.Context, address string) (time.Duration, error) {
	var began time.Time
	var took time.Duration
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { took = time.Since(began) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	began = time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", address, res.Status, bytes.TrimSpace(body))
	}
	return took, err
}

// address completes an address of pageAddresses or listAddresses.
func (b *bench) address(of string) string {
	return strings.NewReplacer("{jobs}", strconv.Itoa(b.env.stored), "{soon}", time.Now().Add(time.Hour).UTC().Format(time.RFC3339)).Replace(of)
}

// pageRow measures the first byte of one address.
func (b *bench) pageRow(address string) row {
	return row{address, func(ctx context.Context) (metrics, error) {
		return b.onServed(ctx, func(s *served) ([]float32, error) {
			took := make([]float32, pageRequests)
			var last time.Duration
			for i := range took {
				if address == "/" {
					if err := rest(ctx, max(leastPause, pauseFactor*last)); err != nil {
						return nil, err
					}
				}
				var err error
				if last, err = firstByte(ctx, s.url+b.address(address)); err != nil {
					return nil, err
				}
				took[i] = float32(last) / float32(time.Millisecond)
			}
			return took, nil
		})
	}}
}

// allPages lets ten browsers request all pages at the same time, each several times.
func (b *bench) allPages(ctx context.Context) (metrics, error) {
	return b.onServed(ctx, func(s *served) ([]float32, error) {
		const browsers, times = 10, 5
		took, errs := make([][]float32, browsers), make([]error, browsers)
		var wg sync.WaitGroup
		for browser := range browsers {
			wg.Go(func() {
				for i := range times * len(pageAddresses) {
					t, err := firstByte(ctx, s.url+b.address(pageAddresses[(i+3*browser)%len(pageAddresses)]))
					if err != nil {
						errs[browser] = err
						return
					}
					took[browser] = append(took[browser], float32(t)/float32(time.Millisecond))
				}
			})
		}
		wg.Wait()
		return slices.Concat(took...), errors.Join(errs...)
	})
}

// onServed measures requests to a process that was just started: their first bytes, in
// milliseconds, and the memory of the process.
func (b *bench) onServed(ctx context.Context, request func(*served) ([]float32, error)) (metrics, error) {
	db, err := b.largeStore(ctx)
	if err != nil {
		return nil, err
	}
	s, err := b.serve(ctx, db)
	if err != nil {
		return nil, err
	}
	defer s.end()
	before, err := memoryOf(s.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	took, err := request(s)
	if err != nil {
		return nil, err
	}
	after, err := memoryOf(s.cmd.Process.Pid)
	slices.Sort(took)
	return metrics{
		"p50 ms": child.Quantile(took, 0.5), "p95 ms": child.Quantile(took, 0.95), "max ms": child.Quantile(took, 1),
		"MB at the start": before / 1e6, "MB": after / 1e6,
	}, err
}

// drainBeside drains jobs in the large store while pages are open.
func (b *bench) drainBeside(ctx context.Context, pages []string) (metrics, error) {
	db, err := b.largeStore(ctx)
	if err != nil {
		return nil, err
	}
	s := named("hourbell")
	d := drain{system: s.name, jobs: b.env.jobs, until: b.env.jobs}
	if err := b.fill(ctx, db, s, d); err != nil {
		return nil, err
	}
	if err := bareExec(ctx, db, "VACUUM hourbell.job"); err != nil { // each round begins without the rows of the round before
		return nil, err
	}
	web, err := b.serve(ctx, db)
	if err != nil {
		return nil, err
	}
	defer web.end()
	open, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	seen := make([]int64, len(pages))
	failed := make([]error, len(pages))
	for i, address := range pages {
		wg.Go(func() { seen[i], failed[i] = watch(open, web.url+address) })
	}
	if err := rest(ctx, 3*time.Second); err != nil { // all pages are read
		return nil, err
	}
	m, err := b.workOff(ctx, db, s, d)
	stop()
	wg.Wait()
	for i := range pages {
		if seen[i] == 0 && failed[i] == nil {
			failed[i] = fmt.Errorf("the stream of %s sent nothing", pages[i])
		}
	}
	return m, cmp.Or(err, errors.Join(failed...))
}

// watch keeps a page open until ctx ends, as a browser does: it reads the stream of its changes,
// and connects again when the stream ends. It returns how many bytes came.
func watch(ctx context.Context, address string) (n int64, err error) {
	for ctx.Err() == nil && err == nil {
		var more int64
		more, err = readStream(ctx, address)
		n += more
	}
	if ctx.Err() != nil {
		err = nil
	}
	return n, err
}

// readStream reads the stream of the changes of a page until it ends, and returns its length.
func readStream(ctx context.Context, address string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", address, res.Status)
	}
	return io.Copy(io.Discard, res.Body)
}
