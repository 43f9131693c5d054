package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/recur"
)

// The load of the cell "api-load".
const (
	loadRate  = 500 // requests a second
	loadTime  = time.Minute
	loadConns = 200 // requests that wait for their answers at a time
	loadRow   = "500 requests a second"
)

// loadCell measures the API of a process `hourbell serve` under load, while another process drains jobs and a schedule fires each second.
func (b *bench) loadCell() cell {
	return cell{
		name: "api-load",
		title: fmt.Sprintf("%d requests a second of the API for %v, concurrently with a drain, with %s jobs in the store; every tenth request enqueues a job",
			loadRate, loadTime, thousands(b.env.stored)),
		metrics: []string{"requests/s", "p50 ms", "p99 ms", "max ms", "not 2xx", "slot to start p99 ms", "jobs/s"},
		rows:    []row{{loadRow, b.apiLoad}}, once: true,
	}
}

func loadGoals() []goal {
	return []goal{
		{text: "500 requests a second of the API, concurrently with a drain, p99", cell: "api-load", row: loadRow, metric: "p99 ms", most: 250},
		{text: "the same, from the slot of a schedule to its start, p99", cell: "api-load", row: loadRow, metric: "slot to start p99 ms", most: 50},
	}
}

// loadPaths are what is read, in turns.
var loadPaths = []string{
	"/api/v1/jobs/{jobs}", "/api/v1/jobs?limit=20", "/api/v1/jobs?state=failed&limit=20", "/api/v1/schedules?limit=20", "/api/v1/schedules/" + strings.ReplaceAll(storedSchedule, "/", "%2F"),
	"/api/v1/slots?limit=20", "/api/v1/queues", "/api/v1/nodes", "/api/v1/batches?limit=20",
}

func (b *bench) apiLoad(ctx context.Context) (metrics, error) {
	db, err := b.largeStore(ctx)
	if err != nil {
		return nil, err
	}
	web, err := b.serve(ctx, db)
	if err != nil {
		return nil, err
	}
	defer web.end()
	ctx, stop := context.WithCancel(ctx)
	var others sync.WaitGroup
	defer others.Wait()
	defer stop()
	ticks, err := b.tick(ctx, db, &others)
	if err != nil {
		return nil, err
	}
	var drained atomic.Int64
	var drainErr error
	began := time.Now()
	others.Go(func() {
		for ctx.Err() == nil && drainErr == nil {
			drainErr = b.drainOnce(ctx, db, &drained)
		}
	})
	if err := rest(ctx, 3*time.Second); err != nil {
		return nil, err
	}
	took, refused := b.load(ctx, web)
	perSecond := float64(drained.Load()) / time.Since(began).Seconds()
	stop()
	others.Wait()
	if drainErr != nil && !errors.Is(drainErr, context.Canceled) && perSecond == 0 {
		return nil, drainErr
	}
	late := ticks()
	slices.Sort(took)
	slices.Sort(late)
	return metrics{
		"requests/s": float64(len(took)) / loadTime.Seconds(), "p50 ms": child.Quantile(took, 0.5), "p99 ms": child.Quantile(took, 0.99), "max ms": child.Quantile(took, 1),
		"not 2xx": float64(refused), "slot to start p99 ms": child.Quantile(late, 0.99), "jobs/s": perSecond,
	}, nil
}

// drainOnce inserts jobs and works them off.
func (b *bench) drainOnce(ctx context.Context, db database, drained *atomic.Int64) error {
	s := named("hourbell")
	d := drain{system: s.name, jobs: b.env.jobs, until: b.env.jobs}
	if err := b.fill(ctx, db, s, d); err != nil {
		return err
	}
	m, err := b.workOff(ctx, db, s, d)
	drained.Add(int64(m["done"]))
	return err
}

// tick runs a node with a schedule that fires each second. What it returns are the times from the slots to the starts of
// their jobs, in milliseconds.
func (b *bench) tick(ctx context.Context, db database, others *sync.WaitGroup) (late func() []float32, err error) {
	backend, err := openBackend(ctx, db.request(child.Request{}))
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var all []float32
	workers := hourbell.NewWorkers()
	workers.Handle("tick", func(_ context.Context, job *hourbell.JobRow) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, float32(time.Since(job.Slot))/float32(time.Millisecond))
		return nil
	})
	client, err := hourbell.New(backend, hourbell.Config{Workers: workers, Queues: map[string]int{"ticks": 4}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, errors.Join(err, backend.(io.Closer).Close())
	}
	schedule := hourbell.Schedule{Name: "load", Rule: recur.Every(time.Second), Job: hourbell.RawArgs{Name: "tick"}, Queue: "ticks"}
	if _, err := client.Schedules.Put(ctx, schedule); err != nil {
		return nil, errors.Join(err, backend.(io.Closer).Close())
	}
	others.Go(func() {
		defer backend.(io.Closer).Close()
		_ = client.Run(ctx)
		_ = client.Schedules.Delete(context.WithoutCancel(ctx), []string{schedule.Name})
	})
	return func() []float32 {
		mu.Lock()
		defer mu.Unlock()
		return all
	}, nil
}

// load sends requests at their times, whether or not the answers before have come, and returns how long after its time each answer was
// complete, in milliseconds, and how many answers were no success.
func (b *bench) load(ctx context.Context, web *served) (took []float32, refused int) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loadConns, MaxConnsPerHost: loadConns}, Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	var sent sync.WaitGroup
	began := time.Now()
	for i := range int(loadTime.Seconds() * loadRate) {
		at := began.Add(time.Duration(i) * time.Second / loadRate)
		if rest(ctx, time.Until(at)) != nil {
			break
		}
		sent.Go(func() {
			ok := send(ctx, client, web.url, b.address(loadPaths[i%len(loadPaths)]), i)
			answered := time.Since(at)
			mu.Lock()
			defer mu.Unlock()
			if took = append(took, float32(answered)/float32(time.Millisecond)); !ok {
				refused++
			}
		})
	}
	sent.Wait()
	return took, refused
}

// send reads an address, or enqueues a job, and reports whether the answer is a success.
func send(ctx context.Context, client *http.Client, url, path string, number int) bool {
	method, body := http.MethodGet, ""
	if number%10 == 0 {
		method, path, body = http.MethodPost, "/api/v1/jobs", `{"kind":"later","queue":"load","in":"24h","args":{"number":`+strconv.Itoa(number)+`}}`
	}
	req, err := http.NewRequestWithContext(ctx, method, url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err == nil && res.StatusCode/100 == 2
}
