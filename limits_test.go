package hourbell_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
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
