package view

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// JobRecord is a job in machine-readable output. Fields are only ever added.
type JobRecord struct {
	ID          int64   `json:"id"`
	Kind        string  `json:"kind"`
	Queue       string  `json:"queue"`
	Group       *string `json:"group"`
	Key         *string `json:"key"`
	Batch       *int64  `json:"batch"`
	Name        *string `json:"name"`                // in its graph
	State       string  `json:"state" shape:"state"` // a word of JobState
	Priority    int16   `json:"priority"`
	Attempt     int16   `json:"attempt"`
	MaxAttempts int16   `json:"max_attempts"`
	// Losses is how many nodes in succession died while the job ran, or when it
	// was about to begin.
	Losses int16 `json:"losses"`
	// Snoozes is how many attempts ended with a snooze; they do not count in
	// Attempt.
	Snoozes    int64           `json:"snoozes"`
	Token      *int64          `json:"token"`
	RunAt      *time.Time      `json:"run_at"`
	CreatedAt  *time.Time      `json:"created_at"`
	StartedAt  *time.Time      `json:"started_at"`
	FinishedAt *time.Time      `json:"finished_at"`
	Node       *string         `json:"node"`
	Schedule   *string         `json:"schedule"`
	Slot       *time.Time      `json:"slot"`
	Origin     string          `json:"origin"`
	Args       json.RawMessage `json:"args"`
	Timeout    *string         `json:"timeout"`
	Backoff    *string         `json:"backoff"`
	OnLoss     string          `json:"on_loss"`
	Unique     *string         `json:"unique"`
	Reason     *string         `json:"reason"`
	// After are the jobs that the job waits or waited for.
	After []AfterRecord `json:"after"`
	// Waits is why no living node takes the job, although it is due, or for which
	// jobs it waits.
	Waits *string `json:"waits"`
	// Hook describes, for a hook's job, the event that caused it.
	Hook            json.RawMessage      `json:"hook,omitempty"`
	CancelRequested bool                 `json:"cancel_requested"`
	Errors          []AttemptErrorRecord `json:"errors"`
	Attempts        []AttemptRecord      `json:"attempts"`
	// Steps are what the job remembers.
	Steps []StepRecord `json:"steps,omitempty"`
	// Progress is how far the last attempt has come, if it has reported that.
	Progress *ProgressRecord `json:"progress"`
	// StuckSince is since when the context of the last attempt has ended, if its worker was found not to return.
	StuckSince *time.Time `json:"stuck_since"`
	// Result is what the attempt that ended the job left for others.
	Result json.RawMessage `json:"result"`
	Output *string         `json:"output"`
	// OutputBase64 has the bytes of an output that is not valid UTF-8.
	OutputBase64 string `json:"output_base64,omitempty"`
}

// AfterRecord is a job that another job waits or waited for. On is a word of store.On, and
// Delay a duration.
type AfterRecord struct {
	Job   int64  `json:"job"`
	On    string `json:"on"`
	Delay string `json:"delay"`
}

// AttemptRecord is an attempt that did not complete, or that has output. Outcome
// is a word of store.AttemptOutcome.
type AttemptRecord struct {
	Attempt    int16      `json:"attempt"`
	Token      int64      `json:"token"`
	Node       *string    `json:"node"`
	StartedAt  *time.Time `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	Outcome    string     `json:"outcome"`
	Error      *string    `json:"error"`
}

// AttemptErrorRecord is an attempt that was spent with an error.
type AttemptErrorRecord struct {
	Attempt    int16      `json:"attempt"`
	Token      int64      `json:"token"`
	Node       *string    `json:"node"`
	StartedAt  *time.Time `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	Error      string     `json:"error"`
	Trace      *string    `json:"trace"`
}

// JobName returns the name of a job in its graph; empty: it has none.
func JobName(j store.JobInfo) string { return header(j, hourbell.NameHeader) }

// NewJobRecord returns the record of a job. now is the time of the store's clock.
func NewJobRecord(j Job, now time.Time) JobRecord {
	r := JobRecord{
		ID: j.ID, Kind: j.Kind, Queue: j.Queue, Group: orNull(j.Group), Key: orNull(j.Key), Batch: orNull(j.Batch),
		Name: orNull(JobName(j.JobInfo)), State: JobState(j.JobInfo, now),
		Priority: j.Priority, Attempt: j.Attempt, MaxAttempts: j.MaxAttempts, Losses: j.Losses, Snoozes: j.Snoozes, Token: orNull(j.Token),
		RunAt: timeOrNull(j.RunAt), CreatedAt: timeOrNull(j.CreatedAt),
		StartedAt: timeOrNull(j.StartedAt), FinishedAt: timeOrNull(j.FinishedAt),
		Node: orNull(jobNode(j.JobInfo)), Schedule: orNull(j.ScheduleName), Slot: timeOrNull(j.Slot), Origin: j.Origin.String(),
		Args: rawJSON(j.Args), Timeout: timeoutOrNull(j.Timeout), Backoff: orNull(header(j.JobInfo, hourbell.BackoffHeader)),
		OnLoss: j.OnLoss.String(), Unique: orNull(j.Unique),
		Reason: orNull(j.Reason), Waits: orNull(j.Waits), Hook: aboutHook(j.JobInfo), CancelRequested: j.CancelAsked,
		Errors: []AttemptErrorRecord{}, After: []AfterRecord{},
		Attempts: []AttemptRecord{}, Result: rawJSON(j.Result), Progress: newProgressRecord(j.Progress), StuckSince: timeOrNull(j.Progress.Stuck),
	}
	r.Steps = stepRecords(j.Steps)
	for _, e := range j.After {
		r.After = append(r.After, AfterRecord{e.Job, e.On.String(), e.Delay.String()})
	}
	for _, a := range j.Attempts {
		r.Attempts = append(r.Attempts, AttemptRecord{
			Attempt: a.Attempt, Token: a.Token, Node: orNull(a.Node), StartedAt: timeOrNull(a.StartedAt), FinishedAt: timeOrNull(a.FinishedAt),
			Outcome: a.Outcome.String(), Error: orNull(a.Error),
		})
		if a.Error != "" && !refunded(a.Outcome) {
			r.Errors = append(r.Errors, AttemptErrorRecord{
				Attempt: a.Attempt, Token: a.Token, Node: orNull(a.Node),
				StartedAt: timeOrNull(a.StartedAt), FinishedAt: timeOrNull(a.FinishedAt),
				Error: a.Error, Trace: orNull(a.Trace),
			})
		}
	}
	output := j.Printing.Data
	if len(output) == 0 {
		output = lastOutput(j.JobInfo)
	}
	if len(output) > 0 {
		text := validText(output)
		r.Output = &text
		if !utf8.Valid(output) {
			r.OutputBase64 = base64.StdEncoding.EncodeToString(output)
		}
	}
	return r
}

// afterText returns the predecessors of a job as --after takes them.
func afterText(j store.JobInfo) string {
	var texts []string
	for _, e := range j.After {
		text := fmt.Sprintf("%d:%v", e.Job, e.On)
		if e.Delay > 0 {
			text += ":" + e.Delay.String()
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// JobFacts returns the facts about a job, without its attempts. now is the time
// of the store's clock.
func JobFacts(j Job, now time.Time) []Fact {
	return []Fact{
		{"job", fmt.Sprint(j.ID)},
		{"state", JobState(j.JobInfo, now)},
		{"reason", j.Reason},
		{"waits", j.Waits},
		{"cancel", cancelAsked(j.JobInfo)},
		{"after", afterText(j.JobInfo)},
		{"kind", j.Kind},
		{"args", string(j.Args)},
		{"hook", string(aboutHook(j.JobInfo))},
		{"queue", j.Queue},
		{"group", j.Group},
		{"key", j.Key},
		{"batch", batchText(j.Batch)},
		{"name", JobName(j.JobInfo)},
		{"priority", fmt.Sprint(j.Priority)},
		{"attempt", fmt.Sprintf("%d of %d", j.Attempt, j.MaxAttempts)},
		{"snoozes", snoozes(j.Snoozes)},
		{"losses", losses(j.Losses)},
		{"on_loss", j.OnLoss.String()},
		{"unique", j.Unique},
		{"timeout", shownTimeout(j.Timeout)},
		{"backoff", header(j.JobInfo, hourbell.BackoffHeader)},
		{"origin", j.Origin.String()},
		{"schedule", j.ScheduleName},
		{"slot", plain.Stamp(j.Slot)},
		{"created_at", plain.Stamp(j.CreatedAt)},
		{"run_at", plain.Stamp(j.RunAt)},
		{"started_at", plain.Stamp(j.StartedAt)},
		{"finished_at", plain.Stamp(j.FinishedAt)},
		{"took", took(j.JobInfo)},
		{"progress", ShownProgress(j.Progress)},
		{"stuck", shownStuck(j.JobInfo, now)},
		{"result", string(j.Result)},
		{"node", jobNode(j.JobInfo)},
	}
}

// snoozes returns the text for the number of attempts that ended with a snooze;
// empty for 0.
func snoozes(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// refunded reports whether an attempt with this outcome does not count.
func refunded(o store.AttemptOutcome) bool {
	return o == store.AttemptReleased || o == store.AttemptLeaseLost || o == store.AttemptSnoozed
}

// losses returns the text for the number of times in succession that a job was
// lost; empty for 0.
func losses(n int16) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d in a row", n)
}

// aboutHook returns, for a hook's job, the event that caused it, as JSON.
func aboutHook(j store.JobInfo) json.RawMessage {
	if about := header(j, hourbell.HookHeader); about != "" {
		return rawJSON([]byte(about))
	}
	return nil
}

// header returns a header of a job; empty: the job has no such header.
func header(j store.JobInfo, name string) string {
	var headers map[string]string
	if json.Unmarshal(j.Headers, &headers) != nil {
		return ""
	}
	return headers[name]
}
