package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
)

// MaxHandlers is how many handlers a store has at most, because each outcome is compared with
// all of them.
const MaxHandlers = 100

// HandlerEvents is a set of events.
type HandlerEvents int16

// The events. Drivers store these numbers; they never change.
const (
	HandleStart      HandlerEvents = 1 << iota // an attempt is about to begin
	HandleSuccess                              // a job completed
	HandleFailure                              // a job failed, after its last attempt or as lost
	HandleRetry                                // an attempt failed, and the job is ready again after a delay
	HandleMissed                               // slots of a schedule were missed
	HandleNotStarted                           // a job, or a slot of a schedule that follows others, was not started
	HandleRecovery                             // a job of a failing schedule completed; see FollowUp
	HandleOutput                               // an attempt that has printed something ended its job or is tried again; only of hooks

	storedEvents = HandleOutput - 1 // that the row of a handler may have
)

var handlerEvents = []struct {
	event HandlerEvents
	name  string
}{
	{HandleStart, HookStart},
	{HandleSuccess, HookSuccess},
	{HandleFailure, HookFailure},
	{HandleRetry, HookRetry},
	{HandleMissed, HookMissed},
	{HandleNotStarted, HookNotStarted},
	{HandleRecovery, HookRecovery},
	{HandleOutput, HookOutput},
}

// AllHandlerEvents returns the words of the events that the row of a handler may have.
func AllHandlerEvents() []string { return storedEvents.Names() }

// Names returns the words of the events, in a fixed order.
func (e HandlerEvents) Names() (names []string) {
	for _, known := range handlerEvents {
		if e&known.event != 0 {
			names = append(names, known.name)
		}
	}
	return names
}

// ParseHandlerEvents is the inverse of Names; at least one word is needed.
func ParseHandlerEvents(names ...string) (events HandlerEvents, err error) {
	for _, name := range names {
		i := slices.IndexFunc(handlerEvents, func(known struct {
			event HandlerEvents
			name  string
		},
		) bool {
			return known.name == name
		})
		if i < 0 || handlerEvents[i].event&storedEvents == 0 {
			return 0, &check.FieldError{
				Field: "on", Value: check.Shorten(name), Problem: "is not an event",
				Remedy: "use " + strings.Join(AllHandlerEvents(), ", "),
			}
		}
		events |= handlerEvents[i].event
	}
	if events == 0 {
		return 0, &check.FieldError{Field: "on", Problem: "has no event", Remedy: "use " + strings.Join(AllHandlerEvents(), ", ")}
	}
	return events, nil
}

// Handler is the row of a handler. A handler makes jobs from what happens to the jobs and the
// schedules of its scope, in the transaction that records it, as FollowUps do. It holds
// for each such transaction that begins after the change of the handler was committed, on every
// node. Jobs with OriginHook set off no handlers.
//
// The hooks of a schedule are handlers of its jobs alone, without a name and a scope. They are stored with the schedule and its jobs,
// and the node that ends a job, or fires slots, applies the same rules to them.
//
// The events of a job are made from what the caller knows of the job (Outcome.Job,
// BeginRequest.Starts, Firing.Events); without that there are none. A store without handlers
// looks for them in the statements that it sends anyway.
type Handler struct {
	Name string // 1 to 200 bytes
	On   HandlerEvents
	// Kind and Group are the scope, if they are not empty: jobs of this kind, and jobs of
	// this group. Both must hold.
	Kind, Group string
	// Job is the job that is made, with HookHeader in addition to its headers. Without a kind, of hooks only, no job is made.
	Job JobSpec
	// UpdatedAt is when the handler was put last.
	UpdatedAt time.Time
}

// Same reports whether a put changes nothing of h, which is nil for a name that does not
// exist.
func (h *Handler) Same(put Handler) bool {
	return h != nil && h.On == put.On && h.Kind == put.Kind && h.Group == put.Group && h.Job.SameButArgs(&put.Job) && bytes.Equal(h.Job.Args, put.Job.Args)
}

// EncodeJob returns Job as drivers store it.
func (h *Handler) EncodeJob() string {
	text, err := json.Marshal(h.Job)
	if err != nil { // bytes, texts and numbers can always be encoded
		panic(err)
	}
	return string(text)
}

// DecodeJob is the inverse of EncodeJob.
func (h *Handler) DecodeJob(text string) error {
	if err := json.Unmarshal([]byte(text), &h.Job); err != nil {
		return fmt.Errorf("the job of handler %q: %w", h.Name, err)
	}
	return nil
}

// PutHandler is one handler to be created or replaced.
type PutHandler struct {
	Handler Handler // without UpdatedAt
	OnlyNew bool    // ErrConflict if a handler has the name
}

// CheckPut returns why a put must be refused, or nil. exists: a handler has the name; others is how many handlers with
// other names there are.
func (p PutHandler) CheckPut(exists bool, others int) error {
	switch {
	case p.OnlyNew && exists:
		return fmt.Errorf("handler %q: %w", p.Handler.Name, ErrExists)
	case others < MaxHandlers:
		return nil
	}
	return &check.FieldError{
		Field: "name", Value: check.Shorten(p.Handler.Name), Problem: fmt.Sprintf("would be handler number %d; a store has at most %d", others+1, MaxHandlers),
		Remedy: "delete another handler first, or let one handler serve several events",
	}
}

// Handlers are all handlers of a store, by name. The methods are the rules of what handlers
// make; a driver reads the rows in the transaction that records what happened.
type Handlers []Handler

// Plan returns the handlers that puts create or change. l has the handlers of the store; no other transaction adds to them.
func (l Handlers) Plan(puts []PutHandler) (changed []Handler, err error) {
	known := make(map[string]*Handler, len(l))
	for i := range l {
		known[l[i].Name] = &l[i]
	}
	for i := range puts {
		h := &puts[i].Handler
		old, others := known[h.Name], len(known)
		if old != nil {
			others--
		}
		if err := puts[i].CheckPut(old != nil, others); err != nil {
			return nil, err
		}
		if !old.Same(*h) {
			known[h.Name], changed = h, append(changed, *h)
		}
	}
	return changed, nil
}

// Begin reports whether a handler has HandleStart.
func (l Handlers) Begin() bool {
	return slices.ContainsFunc(l, func(h Handler) bool { return h.On&HandleStart != 0 })
}

// Jobs returns the jobs that an event makes, about a job or a schedule of about's kind and group.
func (l Handlers) Jobs(event HandlerEvents, about HookEvent) (jobs []NewJob) {
	for i := range l {
		h := &l[i]
		if h.Job.Kind == "" || !h.matches(event, about.Kind, about.Group) {
			continue
		}
		about.Event, about.Handler = event.Names()[0], h.Name
		spec := h.Job.Clone()
		spec.Headers = about.AddTo(spec.Headers)
		jobs = append(jobs, NewJob{JobSpec: spec, Origin: OriginHook})
	}
	return jobs
}

func (h *Handler) matches(event HandlerEvents, kind, group string) bool {
	return h.On&event != 0 && (h.Kind == "" || h.Kind == kind) && (h.Group == "" || h.Group == group)
}

// watches reports whether a handler has to know whether schedules with jobs of this kind and
// group are failing.
func (l Handlers) watches(about HookEvent) bool {
	return slices.ContainsFunc(l, func(h Handler) bool { return h.matches(HandleRecovery, about.Kind, about.Group) })
}

// AfterOutcome returns the follow-up of an outcome: Outcome.After, and the jobs of
// handlers. node is FinishRequest.Node.
func (l Handlers) AfterOutcome(o *Outcome, node string) *FollowUp {
	if len(l) == 0 || o.Job == nil || o.Job.Origin == OriginHook {
		return o.After
	}
	after, about := o.After, OutcomeEvent("", o.Job, o, node)
	switch o.Result {
	case Retry:
		after = after.and(l.Jobs(HandleRetry, about))
	case Failed:
		after = after.and(l.Jobs(HandleFailure, about))
		if l.watches(about) {
			after = after.watched(o.Job.Schedule, true, nil)
			after.JobFailed = true
		}
	case Completed:
		after = after.and(l.Jobs(HandleSuccess, about))
		if o.Job.Schedule != 0 && l.watches(about) {
			after = after.watched(o.Job.Schedule, false, l.Jobs(HandleRecovery, about))
		}
	default:
		return after
	}
	if len(o.Output) > 0 {
		after = after.and(l.Jobs(HandleOutput, about))
	}
	return after
}

// AfterLosses returns the follow-ups of jobs that fail because their nodes ended: after, if not
// nil, returns the follow-up of each job, to which the jobs of handlers are added.
func (l Handlers) AfterLosses(jobs []LostJob, after func(LostJob) *FollowUp) []*FollowUp {
	all := make([]*FollowUp, len(jobs))
	for i, job := range jobs {
		claimed := job.Claimed()
		lost := Outcome{ID: job.ID, Result: Failed, Error: LostReason, Job: &claimed}
		if after != nil {
			lost.After = after(job)
		}
		all[i] = l.AfterOutcome(&lost, "")
	}
	return all
}

// AfterFiring returns the follow-up of a firing: Firing.After, and the jobs of handlers.
func (l Handlers) AfterFiring(f *Firing) *FollowUp {
	after := f.After
	for _, about := range f.Events {
		switch about.Event {
		case HookMissed:
			after = after.and(l.Jobs(HandleMissed, about))
			if l.watches(about) {
				after = after.watched(f.Schedule, true, nil)
			}
		case HookNotStarted:
			after = after.and(l.Jobs(HandleNotStarted, about))
		}
	}
	return after
}

// AtStart returns the jobs that the starts of attempts make, also the jobs of hooks. held has
// the claims that the node holds.
func (l Handlers) AtStart(req BeginRequest, held map[ClaimRef]bool) (jobs []NewJob) {
	for i, start := range req.Starts {
		if !held[req.Claims[i]] {
			continue
		}
		jobs = append(jobs, start.Hooks...)
		if start.Job != nil && start.Job.Origin != OriginHook {
			jobs = append(jobs, l.Jobs(HandleStart, StartEvent(start.Job, req.Name))...)
		}
	}
	return jobs
}

// WaitingJob is what handlers get about a job that is not started.
type WaitingJob struct {
	ID          int64
	Kind, Group string
	Origin      Origin
	Reason      string // why it is not started
}

// AtNotStarted returns the jobs that a job makes which is not started.
func (l Handlers) AtNotStarted(job WaitingJob) []NewJob {
	if job.Origin == OriginHook {
		return nil
	}
	return l.Jobs(HandleNotStarted, HookEvent{Kind: job.Kind, Group: job.Group, Job: job.ID, Reason: plain.Fit(job.Reason, hookReason)})
}

// and returns a follow-up that also makes jobs in any case.
func (a *FollowUp) and(jobs []NewJob) *FollowUp {
	if len(jobs) == 0 {
		return a
	}
	var all FollowUp
	if a != nil {
		all = *a
	}
	all.Always = append(slices.Clip(all.Always), jobs...)
	return &all
}

// watched returns a follow-up that also stores whether its schedule is failing, with
// further jobs.
func (a *FollowUp) watched(schedule int64, failing bool, jobs []NewJob) *FollowUp {
	var all FollowUp
	if a != nil {
		all = *a
	}
	all.Schedule, all.Failing = schedule, failing
	all.Jobs = append(slices.Clip(all.Jobs), jobs...)
	return &all
}

// HookHeader is the header of a job that a hook or a handler made: a HookEvent as JSON.
const HookHeader = "hourbell-hook"

// The values of HookEvent.Event.
const (
	HookStart      = "start"
	HookSuccess    = "success"
	HookFailure    = "failure"
	HookRetry      = "retry"
	HookOutput     = "output"
	HookMissed     = "missed"
	HookNotStarted = "not_started"
	HookRecovery   = "recovery"
)

// HookEvent is the cause of a job that a hook or a handler made. Its JSON is documented for
// users; releases only add fields.
type HookEvent struct {
	// Event is start, success, failure, retry, output, missed, not_started or recovery.
	Event string `json:"event"`
	// Schedule is the name of the schedule; empty for a job without a schedule.
	Schedule string `json:"schedule"`
	// Kind is the kind of the job or, with missed, of the schedule's jobs, and Group their group.
	Kind  string `json:"kind,omitempty"`
	Group string `json:"group,omitempty"`
	// Handler is the name of the handler; empty for a hook.
	Handler string `json:"handler,omitempty"`
	// Slot, Job, Attempt and Node describe the job, and its last attempt.
	Slot    time.Time `json:"slot,omitzero"`
	Job     int64     `json:"job,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Node    string    `json:"node,omitempty"`
	// Reason is why the job or the attempt failed, why the slots were missed, or why the job
	// or the slot was not started.
	Reason string `json:"reason,omitempty"`
	// Output is the end of the output of the job's last attempt, at most 8 KiB. Bytes that are not
	// UTF-8 are replaced.
	Output string `json:"output,omitempty"`
	// First, Last and Count describe the slots that were missed.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	Count int64     `json:"count,omitempty"`
}

// What of an outcome a HookEvent has, in bytes.
const (
	hookReason = 4 << 10
	hookOutput = 8 << 10
)

// OutcomeEvent returns the cause that an outcome is. node is the name of the node, or empty
// if the node ended.
func OutcomeEvent(event string, job *Claimed, o *Outcome, node string) HookEvent {
	about := StartEvent(job, node)
	about.Event = event
	if o.Result != Completed {
		about.Reason = plain.Fit(o.Error, hookReason)
	}
	about.Output = strings.ToValidUTF8(string(o.Output[max(0, len(o.Output)-hookOutput):]), "\uFFFD")
	return about
}

// StartEvent returns the cause that the start of an attempt is. node is the name of the node.
func StartEvent(job *Claimed, node string) HookEvent {
	return HookEvent{
		Event: HookStart, Schedule: job.ScheduleName, Kind: job.Kind, Group: job.Group, Slot: job.Slot, Job: job.ID,
		Attempt: int(job.Attempt), Node: node,
	}
}

// AddTo returns the headers of a job with the cause. Headers that are not a JSON object of
// strings are dropped.
func (e HookEvent) AddTo(headers []byte) []byte {
	cause, err := json.Marshal(e)
	if err != nil { // texts, numbers and times with years of four digits can always be encoded
		panic(err)
	}
	all := map[string]string{}
	var given map[string]string
	if len(headers) > 0 && json.Unmarshal(headers, &given) == nil {
		maps.Copy(all, given)
	}
	all[HookHeader] = string(cause)
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return text
}
