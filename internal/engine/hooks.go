package engine

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// Hooks are the jobs that a schedule makes of what becomes of it. They travel
// with each of its jobs, so that whoever ends one knows them.
type Hooks struct {
	OnFailure  *Hook `json:"on_failure,omitempty"`
	OnMissed   *Hook `json:"on_missed,omitempty"`
	OnRecovery *Hook `json:"on_recovery,omitempty"`
	// Name is that of the schedule where the job has none to belong to.
	Name string `json:"name,omitempty"`
	// Count says that failures are counted, for Definition.PauseAfter.
	Count bool `json:"count,omitempty"`
}

// IsZero says whether there are none; encoding/json asks it.
func (h Hooks) IsZero() bool {
	return h.OnFailure == nil && h.OnMissed == nil && h.OnRecovery == nil && !h.Count
}

// Hook is the job that a hook makes.
type Hook struct {
	Kind string `json:"kind"`
	Args string `json:"args,omitempty"` // JSON as text, to keep its bytes
}

// The headers of jobs that hooks are about.
const (
	HooksHeader = "hourbell-hooks" // of a schedule's job: its Hooks as JSON
	HookHeader  = "hourbell-hook"  // of a hook's job: the HookEvent as JSON
)

// What a hook can be about.
const (
	HookFailure  = "failure"
	HookMissed   = "missed"
	HookRecovery = "recovery"
)

// HookEvent is what a hook is about. Its JSON is documented for users: fields
// are only ever added.
type HookEvent struct {
	// Event is failure, missed or recovery.
	Event    string `json:"event"`
	Schedule string `json:"schedule"`
	// Slot, Job, Attempt and Node tell of the job that failed or completed.
	Slot    time.Time `json:"slot,omitzero"`
	Job     int64     `json:"job,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Node    string    `json:"node,omitempty"`
	// Reason is why the job failed, or the slots were missed.
	Reason string `json:"reason,omitempty"`
	// Output is the end of what the job's last attempt printed, at most 8 KiB,
	// with what is not UTF-8 replaced.
	Output string `json:"output,omitempty"`
	// First, Last and Count tell of the slots that were missed.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	Count int64     `json:"count,omitempty"`
}

// Bounds of what a hook's job carries and how it is tried.
const (
	hookReason   = 4 << 10
	hookOutput   = 8 << 10
	hookAttempts = 5
	hookTimeout  = 5 * time.Minute
)

// headers returns what travels with the schedule's jobs; nil without hooks.
func (h Hooks) headers() []byte {
	if h.IsZero() {
		return nil
	}
	return headersOf(HooksHeader, h)
}

// headersOf encodes a value as the only header.
func headersOf(name string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil { // texts, numbers and times of four-digit years always encode
		panic(err)
	}
	headers, err := json.Marshal(map[string]string{name: string(text)})
	if err != nil {
		panic(err)
	}
	return headers
}

// Headers decodes a job's headers. What is none, as a hand on the database may
// leave it, is empty.
func Headers(text []byte) map[string]string {
	if len(text) == 0 {
		return nil
	}
	var headers map[string]string
	if json.Unmarshal(text, &headers) != nil {
		return nil
	}
	return headers
}

// withoutHook takes away what a hook is about.
func withoutHook(text []byte) []byte {
	headers := Headers(text)
	if _, found := headers[HookHeader]; !found {
		return text
	}
	delete(headers, HookHeader)
	left, err := json.Marshal(headers)
	if err != nil { // texts always encode
		panic(err)
	}
	return left
}

// hooksOf returns the hooks that travel with a job.
func hooksOf(headers []byte) Hooks {
	var hooks Hooks
	text, ok := Headers(headers)[HooksHeader]
	if !ok || json.Unmarshal([]byte(text), &hooks) != nil {
		return Hooks{}
	}
	return hooks
}

// job returns the job a hook makes; none for a nil hook.
func (h *Hook) job(queue string, about HookEvent) []store.NewJob {
	if h == nil {
		return nil
	}
	args := h.Args
	if args == "" {
		args = "null"
	}
	return []store.NewJob{{
		Kind: h.Kind, Args: []byte(args), Queue: queue, Headers: headersOf(HookHeader, about),
		Priority: hookPriority, MaxAttempts: hookAttempts, Origin: store.OriginHook, Timeout: hookTimeout,
	}}
}

const hookPriority = 5

// aftermath is what the end of a schedule's job brings about; nil: nothing.
func followUp(job store.Claimed, out store.Outcome, node string) *store.FollowUp {
	if len(job.Headers) == 0 || out.Result != store.Completed && out.Result != store.Failed {
		return nil
	}
	hooks := hooksOf(job.Headers)
	if hooks.IsZero() {
		return nil
	}
	about := HookEvent{
		Event: HookRecovery, Schedule: cmp.Or(job.ScheduleName, hooks.Name), Slot: job.Slot, Job: job.ID, Attempt: int(job.Attempt), Node: node,
		Output: strings.ToValidUTF8(string(out.Output[max(0, len(out.Output)-hookOutput):]), "\uFFFD"),
	}
	hook := hooks.OnRecovery
	failing := out.Result == store.Failed
	if failing {
		about.Event, about.Reason = HookFailure, event.Text(out.Error, hookReason)
		hook = hooks.OnFailure
	}
	return &store.FollowUp{Schedule: job.Schedule, Failing: failing, JobFailed: failing, Jobs: hook.job(job.Queue, about)}
}

// lostAftermath is what a job brings about that failed because its node died.
func lostFollowUp(job store.LostJob) *store.FollowUp {
	return followUp(store.Claimed{
		ID: job.ID, Token: job.Token, Kind: job.Kind, Queue: job.Queue, Headers: job.Headers, Attempt: job.Attempt,
		Schedule: job.Schedule, ScheduleName: job.ScheduleName, Slot: job.Slot,
	}, store.Outcome{Result: store.Failed, Error: store.LostReason}, "")
}

// missedAftermath is what missed slots bring about; nil if none was missed, or
// there are no hooks.
func (d Definition) missedFollowUp(s store.Schedule, records []store.SlotRecord) *store.FollowUp {
	if d.Hooks.IsZero() {
		return nil
	}
	about := HookEvent{Event: HookMissed, Schedule: s.Name}
	for _, r := range records {
		if r.Outcome != store.SlotMissed {
			continue
		}
		if about.Count == 0 {
			about.First, about.Reason = r.Slot, r.Reason
		}
		about.Last = r.Last
		about.Count += r.Count
	}
	if about.Count == 0 {
		return nil
	}
	return &store.FollowUp{Schedule: s.ID, Failing: true, Jobs: d.Hooks.OnMissed.job(d.Queue, about)}
}
