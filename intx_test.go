package hourbell_test

import (
	"errors"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestInTxCommitsEverythingTogether puts and triggers a schedule, enqueues a job and cancels
// another in one transaction.
func TestInTxCommitsEverythingTogether(t *testing.T) {
	backend := memory.New()
	client, err := hourbell.New(backend, hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	old, err := client.Enqueue(ctx, hourbell.RawArgs{Name: "old"})
	if err != nil {
		t.Fatal(err)
	}
	for _, commit := range []bool{false, true} {
		tx := backend.Begin()
		in := hourbell.InTx(tx)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		schedule := hourbell.Schedule{Name: "digest", Rule: recur.Cron("@daily"), Job: hourbell.RawArgs{Name: "digest"}}
		_, err := client.Schedules.Put(ctx, schedule, in)
		must(err)
		schedule.Queue = "mail"
		_, err = client.Schedules.Put(ctx, schedule, in) // an edit of what the transaction has put
		must(err)
		must(client.Schedules.Pause(ctx, []string{"digest"}, in))
		if err := client.Schedules.Pause(ctx, []string{"unknown"}, in); !errors.Is(err, hourbell.ErrNotFound) {
			t.Errorf("an unknown schedule: %v", err)
		}
		_, err = client.Schedules.Trigger(ctx, "digest", in)
		must(err)
		_, err = client.Enqueue(ctx, hourbell.RawArgs{Name: "new"}, in)
		must(err)
		_, err = client.Jobs.Cancel(ctx, hourbell.JobFilter{IDs: []int64{old.ID}}, in)
		must(err)
		if _, err := client.Schedules.Get(ctx, "digest"); !errors.Is(err, hourbell.ErrNotFound) {
			t.Errorf("before the end of the transaction others see the schedule: %v", err)
		}
		end, jobs, state := tx.Rollback, 1, store.StateReady
		if commit {
			end, jobs, state = tx.Commit, 3, store.StateCancelled
		}
		must(end())
		if _, err := client.Schedules.Get(ctx, "digest"); (err == nil) != commit {
			t.Errorf("commit %v: the schedule: %v", commit, err)
		}
		listed, err := client.Jobs.List(ctx, hourbell.JobFilter{})
		must(err)
		if len(listed) != jobs || listed[len(listed)-1].State != state {
			t.Errorf("commit %v: jobs %+v", commit, listed)
		}
		if err := client.Schedules.Resume(ctx, []string{"digest"}, in); err == nil {
			t.Error("an edit in a transaction that has ended is no error")
		}
	}
}

// TestInTxIsTheOnlyOptionOfChanges refuses options for new jobs, and a nil transaction.
func TestInTxIsTheOnlyOptionOfChanges(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for field, option := range map[string]hourbell.Option{"options": hourbell.Queue("q"), "tx": hourbell.InTx(nil)} {
		_, cancel := client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{1}}, option)
		_, put := client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "s", Rule: recur.Cron("@daily"), Job: hourbell.RawArgs{Name: "k"}}, option)
		_, trigger := client.Schedules.Trigger(t.Context(), "s", option)
		for _, err := range []error{cancel, put, trigger, client.Schedules.Pause(t.Context(), []string{"s"}, option)} {
			var invalid *check.FieldError
			if !errors.As(err, &invalid) || invalid.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}
