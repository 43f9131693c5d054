package view

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// BatchListing shows batches.
func BatchListing() Listing[store.Batch] {
	return Listing[store.Batch]{
		Columns: []string{"BATCH", "STATE", "ENDED", "FAILED", "CANCELLED", "NOT STARTED", "FINALLY", "CREATED"},
		Minor:   []string{"FINALLY", "CREATED", "NOT STARTED"},
		Row: func(b store.Batch) []string {
			return []string{
				fmt.Sprint(b.ID), b.State().String(), fmt.Sprintf("%d of %d", b.Ended(), b.Total()),
				fmt.Sprint(b.Counts[store.StateFailed]), fmt.Sprint(b.Counts[store.StateCancelled]), fmt.Sprint(b.Counts[store.StateNotStarted]),
				plain.Dash(finallyText(b)), plain.Stamp(b.CreatedAt),
			}
		},
		Record: func(b store.Batch) any { return NewBatchRecord(b) },
	}
}

// BatchRecord is a batch in machine-readable output. Fields are only ever added.
type BatchRecord struct {
	ID        int64            `json:"id"`
	State     string           `json:"state"` // running, completed or failed
	CreatedAt *time.Time       `json:"created_at"`
	Total     int64            `json:"total"` // jobs, without the last job
	Ended     int64            `json:"ended"`
	Count     int64            `json:"count"` // jobs, with the last job
	Jobs      map[string]int64 `json:"jobs"`  // how many, by state
	Finally   *FinallyRecord   `json:"finally"`
}

// FinallyRecord is the last job of a batch.
type FinallyRecord struct {
	Job   int64  `json:"job"`
	State string `json:"state"`
}

// NewBatchRecord returns the record of a batch.
func NewBatchRecord(b store.Batch) BatchRecord {
	r := BatchRecord{
		ID: b.ID, State: b.State().String(), CreatedAt: timeOrNull(b.CreatedAt), Total: b.Total(),
		Ended: b.Ended(), Count: b.Total(), Jobs: map[string]int64{},
	}
	for state, n := range b.Counts {
		r.Jobs[store.State(state).String()] = n
	}
	if b.Finally != 0 {
		r.Finally = &FinallyRecord{b.Finally, b.FinallyState.String()}
		r.Count++
	}
	return r
}

// BatchFacts returns the facts about a batch.
func BatchFacts(b store.Batch) []Fact {
	jobs := fmt.Sprint(b.Total())
	if b.Finally != 0 {
		jobs = fmt.Sprintf("%d with the last job", b.Total()+1)
	}
	facts := []Fact{
		{"batch", fmt.Sprint(b.ID)},
		{"jobs", jobs},
		{"state", b.State().String()},
		{"ended", fmt.Sprintf("%d of %d", b.Ended(), b.Total())},
	}
	for state, n := range b.Counts {
		if n > 0 {
			facts = append(facts, Fact{store.State(state).String(), fmt.Sprint(n)})
		}
	}
	return append(facts, Fact{"finally", finallyText(b)}, Fact{"created_at", plain.Stamp(b.CreatedAt)})
}

// finallyText returns the last job of a batch and its state.
func finallyText(b store.Batch) string {
	if b.Finally == 0 {
		return ""
	}
	return fmt.Sprintf("job %d %v", b.Finally, b.FinallyState)
}

// batchText returns the number of a job's batch, or an empty text.
func batchText(id int64) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprint(id)
}
