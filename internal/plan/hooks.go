package plan

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// Hooks are the jobs that a schedule makes when a job of it completes, fails or is tried again,
// slots are missed, or it recovers. They are stored with each of the schedule's jobs, so that any
// node that ends a job knows them.
type Hooks struct {
	OnSuccess  HookList `json:"on_success,omitempty"`
	OnFailure  HookList `json:"on_failure,omitempty"`
	OnRetry    HookList `json:"on_retry,omitempty"`
	OnMissed   HookList `json:"on_missed,omitempty"`
	OnRecovery HookList `json:"on_recovery,omitempty"`
	// Name is the name of the schedule, for jobs that do not belong to a schedule.
	Name string `json:"name,omitempty"`
	// Count reports whether failures are counted, for Definition.PauseAfter.
	Count bool `json:"count,omitempty"`
}

// IsZero reports whether there are no hooks; encoding/json calls it.
func (h Hooks) IsZero() bool {
	return len(h.OnSuccess)+len(h.OnFailure)+len(h.OnRetry)+len(h.OnMissed)+len(h.OnRecovery) == 0 && !h.Count
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
	// Headers are stored with the job in addition to HookHeader.
	Headers map[string]string `json:"headers,omitempty"`
	// Options of the job that differ from the usual options of a hook's job; zero: the usual one.
	Queue       string        `json:"queue,omitempty"`
	Priority    int16         `json:"priority,omitempty"`
	MaxAttempts int16         `json:"max_attempts,omitempty"`
	OnLoss      store.OnLoss  `json:"on_loss,omitempty"`
	Timeout     time.Duration `json:"timeout,omitempty"`
}

// Headers of jobs.
const (
	HooksHeader = "hourbell-hooks" // of a schedule's job: its Hooks as JSON
	HookHeader  = "hourbell-hook"  // of a hook's job: the HookEvent as JSON
	// BackoffHeader has the back-off of a job, as package backoff writes it.
	BackoffHeader = "hourbell-backoff"
	// NameHeader has the name of a job in its graph.
	NameHeader = "hourbell-name"
	// FollowsHeader marks a job that was enqueued with predecessors, so that a node knows
	// without a query.
	FollowsHeader = "hourbell-follows"
)

// The values of HookEvent.Event.
const (
	HookSuccess  = "success"
	HookFailure  = "failure"
	HookRetry    = "retry"
	HookMissed   = "missed"
	HookRecovery = "recovery"
)

// HookEvent is the cause of a hook's job. Its JSON is documented for users; releases only add
// fields.
type HookEvent struct {
	// Event is success, failure, retry, missed or recovery.
	Event    string `json:"event"`
	Schedule string `json:"schedule"`
	// Kind is the kind of the job or, with missed, of the schedule's jobs, and Group their group.
	Kind  string `json:"kind,omitempty"`
	Group string `json:"group,omitempty"`
	// Slot, Job, Attempt and Node describe the job, and its last attempt.
	Slot    time.Time `json:"slot,omitzero"`
	Job     int64     `json:"job,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Node    string    `json:"node,omitempty"`
	// Reason is why the job or the attempt failed, or why the slots were missed.
	Reason string `json:"reason,omitempty"`
	// Output is the end of the output of the job's last attempt, at most 8 KiB. Bytes that are not
	// UTF-8 are replaced.
	Output string `json:"output,omitempty"`
	// First, Last and Count describe the slots that were missed.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	Count int64     `json:"count,omitempty"`
}

// Limits of a hook's job: bytes of its reason and output, its attempts and its timeout.
const (
	hookReason   = 4 << 10
	hookOutput   = 8 << 10
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

// WithoutHook removes the header HookHeader.
func WithoutHook(text []byte) []byte {
	headers := Headers(text)
	if _, found := headers[HookHeader]; !found {
		return text
	}
	delete(headers, HookHeader)
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
	return withHeader(text, BackoffHeader, backoff)
}

// WithName returns the headers of a job with its name in a graph.
func WithName(text []byte, name string) []byte { return withHeader(text, NameHeader, name) }

// WithFollows returns the headers of a job that follows others.
func WithFollows(text []byte) []byte { return withHeader(text, FollowsHeader, "yes") }

// Follows reports whether a job with these headers was enqueued with predecessors.
func Follows(headers []byte) bool { return Headers(headers)[FollowsHeader] != "" }

func withHeader(text []byte, name, value string) []byte {
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
	return Headers(headers)[BackoffHeader]
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

// jobs returns the jobs of hooks.
func (l HookList) jobs(queue string, about HookEvent) (jobs []store.NewJob) {
	for _, h := range l {
		spec := h.spec(queue)
		spec.Headers = headersOf(HookHeader, about)
		if len(h.Headers) > 0 {
			spec.Headers = WithHeaders(spec.Headers, h.Headers)
		}
		jobs = append(jobs, store.NewJob{JobSpec: spec, Origin: store.OriginHook})
	}
	return jobs
}

// spec returns the job of a hook without its headers, for a schedule with jobs in queue.
func (h *Hook) spec(queue string) store.JobSpec {
	return store.JobSpec{
		Kind: h.Kind, Args: []byte(cmp.Or(h.Args, "null")), Queue: cmp.Or(h.Queue, queue),
		Priority: cmp.Or(h.Priority, hookPriority), MaxAttempts: cmp.Or(h.MaxAttempts, hookAttempts),
		OnLoss: h.OnLoss, Timeout: cmp.Or(h.Timeout, hookTimeout),
	}
}

const hookPriority = 5

// FollowUp returns the follow-up of an attempt at a schedule's job; nil: none.
func FollowUp(job store.Claimed, out store.Outcome, node string) *store.FollowUp {
	if len(job.Headers) == 0 || !out.Result.FollowsUp() && out.Result != store.Retry {
		return nil
	}
	hooks := hooksOf(job.Headers)
	if hooks.IsZero() || out.Result == store.Retry && len(hooks.OnRetry) == 0 {
		return nil
	}
	about := func(event string) HookEvent {
		return HookEvent{
			Event: event, Schedule: cmp.Or(job.ScheduleName, hooks.Name), Kind: job.Kind, Group: job.Group, Slot: job.Slot, Job: job.ID,
			Attempt: int(job.Attempt), Node: node, Reason: why(out),
			Output: strings.ToValidUTF8(string(out.Output[max(0, len(out.Output)-hookOutput):]), "\uFFFD"),
		}
	}
	switch out.Result {
	case store.Retry:
		return &store.FollowUp{Always: hooks.OnRetry.jobs(job.Queue, about(HookRetry))}
	case store.Failed:
		return &store.FollowUp{Schedule: job.Schedule, Failing: true, JobFailed: true, Jobs: hooks.OnFailure.jobs(job.Queue, about(HookFailure))}
	}
	return &store.FollowUp{
		Schedule: job.Schedule, Always: hooks.OnSuccess.jobs(job.Queue, about(HookSuccess)), Jobs: hooks.OnRecovery.jobs(job.Queue, about(HookRecovery)),
	}
}

// why returns the reason of an attempt that did not complete.
func why(out store.Outcome) string {
	if out.Result == store.Completed {
		return ""
	}
	return event.Text(out.Error, hookReason)
}

// LostFollowUp returns the follow-up of a job that failed because its node died.
func LostFollowUp(job store.LostJob) *store.FollowUp {
	return FollowUp(store.Claimed{
		JobSpec: job.JobSpec, ID: job.ID, Token: job.Token, Attempt: job.Attempt,
		Schedule: job.Schedule, ScheduleName: job.ScheduleName, Slot: job.Slot,
	}, store.Outcome{Result: store.Failed, Error: store.LostReason}, "")
}

// missedFollowUp returns the follow-up of missed slots; nil if no slot was missed or there are no
// hooks.
func (d Definition) missedFollowUp(s store.Schedule, records []store.SlotRecord) *store.FollowUp {
	if d.Hooks.IsZero() {
		return nil
	}
	about := HookEvent{Event: HookMissed, Schedule: s.Name, Kind: d.Kind, Group: d.Group}
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
	return &store.FollowUp{Schedule: s.ID, Failing: true, Jobs: d.Hooks.OnMissed.jobs(d.Queue, about)}
}
