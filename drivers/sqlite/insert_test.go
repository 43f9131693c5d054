package sqlite

import (
	"errors"
	"testing"

	"github.com/hourbell/hourbell/store"
)

// TestARejectedJobOfABatchWithKeys inserts a batch with a job that a trigger of the
// file's owner forbids: nothing is stored, and the keys are free.
func TestARejectedJobOfABatchWithKeys(t *testing.T) {
	b := openFile(t, newFile(t))
	const trigger = "CREATE TRIGGER t BEFORE INSERT ON hourbell_job WHEN CAST(new.args AS TEXT) LIKE '%forbidden%' BEGIN SELECT RAISE(ABORT, 'no'); END"
	if _, err := b.writer.ExecContext(t.Context(), trigger); err != nil {
		t.Fatal(err)
	}
	job := store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 1}}
	jobs := []store.NewJob{job, job, job}
	jobs[0].Unique, jobs[2].Unique = "a", "b"
	forbidden := append(jobs[:2:2], jobs[2])
	forbidden[2].Args = []byte(`"forbidden"`)
	if _, err := b.Insert(t.Context(), store.InsertRequest{Jobs: forbidden}); !errors.Is(err, store.ErrRejected) {
		t.Errorf("an insert with a forbidden job: %v", err)
	}
	res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	for i, answer := range res.Jobs {
		if answer.Existed {
			t.Errorf("job %d was stored by an insert that was rejected", i)
		}
	}
	listed, err := b.ListJobs(t.Context(), store.ListJobsRequest{Limit: 10})
	if err != nil || len(listed) != len(jobs) {
		t.Errorf("%d jobs are stored, want %d: %v", len(listed), len(jobs), err)
	}
}
