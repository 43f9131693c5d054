package hourbell_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

func TestUniqueReportsWhatExisted(t *testing.T) {
	c := newCluster(t)
	client := c.client(nil)
	first, err := client.Enqueue(t.Context(), Note{}, hourbell.Unique("key"))
	if err != nil || first.Existed {
		t.Fatalf("the first: %+v, %v", first, err)
	}
	second, err := client.Enqueue(t.Context(), Note{}, hourbell.Unique("key"))
	if want := (hourbell.Enqueued{ID: first.ID, Existed: true, Conflict: store.ConflictKept}); err != nil || second != want {
		t.Errorf("the second: %+v after %+v, %v", second, first, err)
	}
	if plain, err := client.Enqueue(t.Context(), Note{}); err != nil || plain.Existed || plain.ID == first.ID {
		t.Errorf("without a key: %+v, %v", plain, err)
	}
}

// TestEnqueueManyTakesOptionsPerJob checks that each job of one call has the
// options of the call, and then its own, and that there is an answer for each.
func TestEnqueueManyTakesOptionsPerJob(t *testing.T) {
	client := newCluster(t).client(nil)
	now, err := client.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	existing, err := client.Enqueue(t.Context(), Note{}, hourbell.Unique("taken"))
	if err != nil {
		t.Fatal(err)
	}
	at := now.Add(time.Hour)
	requests := []hourbell.Request{
		{Args: Note{Text: "as the call"}},
		{Args: Note{Text: "own"}, Options: []hourbell.Option{hourbell.Queue("slow"), hourbell.Priority(1), hourbell.OnLoss(hourbell.FailOnLoss)}},
		{Args: Note{Text: "later"}, Options: []hourbell.Option{hourbell.At(at)}},
		{Args: Note{Text: "taken"}, Options: []hourbell.Option{hourbell.Unique("taken")}},
		{Args: Note{Text: "new"}, Options: []hourbell.Option{hourbell.Unique("new")}},
		{Args: Note{Text: "new again"}, Options: []hourbell.Option{hourbell.Unique("new")}},
		{Args: hourbell.RawArgs{Name: "other"}, Options: []hourbell.Option{hourbell.Unique("new")}},
	}
	made, err := client.EnqueueMany(t.Context(), requests, hourbell.Queue("mail"), hourbell.MaxAttempts(3), hourbell.In(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		queue    string
		priority int16
		attempts int16
		existed  bool
		text     string
	}{
		{"mail", 5, 3, false, `{"text":"as the call"}`},
		{"slow", 1, 3, false, `{"text":"own"}`},
		{"mail", 5, 3, false, `{"text":"later"}`},
		{"default", 5, 25, true, `{"text":""}`},
		{"mail", 5, 3, false, `{"text":"new"}`},
		{"mail", 5, 3, true, `{"text":"new"}`},
		{"mail", 5, 3, false, `null`},
	}
	if len(made) != len(want) {
		t.Fatalf("%d answers for %d jobs", len(made), len(want))
	}
	for i, want := range want {
		job, err := client.Jobs.Get(t.Context(), made[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		if made[i].Existed != want.existed || job.Queue != want.queue || job.Priority != want.priority || job.MaxAttempts != want.attempts || string(job.Args) != want.text {
			t.Errorf("job %d: %+v is %+v, want %+v", i, made[i], job, want)
		}
		if late := job.RunAt.Sub(now); i == 2 && !job.RunAt.Equal(at) || i == 0 && (late < 50*time.Second || late > 2*time.Minute) {
			t.Errorf("job %d is due at %v, %v after the call", i, job.RunAt, late)
		}
	}
	if made[3].ID != existing.ID || made[5].ID != made[4].ID || made[6].ID == made[4].ID {
		t.Errorf("answers %+v; the key was the key of job %d", made, existing.ID)
	}
}

// TestOptionsOfOneJobAreChecked checks that a request names its job, and cannot
// have a transaction of its own.
func TestOptionsOfOneJobAreChecked(t *testing.T) {
	c := newCluster(t)
	client := c.client(nil)
	tx := c.store.Begin()
	for want, options := range map[string][]hourbell.Option{
		`"InTx" are given for one job`: {hourbell.InTx(tx)},
		"in is given together with at": {hourbell.In(time.Second), hourbell.At(time.Now())},
		"priority":                     {hourbell.Priority(10)},
	} {
		_, err := client.EnqueueMany(t.Context(), []hourbell.Request{{Args: Note{}}, {Args: Note{}, Options: options}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "job 2 of 2") {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := (hourbell.Request{Args: Note{}, Options: []hourbell.Option{hourbell.Priority(0)}}).Validate(); err == nil {
		t.Error("a request with priority 0 is valid")
	}
	if jobs, _ := client.Jobs.List(t.Context(), hourbell.JobFilter{}); len(jobs) != 0 {
		t.Errorf("bad input stored %d jobs", len(jobs))
	}
}
