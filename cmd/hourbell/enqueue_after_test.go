package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/store"
)

func TestEnqueueAfter(t *testing.T) {
	b := newBench(t)
	b.ok("enqueue", "export", "--max-attempts", "1")
	backend, err := sqlite.Open(t.Context(), b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	if _, err := backend.Register(t.Context(), store.RegisterRequest{Name: "n", Lease: time.Hour}); err != nil {
		t.Fatal(err)
	}
	// A node lives, and enqueue has nothing to add: the job waits because the caller asked for it.
	b.ok("enqueue", "publish", "--after", "1", "--max-attempts", "1")
	b.ok("enqueue", "tell", "--after", "1:failure:5m", "--after", "2:either")
	job := b.objects("jobs", "show", "3")[0]
	if job["state"] != "waiting" || job["waits"] != "waits for job 1 (failure), job 2 (either)" {
		t.Errorf("%v", job)
	}
	if got, want := fmt.Sprint(job["after"]), "[map[delay:5m0s job:1 on:failure] map[delay:0s job:2 on:either]]"; got != want {
		t.Errorf("after is %s, not %s", got, want)
	}
	b.ok("jobs", "cancel", "1")
	for _, job := range b.objects("jobs", "list", "--state", "not_started") {
		if job["reason"] != "job 1 was cancelled" {
			t.Errorf("%v", job)
		}
	}
	if n := b.ok("jobs", "count", "--state", "not_started"); n != "2\n" {
		t.Errorf("%s jobs were not started", n)
	}
	for _, value := range []string{"x", "0", "1:later", "1:success:soon", "1:success:-1s"} {
		b.fails(exitUsage, []string{"after"}, "enqueue", "tell", "--after", value)
	}
}
