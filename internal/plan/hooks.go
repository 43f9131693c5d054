package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Hooks are the jobs that a schedule makes when a job of it starts, completes, fails or is tried
// again, slots are missed or not started, or it recovers. They are stored with each of the schedule's jobs, so that any
// node that ends a job knows them.
type Hooks struct {
	OnStart      HookList `json:"on_start,omitempty"`
	OnSuccess    HookList `json:"on_success,omitempty"`
	OnFailure    HookList `json:"on_failure,omitempty"`
	OnRetry      HookList `json:"on_retry,omitempty"`
	OnOutput     HookList `json:"on_output,omitempty"`
	OnMissed     HookList `json:"on_missed,omitempty"`
	OnNotStarted HookList `json:"on_not_started,omitempty"`
	OnRecovery   HookList `json:"on_recovery,omitempty"`
	// Name is the name of the schedule, for jobs that do not belong to a schedule.
	Name string `json:"name,omitempty"`
	// Queue is the queue of the hooks' jobs, if it is not the queue of the schedule's jobs.
	Queue string `json:"queue,omitempty"`
	// Count reports whether failures are counted, for Definition.PauseAfter.
	Count bool `json:"count,omitempty"`
}

// HooksOf are the hooks for one event.
type HooksOf struct {
	Event store.HandlerEvents
	Name  string // in files and messages, such as on_failure
	Jobs  *HookList
}

// Lists returns the hooks for each event, in a fixed order.
func (h *Hooks) Lists() []HooksOf {
	return []HooksOf{
		{store.HandleStart, "on_start", &h.OnStart},
		{store.HandleSuccess, "on_success", &h.OnSuccess},
		{store.HandleFailure, "on_failure", &h.OnFailure},
		{store.HandleRetry, "on_retry", &h.OnRetry},
		{store.HandleOutput, "on_output", &h.OnOutput},
		{store.HandleMissed, "on_missed", &h.OnMissed},
		{store.HandleNotStarted, "on_not_started", &h.OnNotStarted},
		{store.HandleRecovery, "on_recovery", &h.OnRecovery},
	}
}

// IsZero reports whether there are no hooks; encoding/json calls it.
func (h Hooks) IsZero() bool {
	return !h.Count && !slices.ContainsFunc(h.Lists(), func(of HooksOf) bool { return len(*of.Jobs) > 0 })
}

// handlers returns the hooks as handlers of one schedule whose jobs are in queue. While there are hooks, the store records whether the
// schedule is failing, also for a hook that is added later.
func (h Hooks) handlers(queue string) store.Handlers {
	if h.IsZero() {
		return nil
	}
	all := store.Handlers{{On: store.HandleRecovery}}
	for _, of := range h.Lists() {
		for _, hook := range *of.Jobs {
			spec := hook.spec(cmp.Or(h.Queue, queue))
			spec.Headers = WithHeaders(nil, hook.Headers)
			all = append(all, store.Handler{On: of.Event, Job: spec})
		}
	}
	return all
}

// HookList is the hooks for one event. As JSON a list of one hook is the hook, as releases with
// one hook for each event wrote and read it.
type HookList []*Hook

// MarshalJSON implements json.Marshaler.
func (l HookList) MarshalJSON() ([]byte, error) {
	if len(l) == 1 {
		return json.Marshal(l[0])
	}
	return json.Marshal([]*Hook(l))
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *HookList) UnmarshalJSON(text []byte) error {
	if strings.HasPrefix(string(text), "[") {
		return json.Unmarshal(text, (*[]*Hook)(l))
	}
	*l = HookList{nil}
	return json.Unmarshal(text, &(*l)[0])
}

// Hook describes the job of a hook.
type Hook struct {
	Kind string `json:"kind"`
	Args string `json:"args,omitempty"` // JSON as text, to keep its bytes
	// Headers are stored with the job in addition to store.HookHeader.
	Headers map[string]string `json:"headers,omitempty"`
	// Options of the job that differ from the usual options of a hook's job; zero: the usual one.
	Queue       string        `json:"queue,omitempty"`
	Priority    int16         `json:"priority,omitempty"`
	MaxAttempts int16         `json:"max_attempts,omitempty"`
	OnLoss      store.OnLoss  `json:"on_loss,omitempty"`
	Timeout     time.Duration `json:"timeout,omitempty"`
}

// Headers of jobs that only Hourbell itself reads.
const (
	HooksHeader = "hourbell-hooks" // of a schedule's job: its Hooks as JSON; store.HookHeader is of a hook's job
	// FollowsHeader marks a job that was enqueued with predecessors, so that a node knows
	// without a query.
	FollowsHeader = "hourbell-follows"
)

// Limits of a hook's job.
const (
	hookAttempts = 5
	hookTimeout  = 5 * time.Minute
)

// headers returns the headers of the schedule's jobs; nil without hooks.
func (h Hooks) headers() []byte {
	if h.IsZero() {
		return nil
	}
	return headersOf(HooksHeader, h)
}

// headersOf returns headers with one value, encoded as JSON.
func headersOf(name string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil { // texts, numbers and times with years of four digits can always be encoded
		panic(err)
	}
	headers, err := json.Marshal(map[string]string{name: string(text)})
	if err != nil {
		panic(err)
	}
	return headers
}

// Headers decodes the headers of a job. It returns nil if they are damaged, for example because a
// row was edited by hand.
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

// WithoutHook removes the header store.HookHeader.
func WithoutHook(text []byte) []byte {
	headers := Headers(text)
	if _, found := headers[store.HookHeader]; !found {
		return text
	}
	delete(headers, store.HookHeader)
	left, err := json.Marshal(headers)
	if err != nil { // texts can always be encoded
		panic(err)
	}
	return left
}

// ownHeaders is the prefix of the names of headers that Hourbell itself uses.
const ownHeaders = "hourbell-"

// WithHeaders returns the headers of a job whose user's headers are replaced by headers. The headers
// that Hourbell itself uses stay.
func WithHeaders(text []byte, headers map[string]string) []byte {
	if len(text) == 0 && len(headers) == 0 {
		return nil
	}
	all := maps.Clone(headers)
	if all == nil {
		all = map[string]string{}
	}
	for name, value := range Headers(text) {
		if strings.HasPrefix(name, ownHeaders) {
			all[name] = value
		}
	}
	if len(all) == 0 {
		return nil
	}
	encoded, err := json.Marshal(all)
	if err != nil { // texts can always be encoded
		panic(err)
	}
	return encoded
}

// WithBackoff returns the headers of a job with its back-off; an empty back-off changes nothing.
func WithBackoff(text []byte, backoff string) []byte {
	if backoff == "" {
		return text
	}
	return WithHeader(text, store.BackoffHeader, backoff)
}

// WithName returns the headers of a job with its name in a graph.
func WithName(text []byte, name string) []byte { return WithHeader(text, store.NameHeader, name) }

// WithFollows returns the headers of a job that follows others.
func WithFollows(text []byte) []byte { return WithHeader(text, FollowsHeader, "yes") }

// Follows reports whether a job with these headers was enqueued with predecessors.
func Follows(headers []byte) bool { return Headers(headers)[FollowsHeader] != "" }

// WithHeader returns headers with a header of Hourbell's own.
func WithHeader(text []byte, name, value string) []byte {
	headers := Headers(text)
	if headers == nil {
		headers = map[string]string{}
	}
	headers[name] = value
	encoded, err := json.Marshal(headers)
	if err != nil { // texts can always be encoded
		panic(err)
	}
	return encoded
}

// BackoffOf returns the back-off that is stored with a job; empty: none.
func BackoffOf(headers []byte) string {
	if len(headers) == 0 {
		return ""
	}
	return Headers(headers)[store.BackoffHeader]
}

// hooksOf returns the hooks that are stored with a job.
func hooksOf(headers []byte) Hooks {
	var hooks Hooks
	text, ok := Headers(headers)[HooksHeader]
	if !ok || json.Unmarshal([]byte(text), &hooks) != nil {
		return Hooks{}
	}
	return hooks
}

// spec returns the job of a hook without its headers, for a schedule with jobs in queue.
func (h *Hook) spec(queue string) store.JobSpec {
	return store.JobSpec{
		Kind: h.Kind, Args: []byte(cmp.Or(h.Args, "null")), Queue: cmp.Or(h.Queue, queue),
		Priority: cmp.Or(h.Priority, hookPriority), MaxAttempts: cmp.Or(h.MaxAttempts, hookAttempts),
		OnLoss: h.OnLoss, Timeout: cmp.Or(h.Timeout, hookTimeout),
	}
}

// setSpec changes the hook to another job. usual is the job that the hook has now: options that are
// equal to its options stay as they are.
func (h *Hook) setSpec(usual *store.JobSpec, spec store.JobSpec, headers map[string]string) {
	h.Kind, h.Headers, h.OnLoss = spec.Kind, headers, spec.OnLoss
	if string(spec.Args) != string(usual.Args) {
		h.Args = string(spec.Args)
	}
	if spec.Queue != usual.Queue {
		h.Queue = spec.Queue
	}
	if spec.Priority != usual.Priority {
		h.Priority = spec.Priority
	}
	if spec.MaxAttempts != usual.MaxAttempts {
		h.MaxAttempts = spec.MaxAttempts
	}
	if spec.Timeout != usual.Timeout {
		h.Timeout = spec.Timeout
	}
}

const hookPriority = 5

// FollowUp returns the follow-up of an attempt at a schedule's job; nil: none.
func FollowUp(job store.Claimed, out store.Outcome, node string) *store.FollowUp {
	if len(job.Headers) == 0 {
		return nil
	}
	hooks := hooksOf(job.Headers)
	job.ScheduleName = cmp.Or(job.ScheduleName, hooks.Name)
	out.Job, out.After = &job, nil
	return hooks.handlers(job.Queue).AfterOutcome(&out, node)
}

// LostFollowUp returns the follow-up of a job that failed because its node died.
func LostFollowUp(job store.LostJob) *store.FollowUp {
	return FollowUp(job.Claimed(), store.Outcome{Result: store.Failed, Error: store.LostReason}, "")
}

// HasStartHooks reports whether the start of an attempt at a job may make jobs by hooks.
func HasStartHooks(job *store.Claimed) bool { return bytes.Contains(job.Headers, []byte("on_start")) }

// StartHooks returns the jobs of hooks that the start of an attempt at a schedule's job makes.
func StartHooks(job *store.Claimed, node string) []store.NewJob {
	if !HasStartHooks(job) {
		return nil
	}
	hooks := hooksOf(job.Headers)
	about := store.StartEvent(job, node)
	about.Schedule = cmp.Or(about.Schedule, hooks.Name)
	return hooks.handlers(job.Queue).Jobs(store.HandleStart, about)
}

// addEvents adds to a firing what it records for hooks and handlers: the slots that were missed, as
// one event, and each end by which the schedule is not started.
func (d Definition) addEvents(s store.Schedule, f *store.Firing) {
	f.After, f.Events = nil, nil
	cause := store.HookEvent{Schedule: s.Name, Kind: d.Kind, Group: d.Group}
	missed := cause
	missed.Event = store.HookMissed
	for _, r := range f.Slots {
		switch r.Outcome {
		case store.SlotMissed:
			if missed.Count == 0 {
				missed.First, missed.Reason = r.Slot, r.Reason
			}
			missed.Last = r.Last
			missed.Count += r.Count
		case store.SlotNotStarted:
			about := cause
			about.Event, about.Slot, about.Reason = store.HookNotStarted, r.Slot, r.Reason
			f.Events = append(f.Events, about)
		}
	}
	if missed.Count > 0 {
		f.Events = append(f.Events, missed)
	}
	f.Schedule = s.ID
	f.After = d.Hooks.handlers(d.Queue).AfterFiring(f)
}
