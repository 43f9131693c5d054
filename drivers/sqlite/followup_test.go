package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestFollowUpFailsWithItsCall lets the last statement of calls fail: nothing
// of them may stay.
func TestFollowUpFailsWithItsCall(t *testing.T) {
	b := openFile(t, newFile(t), Synchronous("NORMAL"))
	const refuse = "CREATE TRIGGER hourbell_refuse BEFORE INSERT ON hourbell_job WHEN new.kind = 'refused' BEGIN SELECT raise(ABORT, 'refused'); END"
	if _, err := b.writer.Exec(refuse); err != nil {
		t.Fatal(err)
	}
	if _, err := b.PutSchedules(t.Context(), store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: "s", Definition: []byte("{}")}}}); err != nil {
		t.Fatal(err)
	}
	due, err := b.DueSchedules(t.Context(), store.DueSchedulesRequest{Limit: 1})
	if err != nil || len(due.Schedules) != 1 {
		t.Fatal(due, err)
	}
	row := due.Schedules[0]
	spoilt := &store.FollowUp{Schedule: row.ID, Failing: true, Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "refused", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 1}}}}
	node := register(t, b, time.Hour)
	if _, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 1}}}}); err != nil {
		t.Fatal(err)
	}
	job := claimPlain(t, b, node, 1)[0]
	for what, call := range map[string]func() error{
		"Finish": func() error {
			_, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{{ID: job.ID, Token: job.Token, Result: store.Failed, Error: "e", After: spoilt}}})
			return err
		},
		"Fire": func() error {
			_, err := b.Fire(t.Context(), store.FireRequest{Firings: []store.Firing{{
				Schedule: row.ID, Revision: row.Revision, Mark: row.Mark, NextAt: row.NextAt, NewMark: row.NextAt, After: spoilt,
				Slots: []store.SlotRecord{{Slot: row.NextAt, Last: row.NextAt, Count: 1, Outcome: store.SlotMissed, Reason: "m"}},
			}}})
			return err
		},
		"Leave": func() error {
			_, err := b.Leave(t.Context(), store.LeaveRequest{Node: node, After: func(store.LostJob) *store.FollowUp { return spoilt }})
			return err
		},
	} {
		wantError(t, call(), "refused")
		if got := counts(t, b); got != "1 running, 0 finished, 0 attempts, 0 slots, 0 failing, 1 nodes" {
			t.Errorf("a %s that failed left something behind: %s", what, got)
		}
	}
}

func counts(t *testing.T, b *Backend) string {
	t.Helper()
	var n [6]int
	err := b.reader.QueryRow(`SELECT (SELECT count(*) FROM hourbell_job WHERE state = 2), (SELECT count(*) FROM hourbell_history),
		(SELECT count(*) FROM hourbell_attempt), (SELECT count(*) FROM hourbell_slot), (SELECT count(*) FROM hourbell_failing),
		(SELECT count(*) FROM hourbell_node WHERE ended_at IS NULL)`).Scan(&n[0], &n[1], &n[2], &n[3], &n[4], &n[5])
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d running, %d finished, %d attempts, %d slots, %d failing, %d nodes", n[0], n[1], n[2], n[3], n[4], n[5])
}
