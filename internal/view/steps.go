package view

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

// AddSteps reads what a job remembers. Values that may be secrets are hidden unless secrets is set.
func AddSteps(ctx context.Context, client *hourbell.Client, j *Job, secrets bool) (err error) {
	j.Steps, err = client.Jobs.Steps(ctx, j.ID)
	if !secrets {
		for i := range j.Steps {
			j.Steps[i].Value = kinds.RedactJSON(j.Steps[i].Value)
		}
	}
	return err
}

// StepRecord is a step of a job. Sort is a word of store.StepSort, and State a word of StepState.
type StepRecord struct {
	Place int32           `json:"place"` // 0: a signal for which the job has not waited yet
	Name  string          `json:"name"`
	Sort  string          `json:"sort"`
	State string          `json:"state"`
	Value json.RawMessage `json:"value"`
	Until *time.Time      `json:"until"` // when the wait ends, or ended
	At    *time.Time      `json:"at"`    // when the step was stored last
}

func stepRecords(steps []store.Step) (records []StepRecord) {
	for _, s := range steps {
		records = append(records, StepRecord{
			Place: s.Place, Name: s.Name, Sort: s.Sort.String(), State: StepState(s), Value: rawJSON(s.Value),
			Until: timeOrNull(s.Until), At: timeOrNull(s.At),
		})
	}
	return records
}

// StepState returns a word for what has become of a step: waits, timed_out, kept (a signal for which the job has not waited yet) or
// done; runs: children that have not ended, for which the job has not waited yet.
func StepState(s store.Step) string {
	switch {
	case s.Open && s.Sort == store.StepChildren && s.Until.IsZero():
		return "runs"
	case s.Open:
		return "waits"
	case s.TimedOut:
		return "timed_out"
	case s.Place == 0:
		return "kept"
	}
	return "done"
}

// StepListing shows the steps of a job.
func StepListing() Listing[store.Step] {
	return Listing[store.Step]{
		Columns: []string{"STEP", "NAME", "SORT", "STATE", "UNTIL", "STORED AT", "VALUE"},
		Minor:   []string{"UNTIL", "SORT"},
		Row: func(s store.Step) []string {
			return []string{
				fmt.Sprint(s.Place), s.Name, s.Sort.String(), StepState(s), plain.Stamp(s.Until), plain.Stamp(s.At), plain.Dash(string(s.Value)),
			}
		},
	}
}
