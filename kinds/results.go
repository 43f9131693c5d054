package kinds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/hourbell/hourbell"
)

// result is what a command reads of a predecessor.
type result struct {
	ID     int64           `json:"id"`
	Kind   string          `json:"kind"`
	State  string          `json:"state"` // empty: nothing is known of the job any more
	Reason string          `json:"reason,omitempty"`
	Result json.RawMessage `json:"result"` // null: none
}

// resultsFile writes the results of the jobs that a job follows to a file that only the
// command's user may read, and returns its path and what removes it. A job that follows none
// has no file.
func resultsFile(ctx context.Context, job *hourbell.JobRow, user *identity) (path string, remove func(), err error) {
	remove = func() {}
	if !job.Follows() {
		return "", remove, nil
	}
	predecessors, err := job.Predecessors(ctx)
	if err != nil {
		return "", remove, err
	}
	results := map[string]result{} // by name or, where there is none, by number
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
	text, err := json.Marshal(results)
	if err != nil {
		return "", remove, fmt.Errorf("encode the results of predecessors: %w", err)
	}
	file, err := os.CreateTemp("", "hourbell-results-*.json") // with mode 0600
	if err != nil {
		return "", remove, fmt.Errorf("write the results of predecessors: %w", err)
	}
	remove = func() { _ = os.Remove(file.Name()) }
	_, err = file.Write(text)
	if err == nil && user != nil {
		err = giveTo(file, user)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		remove()
		return "", func() {}, fmt.Errorf("write the results of predecessors: %w", err)
	}
	return file.Name(), remove, nil
}
