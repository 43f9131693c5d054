package hourbell_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
)

// TestSchedulesTakeTypedJobs puts schedules whose jobs and hooks are typed
// values, and reads them back as the store has them.
func TestSchedulesTakeTypedJobs(t *testing.T) {
	client := newCluster(t).client(nil)
	for name, test := range map[string]struct {
		job  hourbell.Args
		want string
	}{
		"typed":                 {Note{Text: "a<b"}, `{"text":"a<b"}`},
		"a type with an Encode": {encodedNote{Text: "a<b"}, `{"text": "a<b"}`},
		"a pointer":             {&Note{Text: "a"}, `{"text":"a"}`},
		"JSON":                  {hourbell.RawArgs{Name: "note", JSON: []byte(`{ "text":1e400 }`)}, `{ "text":1e400 }`},
	} {
		_, err := client.Schedules.Put(t.Context(), hourbell.Schedule{Name: name, Rule: recur.Cron("@yearly"), Job: test.job, Hooks: hourbell.Hooks{OnMissed: test.job}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		info, err := client.Schedules.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		want := hourbell.RawArgs{Name: "note", JSON: []byte(test.want)}
		if !reflect.DeepEqual(info.Job, want) || !reflect.DeepEqual(info.Hooks, hourbell.Hooks{OnMissed: want}) {
			t.Errorf("%s: got the job %s and the hooks %s", name, info.Job, info.Hooks)
		}
		id, err := client.Schedules.Trigger(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if job, err := client.Jobs.Get(t.Context(), id); err != nil || string(job.Args) != test.want || job.Kind != "note" {
			t.Errorf("%s: triggered %+v, %v", name, job, err)
		}
	}
}

// TestInvalidJobsOfHooksNameTheHook checks that an error of a hook's type can
// be told from an error of the schedule's own job.
func TestInvalidJobsOfHooksNameTheHook(t *testing.T) {
	s := hourbell.Schedule{Name: "s", Rule: recur.Cron("@yearly"), Job: Note{}, Hooks: hourbell.Hooks{OnFailure: encodedNote{}}}
	if got, want := fmt.Sprint(s.Validate()), "on_failure args: the note is empty"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Hooks, s.Job = hourbell.Hooks{}, nil
	if got := fmt.Sprint(s.Validate()); !strings.Contains(got, "job is nil") {
		t.Errorf("got %q", got)
	}
}

func TestRawArgsAreKeptByteForByte(t *testing.T) {
	c := newCluster(t)
	got := make(chan []byte, 1)
	workers := hourbell.NewWorkers()
	workers.Handle("raw", func(_ context.Context, job *hourbell.JobRow) error { got <- job.RawArgs; return nil })
	client := c.client(workers)
	c.run(client)
	text := "{ \"b\" :1e400,\n\t\"a\": \"\\u0000\\/\" }"
	if _, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "raw", JSON: []byte(text)}); err != nil {
		t.Fatal(err)
	}
	if args := string(<-got); args != text {
		t.Fatalf("got %q, want %q", args, text)
	}
}
