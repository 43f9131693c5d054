package kinds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/handover"
)

// result is what a command reads of a predecessor.
type result struct {
	ID     int64           `json:"id"`
	Kind   string          `json:"kind"`
	State  string          `json:"state"` // empty: nothing is known of the job any more
	Reason string          `json:"reason,omitempty"`
	Result json.RawMessage `json:"result"` // null: none
}

// removeResults removes a file of resultsFile after an attempt that ended with err; "": there is
// none. A command that was handed over keeps its file.
func removeResults(path string, err error) {
	var left *handover.LeftError
	if path != "" && !errors.As(err, &left) {
		_ = os.Remove(path)
	}
}

// resultsFile writes the results of the jobs that a job follows to a file that only the
// command's user may read, and returns its path. A job that follows none has no file.
func resultsFile(ctx context.Context, job *hourbell.JobRow, user *identity) (path string, err error) {
	if !job.Follows() {
		return "", nil
	}
	predecessors, err := job.Predecessors(ctx)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(resultsOf(predecessors))
	if err != nil {
		return "", fmt.Errorf("encode the results of predecessors: %w", err)
	}
	file, err := os.CreateTemp("", "hourbell-results-*.json") // with mode 0600
	if err != nil {
		return "", fmt.Errorf("write the results of predecessors: %w", err)
	}
	_, err = file.Write(text)
	if err == nil && user != nil {
		err = giveTo(file, user)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		removeResults(file.Name(), err)
		return "", fmt.Errorf("write the results of predecessors: %w", err)
	}
	return file.Name(), nil
}

// resultsOf returns the results of predecessors by name or, where there is none, by number.
func resultsOf(predecessors []hourbell.Predecessor) map[string]result {
	results := map[string]result{}
	for _, p := range predecessors {
		one := result{ID: p.ID, Kind: p.Kind, Reason: p.Reason, Result: p.Result}
		if p.Kind != "" {
			one.State = p.State.String()
		}
		name := p.Name
		if _, taken := results[name]; taken || name == "" { // a name of another graph
			name = strconv.FormatInt(p.ID, 10)
		}
		results[name] = one
	}
	return results
}
