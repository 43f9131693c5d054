package hourbell_test

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store/memory"
)

// TestKeysOfJobs checks that handlers get the keys of jobs, also of a schedule's jobs, and that keys select
// jobs.
func TestKeysOfJobs(t *testing.T) {
	c := newCluster(t)
	keys := make(chan string, 10)
	client := c.client(noteWorkers(func(_ context.Context, job *hourbell.Job[Note]) error {
		keys <- job.Key
		return nil
	}))
	ctx := t.Context()
	job, err := client.Enqueue(ctx, Note{}, hourbell.Key("customer 7"))
	if err != nil {
		t.Fatal(err)
	}
	c.run(client)
	if got := <-keys; got != "customer 7" {
		t.Errorf("the handler got the key %q", got)
	}
	if _, err := client.Schedules.Put(ctx, hourbell.Schedule{Name: "s", Key: "ü", Rule: recur.Cron("@yearly"), Job: Note{}}); err != nil {
		t.Fatal(err)
	}
	made, err := client.Schedules.Trigger(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	if got := <-keys; got != "ü" {
		t.Errorf("the handler of a schedule's job got the key %q", got)
	}
	for key, id := range map[string]int64{"customer 7": job.ID, "ü": made} {
		jobs, err := client.Jobs.List(ctx, hourbell.JobFilter{Key: key})
		if err != nil || len(jobs) != 1 || jobs[0].ID != id {
			t.Errorf("jobs with the key %q: %+v, %v", key, jobs, err)
		}
	}
	info, err := client.Schedules.Get(ctx, "s")
	if err != nil || info.Key != "ü" {
		t.Errorf("the schedule has the key %q: %v", info.Key, err)
	}
	for _, key := range []string{"", "a\nb", strings.Repeat("x", 201)} {
		if _, err := client.Enqueue(ctx, Note{}, hourbell.Key(key)); err == nil || !strings.Contains(err.Error(), "key") {
			t.Errorf("a job with the key %q: %v", key, err)
		}
	}
}

// TestLimitsAreKept checks that all fields of a limit come back, and when a put is refused.
func TestLimitsAreKept(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	must(t, err)
	ctx := t.Context()
	limit := hourbell.Limit{
		Name: "l", Owner: "o", Queue: "q", Kind: "k", ByKey: true, Concurrency: 2,
		Weights: map[string]int{"gold": 3}, Strict: true,
	}
	saved, err := client.Limits.Put(ctx, limit, 0)
	must(t, err)
	info, err := client.Limits.Get(ctx, "l")
	must(t, err)
	if !reflect.DeepEqual(info.Limit, limit) || info.Revision != saved.Revision || !saved.Changed || info.CreatedAt.IsZero() {
		t.Errorf("stored %+v, want %+v with revision %d", info, limit, saved.Revision)
	}
	if _, err := client.Limits.Put(ctx, limit, saved.Revision+1); !errors.Is(err, hourbell.ErrConflict) {
		t.Errorf("a wrong revision: %v", err)
	}
	rated := hourbell.Limit{Name: "a", Queue: "q", Rate: hourbell.Rate{Jobs: 10, Per: 1500 * time.Millisecond}}
	_, err = client.Limits.Put(ctx, rated, 0)
	must(t, err)
	list, err := client.Limits.List(ctx)
	must(t, err)
	if rated.Burst = 1; len(list) != 2 || !reflect.DeepEqual(list[0].Limit, rated) {
		t.Errorf("listed %+v", list)
	}
	must(t, client.Limits.Delete(ctx, "a", "l"))
	if _, err := client.Limits.Get(ctx, "l"); !errors.Is(err, hourbell.ErrNotFound) {
		t.Errorf("a limit that was deleted: %v", err)
	}
	if err := client.Limits.Delete(ctx, "l"); !errors.Is(err, hourbell.ErrNotFound) {
		t.Errorf("to delete it again: %v", err)
	}
}

// TestLimitsOfAnOwner checks that a sync of schedules brings the limits of its owner.
func TestLimitsOfAnOwner(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	must(t, err)
	ctx := t.Context()
	one := hourbell.Limit{Name: "one", Queue: "q", Concurrency: 1}
	res, err := client.Schedules.Sync(ctx, "o", 1, nil, hourbell.Limits(one))
	must(t, err)
	if res.Limits.Changed != 1 {
		t.Errorf("the sync changed %+v", res)
	}
	_, err = client.Schedules.Sync(ctx, "o", 1, nil)
	must(t, err)
	if info, err := client.Limits.Get(ctx, "one"); err != nil || info.Owner != "o" {
		t.Errorf("a sync without the option leaves limits as they are: %+v, %v", info, err)
	}
	if _, err := client.Schedules.Sync(ctx, "o", 1, nil, hourbell.Limits(one, one)); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a limit that is given twice: %v", err)
	}
	res, err = client.Schedules.Sync(ctx, "o", 1, nil, hourbell.Limits())
	must(t, err)
	if res.Limits.Deleted != 1 {
		t.Errorf("the empty set deleted %+v", res)
	}
	if _, err := client.Enqueue(ctx, Note{}, hourbell.Limits(one)); err == nil || !strings.Contains(err.Error(), "Limits") {
		t.Errorf("an enqueue with limits: %v", err)
	}
	if _, err := client.Schedules.Trigger(ctx, "s", hourbell.Limits(one)); err == nil || !strings.Contains(err.Error(), "options") {
		t.Errorf("a trigger with limits: %v", err)
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]string{
		"10/1s": "10/s", "10/s": "10/s", "100/m": "100/m", "5/1h": "5/h", "5/10h": "5/10h", "5000/24h": "5000/24h", "1/90s": "1/1m30s", "3/500ms": "3/500ms", "1/8760h": "1/8760h", "7/1h30m": "7/1h30m",
	} {
		rate, err := hourbell.ParseRate(text)
		if err != nil || rate.String() != want {
			t.Errorf("%s: %q, %v", text, rate, err)
			continue
		}
		if again, err := hourbell.ParseRate(rate.String()); err != nil || again != rate {
			t.Errorf("%s does not read back: %v, %v", rate, again, err)
		}
	}
	for _, text := range []string{"", "10", "10/", "/1s", "x/1s", "0/1s", "-1/s", "10/0s", "10/1us", "2/1ns", "1000001/1s", "1000000/100ms", "10/9000h", "1.5/s", "10/s/s"} {
		if rate, err := hourbell.ParseRate(text); err == nil {
			t.Errorf("%q is read as %v", text, rate)
		}
	}
}

// TestWrongRateIsQuoted checks that the error quotes the rate as it was written.
func TestWrongRateIsQuoted(t *testing.T) {
	if _, err := hourbell.ParseRate("10/1ns"); err == nil || !strings.Contains(err.Error(), `"10/1ns"`) {
		t.Errorf("a rate that is out of range: %v", err)
	}
}

func TestWrongLimits(t *testing.T) {
	rate := hourbell.Rate{Jobs: 1, Per: time.Second}
	many := map[string]int{}
	for i := range 1001 {
		many[strconv.Itoa(i)] = 1
	}
	for want, limit := range map[string]hourbell.Limit{
		"queue is missing":                   {Name: "l", Concurrency: 1},
		"concurrency is missing":             {Name: "l", Queue: "q"},
		"concurrency \"-1\" is out of range": {Name: "l", Queue: "q", Concurrency: -1},
		"burst \"2\" is given without":       {Name: "l", Queue: "q", Concurrency: 1, Burst: 2},
		"burst \"-2\" is out of range":       {Name: "l", Queue: "q", Rate: rate, Burst: -2},
		"rate \"1/0s\" is out of range":      {Name: "l", Queue: "q", Rate: hourbell.Rate{Jobs: 1}},
		"weights are given for a limit":      {Name: "l", Queue: "q", Concurrency: 1, Weights: map[string]int{"a": 2}},
		"weights are given for 1001":         {Name: "l", ByKey: true, Concurrency: 1, Weights: many},
		"weights \"a=0\" is out of range":    {Name: "l", ByKey: true, Concurrency: 1, Weights: map[string]int{"a": 0}},
		"strict is given with a rate":        {Name: "l", ByKey: true, Concurrency: 1, Rate: rate, Strict: true},
		"strict is given for":                {Name: "l", Queue: "q", Concurrency: 1, Strict: true},
		"name":                               {Queue: "q", Concurrency: 1},
		"kind":                               {Name: "l", Kind: "a\nb", Concurrency: 1},
	} {
		if err := limit.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", limit, err, want)
		}
	}
}
