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
		return saved, err
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
