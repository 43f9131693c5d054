// Package demo is a small cluster with sample work, to look at: three nodes on one
// store, and schedules and jobs that complete, fail, wait, overlap and miss slots.
//
//	client, err := demo.Open(backend, log)
//	http.Serve(listener, dashboard.Handler(client, dashboard.Options{Authorize: access.Local()}))
//	err = demo.Run(ctx, backend, client, log)
package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// nodes are the names of the nodes, and how many jobs of each queue they run at once.
var nodes = map[string]map[string]int{
	"north": {"default": 4, "mail": 3},
	"south": {"default": 4, "mail": 3},
	"west":  {"default": 2, "bulk": 1},
}

const (
	lease   = 5 * time.Second
	outage  = 7 * time.Second // before the first node starts, so that slots are missed
	grace   = time.Second     // of the schedule that misses slots
	drain   = time.Second
	sampled = 40 // jobs of the kind mail that wait for their time
)

// Open returns a client for the pages. It runs no jobs.
func Open(backend store.Backend, log *slog.Logger) (*hourbell.Client, error) {
	return hourbell.New(backend, hourbell.Config{Name: "pages", Logger: log})
}

// Run puts the sample work into the store, and runs the nodes until ctx ends.
func Run(ctx context.Context, backend store.Backend, client *hourbell.Client, log *slog.Logger) error {
	if err := put(ctx, client); err != nil {
		return fmt.Errorf("put the sample schedules: %w", err)
	}
	if err := enqueue(ctx, client); err != nil {
		return fmt.Errorf("enqueue the sample jobs: %w", err)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(outage):
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	errs := make(chan error, len(nodes))
	for name, queues := range nodes {
		node, err := hourbell.New(backend, hourbell.Config{Name: name, Queues: queues, Workers: workers(), Logger: log, Lease: lease, Drain: drain, NoMigrate: true})
		if err != nil {
			return err
		}
		running.Go(func() {
			errs <- node.Run(ctx)
			stop() // without one of its nodes the demo is not what it says
		})
	}
	running.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// put makes the schedules, a calendar and a handler.
func put(ctx context.Context, client *hourbell.Client) error {
	if _, err := client.Handlers.Put(ctx, hourbell.EventHandler{
		Name: "tell-shop", On: []string{hourbell.HookFailure}, Group: "shop", Queue: "mail",
		Job: hourbell.RawArgs{Name: "mail", JSON: []byte(`{"to":"shop@example.com"}`)},
	}); err != nil {
		return err
	}
	holidays := hourbell.Calendar{Name: "holidays"}
	holidays.Dates = []string{"12-25", "12-26", "01-01"}
	if _, err := client.Calendars.Put(ctx, holidays, 0); err != nil {
		return err
	}
	schedule := func(name string, rule recur.Spec, kind, args string, change func(*hourbell.Schedule)) hourbell.Schedule {
		s := hourbell.Schedule{Name: name, Rule: rule, Job: hourbell.RawArgs{Name: kind, JSON: []byte(args)}, MaxAttempts: 3}
		if change != nil {
			change(&s)
		}
		return s
	}
	_, err := client.Schedules.PutAll(ctx, "demo", 0, []hourbell.Schedule{
		schedule("sync-orders", recur.Every(7*time.Second), "sync", `{"system":"orders","seconds":9}`, nil),
		schedule("prices", recur.Every(4*time.Second), "sync", `{"system":"prices","seconds":1}`, func(s *hourbell.Schedule) { s.Grace = grace }),
		schedule("invoices", recur.Every(20*time.Second), "invoice", `{"customer":4711}`, func(s *hourbell.Schedule) { s.Overlap = hourbell.OverlapQueue }),
		schedule("newsletter", recur.Every(30*time.Second), "mail", `{"to":"readers@example.com"}`, func(s *hourbell.Schedule) { s.Queue = "mail" }),
		schedule("nightly-report", recur.Cron("30 2 * * 1-5").In("Europe/Prague"), "report", `{"pages":40}`, func(s *hourbell.Schedule) {
			s.Group, s.Exclude = "reports", []hourbell.Calendar{hourbell.StoredCalendar("holidays")}
		}),
		schedule("month-end/close", recur.Cron("0 6 L * *").In("America/New_York"), "report", `{"pages":400}`, func(s *hourbell.Schedule) { s.Group = "reports" }),
		schedule("cleanup", recur.Every(10*time.Second), "sync", `{"system":"files","seconds":1}`, func(s *hourbell.Schedule) { s.Paused = true }),
	})
	return err
}

// enqueue makes the jobs that do not come from schedules.
func enqueue(ctx context.Context, client *hourbell.Client) error {
	job := func(kind, args string, options ...hourbell.Option) hourbell.Request {
		return hourbell.Request{Args: hourbell.RawArgs{Name: kind, JSON: []byte(args)}, Options: options}
	}
	requests := []hourbell.Request{
		job("report", `{"pages":600}`),
		job("webhook", `{"url":"https://shop.example/hooks/paid"}`, hourbell.MaxAttempts(8)),
		job("webhook", `{"url":"https://shop.example/hooks/sent"}`, hourbell.MaxAttempts(8)),
		job(kinds.CommandKind, `{"shell":"for i in $(seq 600); do echo \"table $i of 600 copied\"; sleep 1; done"}`, hourbell.MaxAttempts(1)),
		job("resize", `{"image":"beach.jpg"}`, hourbell.Queue("bulk")),
		job("resize", `{"image":"mountain.jpg"}`, hourbell.Queue("bulk")),
	}
	for i := range 3 {
		requests = append(requests, job("charge", fmt.Sprintf(`{"order":%d,"amount":"%d.90"}`, 2801+i, 20+7*i), hourbell.MaxAttempts(1), hourbell.Group("shop")))
	}
	for i := range sampled {
		requests = append(requests, job("mail", fmt.Sprintf(`{"to":"customer-%d@example.com"}`, i+1), hourbell.Queue("mail"),
			hourbell.In(time.Duration(i)*15*time.Second)))
	}
	if _, err := client.EnqueueMany(ctx, requests); err != nil {
		return err
	}
	step := func(seconds int, after ...string) hourbell.GraphJob {
		j := hourbell.GraphJob{Args: hourbell.RawArgs{Name: "step", JSON: fmt.Appendf(nil, `{"seconds":%d}`, seconds)}, After: map[string]hourbell.GraphEdge{}}
		for _, name := range after {
			j.After[name] = hourbell.GraphEdge{}
		}
		return j
	}
	refused := hourbell.GraphJob{
		Args:    hourbell.RawArgs{Name: "charge", JSON: []byte(`{"order":2900,"amount":"0"}`)},
		Options: []hourbell.Option{hourbell.MaxAttempts(1)},
	}
	alarm := step(1)
	alarm.After = map[string]hourbell.GraphEdge{"load": {On: hourbell.OnFailure}}
	for _, graph := range []map[string]hourbell.GraphJob{
		{
			"extract": step(8), "customers": step(30, "extract"), "orders": step(12, "extract"),
			"load": step(600, "customers", "orders"), "alarm": alarm, "publish": step(5, "load"),
		},
		{"pay": refused, "ship": step(3, "pay"), "thank": step(1, "ship")},
	} {
		if _, err := client.EnqueueGraph(ctx, hourbell.Graph{Jobs: graph}); err != nil {
			return err
		}
	}
	return nil
}
