package hourbell_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/recur"
)

// Mail is a kind with options.
type Mail struct {
	To string `json:"to"`
}

func (Mail) Kind() string { return "mail" }

func (Mail) Options() []hourbell.Option {
	return []hourbell.Option{
		hourbell.Queue("mails"), hourbell.Priority(3), hourbell.MaxAttempts(7), hourbell.Timeout(time.Minute), hourbell.Backoff("linear:5s"),
		hourbell.OnLoss(hourbell.FailOnLoss), hourbell.UniqueArgs(), hourbell.UniqueFor(time.Hour),
	}
}

// TestOptionsOfAKind enqueues jobs of a kind with options in each way in which jobs are described.
func TestOptionsOfAKind(t *testing.T) {
	c := newCluster(t)
	client := c.client(nil)
	ids := map[string]int64{}
	one := func(name string, job hourbell.Enqueued, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(name, err)
		}
		ids[name] = job.ID
	}
	job, err := client.Enqueue(t.Context(), Mail{To: "ada"})
	one("mails 3 7", job, err)
	if job, err = client.Enqueue(t.Context(), Mail{To: "ada"}); err != nil || !job.Existed {
		t.Errorf("the key of the kind: %+v, %v", job, err)
	}
	job, err = client.Enqueue(t.Context(), Mail{To: "ada"}, hourbell.Unique("other"), hourbell.Priority(4), hourbell.UniqueUntilStart())
	one("mails 4 7", job, err)
	many, err := client.EnqueueMany(t.Context(), []hourbell.Request{
		{Args: Mail{To: "bea"}}, {Args: Mail{To: "cyd"}, Options: []hourbell.Option{hourbell.Priority(6)}}, {Args: Note{}},
	}, hourbell.Priority(5), hourbell.MaxAttempts(8))
	if err != nil {
		t.Fatal(err)
	}
	ids["mails 5 8"], ids["mails 6 8"], ids["default 5 8"] = many[0].ID, many[1].ID, many[2].ID
	batch, err := client.EnqueueBatch(t.Context(), []hourbell.Request{{Args: Mail{To: "dot"}, Options: []hourbell.Option{hourbell.OnConflict(hourbell.ErrorOnConflict)}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids["mails 3 7 of a batch"] = batch.Jobs[0].ID
	for want, id := range ids {
		info, err := client.Jobs.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join([]string{info.Queue, string(rune('0' + info.Priority)), string(rune('0' + info.MaxAttempts))}, " ")
		if mail := info.Kind == "mail"; !strings.HasPrefix(want, got) || mail != (info.Timeout == time.Minute) || mail != (info.OnLoss == hourbell.FailOnLoss) || mail != (info.Unique != "") {
			t.Errorf("%s: %s, %+v", want, got, info.JobSpec)
		}
	}
	schedule := hourbell.Schedule{Name: "s", Rule: recur.Every(time.Hour), Job: Mail{}, MaxAttempts: 2}
	saved, err := client.Schedules.Put(t.Context(), schedule)
	put := saved.Now
	if err != nil || put.Queue != "mails" || put.Priority != 3 || put.MaxAttempts != 2 || put.Timeout != time.Minute || put.Backoff != "linear:5s" || put.OnLoss != hourbell.FailOnLoss {
		t.Errorf("a schedule: %+v, %v", put, err)
	}
	if read, err := client.Schedules.Get(t.Context(), "s"); err != nil || read.Queue != "mails" || read.MaxAttempts != 2 {
		t.Errorf("a schedule that was read: %+v, %v", read, err)
	}
}

// wrong is a kind whose options are wrong.
type wrong struct{}

func (wrong) Kind() string { return "wrong" }

func (wrong) Options() []hourbell.Option {
	return []hourbell.Option{hourbell.Priority(11), hourbell.In(time.Hour)}
}

// keyless is a kind whose options speak of a key that no option gives.
type keyless struct{}

func (keyless) Kind() string { return "keyless" }

func (keyless) Options() []hourbell.Option {
	return []hourbell.Option{hourbell.UniqueFor(time.Hour)}
}

func TestOptionsOfAKindAreCheckedWhenItIsRegistered(t *testing.T) {
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(context.Context, *hourbell.Job[wrong]) error { return nil })
	hourbell.Register(workers, func(context.Context, *hourbell.Job[keyless]) error { return nil })
	err := hourbell.Config{Workers: workers}.Validate()
	for _, want := range []string{`options of kind "wrong"`, `priority "11"`, `options "In" are for other calls`, `options of kind "keyless"`, "unique_for is given without"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not contain %s", err, want)
		}
	}
}

// TestAQueueThatIsNotServedIsReportedOnce enqueues jobs for a queue that a program with workers does not serve.
func TestAQueueThatIsNotServedIsReportedOnce(t *testing.T) {
	c := newCluster(t)
	client := c.client(noteWorkers(func(context.Context, *hourbell.Job[Note]) error { return nil }))
	events, stop := client.Events.Subscribe(100)
	for _, queue := range []string{"default", "mails", "mails"} {
		if _, err := client.Enqueue(t.Context(), Note{}, hourbell.Queue(queue)); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	var found []event.Event
	for e := range events {
		found = append(found, e)
	}
	if len(found) != 1 || found[0].Kind != event.QueueUnserved || found[0].Queue != "mails" || found[0].JobKind != "note" || found[0].Job == 0 {
		t.Errorf("events: %+v", found)
	}
	web := c.client(nil)
	if _, err := web.Enqueue(t.Context(), Note{}, hourbell.Queue("mails")); err != nil {
		t.Fatal(err)
	}
	if n := web.Events.Counts()[event.QueueUnserved]; n != 0 {
		t.Errorf("a program without workers reports %d", n)
	}
}
