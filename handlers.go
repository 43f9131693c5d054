package hourbell

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// EventHandler makes a job from each event of its scope: of all jobs, of the jobs of a kind, or of
// the jobs of a group, on every node. The job is made in the transaction that records the event,
// it is retried, and it can be listed. Its worker finds the cause, a store.HookEvent, as the worker of a
// hook does (see Hooks). Jobs that a handler or a hook has made set off no handlers.
type EventHandler struct {
	Name string // 1 to 200 bytes
	// On are the events, at least one: HookStart, HookSuccess, HookFailure, HookRetry,
	// HookMissed, HookNotStarted, HookRecovery.
	On []string
	// Kind and Group are the scope: only jobs of this kind, and only jobs of this group. With
	// HookMissed and HookRecovery they are the kind and the group of the schedule's jobs. Empty:
	// of any kind, of any group. If both are given, both must hold.
	Kind, Group string
	// Job is the job that is made.
	Job Args
	// Options of the job, as in Schedule; zero: the default, except that MaxAttempts is 5,
	// and Timeout is five minutes.
	Queue       string
	Priority    int
	MaxAttempts int
	OnLoss      store.OnLoss
	Timeout     time.Duration
	Backoff     string
}

// EventHandlerInfo is a stored handler. Job is a RawArgs.
type EventHandlerInfo struct {
	EventHandler
	UpdatedAt time.Time
}

// HandlerService keeps the handlers of the store: Client.Handlers. Concurrent calls are
// allowed.
type HandlerService struct{ client *Client }

// Validate returns everything that is wrong with the handler, each as a *check.FieldError,
// together a *InvalidError, or nil.
func (h EventHandler) Validate() error {
	_, err := h.encode()
	return err
}

// The defaults of a handler's job.
const (
	handlerAttempts = 5
	handlerTimeout  = 5 * time.Minute
)

func (h EventHandler) encode() (store.Handler, error) {
	h.Queue, h.Priority = cmp.Or(h.Queue, defaultQueue), cmp.Or(h.Priority, defaultPriority)
	h.MaxAttempts, h.Timeout = cmp.Or(h.MaxAttempts, handlerAttempts), cmp.Or(h.Timeout, handlerTimeout)
	events, eventsErr := store.ParseHandlerEvents(h.On...)
	job, jobErr := encodeArgs("", h.Job)
	err := check.Join(
		check.Name("name", h.Name), eventsErr, checkIfGiven("kind", h.Kind), checkIfGiven("group", h.Group), jobErr, check.Name("queue", h.Queue),
		checkPriority(h.Priority), checkMaxAttempts(h.MaxAttempts), checkOnLoss(h.OnLoss), checkDuration("timeout", h.Timeout), checkBackoff(h.Backoff),
	)
	if err != nil {
		return store.Handler{}, err
	}
	return store.Handler{Name: h.Name, On: events, Kind: h.Kind, Group: h.Group, Job: store.JobSpec{
		Kind: job.Name, Args: job.JSON, Queue: h.Queue, Priority: int16(h.Priority), MaxAttempts: int16(h.MaxAttempts), OnLoss: h.OnLoss, Timeout: h.Timeout,
		Headers: plan.WithBackoff(nil, h.Backoff),
	}}, nil
}

// Put creates or replaces a handler. It holds on every
// node for each transaction that begins after Put has returned. A store has at most 100
// handlers.
func (s *HandlerService) Put(ctx context.Context, handler EventHandler) (Saved[EventHandler], error) {
	return s.put(ctx, handler, false)
}

// Create is Put of a handler whose name is new: ErrExists if a handler has the name, even an equal handler.
func (s *HandlerService) Create(ctx context.Context, handler EventHandler) error {
	_, err := s.put(ctx, handler, true)
	return err
}

func (s *HandlerService) put(ctx context.Context, handler EventHandler, onlyNew bool) (saved Saved[EventHandler], err error) {
	row, err := handler.encode()
	if err != nil {
		return saved, fmt.Errorf("put handler %q: %w", check.Shorten(handler.Name), err)
	}
	res, err := s.client.backend.Put(ctx, store.PutRequest{Handlers: []store.PutHandler{{Handler: row, OnlyNew: onlyNew}}, By: s.client.actor(ctx)})
	if err != nil {
		return saved, puttingOne("handler", handler.Name, err)
	}
	return Saved[EventHandler]{Now: handlerOf(row), Changed: res.Changed > 0}, nil
}

// Get returns a handler, or ErrNotFound.
func (s *HandlerService) Get(ctx context.Context, name string) (EventHandlerInfo, error) {
	if err := check.StoredName("name", name); err != nil {
		return EventHandlerInfo{}, fmt.Errorf("read handler: %w", err)
	}
	handlers, err := s.List(ctx)
	if err != nil {
		return EventHandlerInfo{}, err
	}
	i := slices.IndexFunc(handlers, func(h EventHandlerInfo) bool { return h.Name == name })
	if i < 0 {
		return EventHandlerInfo{}, fmt.Errorf("handler %q: %w", check.Shorten(name), ErrNotFound)
	}
	return handlers[i], nil
}

// List returns all handlers, by name in byte order.
func (s *HandlerService) List(ctx context.Context) ([]EventHandlerInfo, error) {
	rows, err := store.List[store.Handler](ctx, s.client.backend, store.ListRequest{})
	if err != nil {
		return nil, err
	}
	infos := make([]EventHandlerInfo, len(rows))
	for i, row := range rows {
		infos[i] = EventHandlerInfo{handlerOf(row), row.UpdatedAt}
	}
	return infos, nil
}

// handlerOf is the inverse of encode.
func handlerOf(row store.Handler) EventHandler {
	return EventHandler{
		Name: row.Name, On: row.On.Names(), Kind: row.Kind, Group: row.Group, Job: RawArgs{Name: row.Job.Kind, JSON: row.Job.Args},
		Queue: row.Job.Queue, Priority: int(row.Job.Priority), MaxAttempts: int(row.Job.MaxAttempts), OnLoss: row.Job.OnLoss, Timeout: row.Job.Timeout,
		Backoff: plan.BackoffOf(row.Job.Headers),
	}
}

// Delete deletes handlers by name, all or none; ErrNotFound for a name that does not exist.
// Jobs that they have made stay.
func (s *HandlerService) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := check.StoredName("name", name); err != nil {
			return fmt.Errorf("delete handler: %w", err)
		}
	}
	return s.client.backend.Delete(ctx, store.DeleteRequest{Of: store.OfHandlers, Names: names, By: s.client.actor(ctx)})
}

// Hooks are jobs that a schedule makes because of its outcomes: to notify
// users, to feed a monitor, to clean up. A hook is itself a job: it is made in
// the same transaction as the outcome that causes it, it is retried, and it can
// be listed. Its worker finds the cause in JobRow.Headers under HookHeader; a
// command reads it from its standard input, and an HTTP call sends it as its
// body.
//
// A field of type Several has several hooks for one event, and nil has none.
type Hooks struct {
	// OnStart runs when an attempt at a job of the schedule is about to begin: it is made
	// once, in the transaction that records that the attempt begins, when a worker has the
	// job. An attempt that does not begin after all, because the answer of the store to this
	// transaction was lost, has made it, too.
	OnStart Args
	// OnSuccess runs when a job of the schedule completes.
	OnSuccess Args
	// OnFailure runs when a job of the schedule has ended as failed, or as lost
	// with its node: once for each such job, after its last attempt.
	OnFailure Args
	// OnRetry runs when an attempt at a job of the schedule has failed and the job
	// is tried again after a delay: once for each such attempt. An attempt that was
	// lost with its node is not such an attempt.
	OnRetry Args
	// OnOutput runs when an attempt at a job of the schedule that has printed something ends
	// the job as completed or failed, or is to be tried again: once for each such attempt.
	OnOutput Args
	// OnMissed runs when slots were missed: once for all slots that one node
	// found missed at the same time.
	OnMissed Args
	// OnNotStarted runs when the end of a job of a schedule that this schedule follows
	// (see Schedule.After) does not start it: once for each such end.
	OnNotStarted Args
	// OnRecovery runs when a job of the schedule completes after a failure or a
	// missed slot.
	OnRecovery Args
}

// Several are hooks for one event: a job is made for each of them, in their order.
// Only fields of Hooks may have it; it is no job itself.
type Several []Args

// Kind implements Args, so that a field of Hooks can have the type.
func (Several) Kind() string { return "several" }

// each returns the hooks of a field of Hooks.
func each(field Args) []Args {
	several, is := field.(Several)
	switch {
	case is:
		return slices.DeleteFunc(slices.Clone(several), func(job Args) bool { return job == nil })
	case field == nil:
		return nil
	}
	return []Args{field}
}

// hookField is a field of Hooks with its name in files and messages.
type hookField struct {
	name string
	jobs *Args
}

func (h *Hooks) fields() []hookField {
	return []hookField{
		{"on_start", &h.OnStart},
		{"on_success", &h.OnSuccess},
		{"on_failure", &h.OnFailure},
		{"on_retry", &h.OnRetry},
		{"on_output", &h.OnOutput},
		{"on_missed", &h.OnMissed},
		{"on_not_started", &h.OnNotStarted},
		{"on_recovery", &h.OnRecovery},
	}
}

// HookNames returns the names of the fields of Hooks in files and messages.
func HookNames() (names []string) {
	for _, field := range (&Hooks{}).fields() {
		names = append(names, field.name)
	}
	return names
}

// HookHeader is the header (see JobRow.Headers) with the cause of the job of a hook or a
// handler: a store.HookEvent as JSON.
const HookHeader = store.HookHeader

// The values of store.HookEvent.Event and, except HookOutput, the events of an EventHandler.
const (
	HookStart      = store.HookStart
	HookSuccess    = store.HookSuccess
	HookFailure    = store.HookFailure
	HookRetry      = store.HookRetry
	HookOutput     = store.HookOutput
	HookMissed     = store.HookMissed
	HookNotStarted = store.HookNotStarted
	HookRecovery   = store.HookRecovery
)

// Each calls do for every hook that is set, with the name of its field in files
// and messages. A field with Several hooks is passed hook by hook.
func (h Hooks) Each(do func(name string, job Args)) {
	for _, field := range h.fields() {
		for _, job := range each(*field.jobs) {
			do(field.name, job)
		}
	}
}

// Field returns the hooks of a field by its name (see HookNames).
func (h Hooks) Field(name string) []Args {
	for _, field := range h.fields() {
		if field.name == name {
			return each(*field.jobs)
		}
	}
	return nil
}

// Set sets a field by its name (see HookNames): none, one or Several hooks.
func (h *Hooks) Set(name string, jobs ...Args) {
	for _, field := range h.fields() {
		if field.name == name {
			*field.jobs = asField(jobs)
		}
	}
}

func asField(jobs []Args) Args {
	switch len(jobs) {
	case 0:
		return nil
	case 1:
		return jobs[0]
	}
	return Several(jobs)
}

// encode validates the hooks and returns them as a schedule's row stores them.
func (h Hooks) encode() (stored plan.Hooks, err error) {
	var errs []error
	for _, of := range stored.Lists() {
		for _, job := range h.Field(of.Name) {
			raw, err := encodeArgs(of.Name+" ", job)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if given, ok := job.(RawArgs); ok {
				raw = given // empty arguments are stored as such
			}
			*of.Jobs = append(*of.Jobs, &plan.Hook{Kind: raw.Name, Args: string(raw.JSON)})
		}
	}
	return stored, check.Join(errs...)
}

// storedHooks is the inverse of encode.
func storedHooks(stored plan.Hooks) (h Hooks) {
	for _, of := range stored.Lists() {
		for _, hook := range *of.Jobs {
			h.Set(of.Name, append(h.Field(of.Name), RawArgs{Name: hook.Kind, JSON: []byte(hook.Args)})...)
		}
	}
	return h
}
