// Package intercept passes every call of a store through one function: a backend over a backend, with its
// abilities. What concerns all calls, such as their times, is such a function, and writes no method again.
package intercept

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Call is a call of a store.
type Call struct {
	Operation string // the name of the method in lower case, as in list_jobs
	// Request points to the request, which may be changed before the call is made; of a call without
	// a request, to an empty struct. Result points to where its result will be.
	Request, Result any
}

// Func makes a call: it calls next, usually once, and returns the error of the call, or an error of its own.
// Concurrent calls are allowed.
type Func func(ctx context.Context, c Call, next func(context.Context) error) error

// New returns a backend whose calls each makes, over next. The backend has the abilities of next, as store.Able
// finds them; calls of abilities that do no work in the database do not pass each, nor does Listen, which
// does not return.
func New(next store.Backend, each Func) store.Backend {
	b := store.Backend(backend{next, each})
	if able, ok := store.Able[store.Releaser](next); ok {
		b = releaser{b, able, each}
	}
	if able, ok := store.Able[store.CancelSettler](next); ok {
		b = settler{b, able, each}
	}
	if able, ok := store.Able[store.PartialClaimer](next); ok {
		b = claimer{b, able, each}
	}
	if able, ok := store.Able[store.Estimator](next); ok {
		b = estimator{b, able, each}
	}
	if able, ok := store.Able[store.EarlyFirer](next); ok {
		b = earlyFirer{b, able, each}
	}
	return b
}

// call makes a call through each.
func call[Request, Result any](
	ctx context.Context, each Func, operation string, do func(context.Context, Request) (Result, error), req Request,
) (res Result, err error) {
	err = each(ctx, Call{operation, &req, &res}, func(ctx context.Context) (err error) {
		res, err = do(ctx, req)
		return err
	})
	return res, err
}

// silent is a call without a result.
func silent[Request any](do func(context.Context, Request) error) func(context.Context, Request) (struct{}, error) {
	return func(ctx context.Context, req Request) (struct{}, error) { return struct{}{}, do(ctx, req) }
}

// plain is a call without a request.
func plain[Result any](do func(context.Context) (Result, error)) func(context.Context, struct{}) (Result, error) {
	return func(ctx context.Context, _ struct{}) (Result, error) { return do(ctx) }
}

// backend passes the calls of a store through a function.
type backend struct {
	next store.Backend
	each Func
}

// Unwrap returns the backend below; see store.Able.
func (b backend) Unwrap() store.Backend { return b.next }

// Insert implements store.Jobs.
func (b backend) Insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	return call(ctx, b.each, "insert", b.next.Insert, req)
}

// Claim implements store.Jobs.
func (b backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	return call(ctx, b.each, "claim", b.next.Claim, req)
}

// BeginJobs implements store.Jobs.
func (b backend) BeginJobs(ctx context.Context, req store.BeginRequest) (store.BeginResult, error) {
	return call(ctx, b.each, "begin_jobs", b.next.BeginJobs, req)
}

// Finish implements store.Jobs.
func (b backend) Finish(ctx context.Context, req store.FinishRequest) (store.FinishResult, error) {
	return call(ctx, b.each, "finish", b.next.Finish, req)
}

// FindClaim implements store.Jobs.
func (b backend) FindClaim(ctx context.Context, ref store.ClaimRef) (store.ClaimState, error) {
	return call(ctx, b.each, "find_claim", b.next.FindClaim, ref)
}

// SaveProgress implements store.Jobs.
func (b backend) SaveProgress(ctx context.Context, req store.SaveProgressRequest) error {
	_, err := call(ctx, b.each, "save_progress", silent(b.next.SaveProgress), req)
	return err
}

// SaveOutput implements store.Jobs.
func (b backend) SaveOutput(ctx context.Context, req store.SaveOutputRequest) ([]store.ClaimRef, error) {
	return call(ctx, b.each, "save_output", b.next.SaveOutput, req)
}

// ReadOutput implements store.Jobs.
func (b backend) ReadOutput(ctx context.Context, req store.ReadOutputRequest) (store.JobOutput, error) {
	return call(ctx, b.each, "read_output", b.next.ReadOutput, req)
}

// ChangeJobs implements store.Jobs.
func (b backend) ChangeJobs(ctx context.Context, req store.ChangeJobsRequest) (store.ChangeJobsResult, error) {
	return call(ctx, b.each, "change_jobs", b.next.ChangeJobs, req)
}

// ListJobs implements store.Jobs.
func (b backend) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	return call(ctx, b.each, "list_jobs", b.next.ListJobs, req)
}

// CountJobs implements store.Jobs.
func (b backend) CountJobs(ctx context.Context, req store.CountJobsRequest) (int64, error) {
	return call(ctx, b.each, "count_jobs", b.next.CountJobs, req)
}

// ListBatches implements store.Batches.
func (b backend) ListBatches(ctx context.Context, req store.ListBatchesRequest) ([]store.Batch, error) {
	return call(ctx, b.each, "list_batches", b.next.ListBatches, req)
}

// ListLinks implements store.Batches.
func (b backend) ListLinks(ctx context.Context, req store.ListLinksRequest) ([]store.Link, error) {
	return call(ctx, b.each, "list_links", b.next.ListLinks, req)
}

// PutSchedules implements store.Schedules.
func (b backend) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (store.PutSchedulesResult, error) {
	return call(ctx, b.each, "put_schedules", b.next.PutSchedules, req)
}

// ChangeSchedules implements store.Schedules.
func (b backend) ChangeSchedules(ctx context.Context, req store.ChangeSchedulesRequest) error {
	_, err := call(ctx, b.each, "change_schedules", silent(b.next.ChangeSchedules), req)
	return err
}

// DueSchedules implements store.Schedules.
func (b backend) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	return call(ctx, b.each, "due_schedules", b.next.DueSchedules, req)
}

// Fire implements store.Schedules.
func (b backend) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	return call(ctx, b.each, "fire", b.next.Fire, req)
}

// DueEnds implements store.Schedules.
func (b backend) DueEnds(ctx context.Context, req store.DueEndsRequest) ([]store.ScheduleEnd, error) {
	return call(ctx, b.each, "due_ends", b.next.DueEnds, req)
}

// ListSchedules implements store.Schedules.
func (b backend) ListSchedules(ctx context.Context, req store.ListSchedulesRequest) ([]store.Schedule, error) {
	return call(ctx, b.each, "list_schedules", b.next.ListSchedules, req)
}

// ListOwners implements store.Schedules.
func (b backend) ListOwners(ctx context.Context, req store.ListOwnersRequest) ([]store.Owner, error) {
	return call(ctx, b.each, "list_owners", b.next.ListOwners, req)
}

// ListSlots implements store.Schedules.
func (b backend) ListSlots(ctx context.Context, req store.ListSlotsRequest) ([]store.SlotInfo, error) {
	return call(ctx, b.each, "list_slots", b.next.ListSlots, req)
}

// PutCalendars implements store.Calendars.
func (b backend) PutCalendars(ctx context.Context, req store.PutCalendarsRequest) (store.PutCalendarsResult, error) {
	return call(ctx, b.each, "put_calendars", b.next.PutCalendars, req)
}

// DeleteCalendars implements store.Calendars.
func (b backend) DeleteCalendars(ctx context.Context, req store.DeleteCalendarsRequest) error {
	_, err := call(ctx, b.each, "delete_calendars", silent(b.next.DeleteCalendars), req)
	return err
}

// ListCalendars implements store.Calendars.
func (b backend) ListCalendars(ctx context.Context, req store.ListCalendarsRequest) ([]store.Calendar, error) {
	return call(ctx, b.each, "list_calendars", b.next.ListCalendars, req)
}

// ListGroups implements store.Groups.
func (b backend) ListGroups(ctx context.Context, req store.ListGroupsRequest) ([]store.GroupInfo, error) {
	return call(ctx, b.each, "list_groups", b.next.ListGroups, req)
}

// PauseSubject implements store.Pauses.
func (b backend) PauseSubject(ctx context.Context, req store.PauseRequest) error {
	_, err := call(ctx, b.each, "pause_subject", silent(b.next.PauseSubject), req)
	return err
}

// ResumeSubject implements store.Pauses.
func (b backend) ResumeSubject(ctx context.Context, req store.ResumeRequest) (store.ResumeResult, error) {
	return call(ctx, b.each, "resume_subject", b.next.ResumeSubject, req)
}

// ListPauses implements store.Pauses.
func (b backend) ListPauses(ctx context.Context, req store.ListPausesRequest) ([]store.Pause, error) {
	return call(ctx, b.each, "list_pauses", b.next.ListPauses, req)
}

// PutHandler implements store.HandlerStore.
func (b backend) PutHandler(ctx context.Context, req store.PutHandlerRequest) (store.PutHandlerResult, error) {
	return call(ctx, b.each, "put_handler", b.next.PutHandler, req)
}

// DeleteHandlers implements store.HandlerStore.
func (b backend) DeleteHandlers(ctx context.Context, req store.DeleteHandlersRequest) error {
	_, err := call(ctx, b.each, "delete_handlers", silent(b.next.DeleteHandlers), req)
	return err
}

// ListHandlers implements store.HandlerStore.
func (b backend) ListHandlers(ctx context.Context) ([]store.Handler, error) {
	return call(ctx, b.each, "list_handlers", plain(b.next.ListHandlers), struct{}{})
}

// ExchangePermits implements store.Permits.
func (b backend) ExchangePermits(ctx context.Context, req store.ExchangePermitsRequest) (store.QueuePermits, error) {
	return call(ctx, b.each, "exchange_permits", b.next.ExchangePermits, req)
}

// PutLimits implements store.LimitStore.
func (b backend) PutLimits(ctx context.Context, req store.PutLimitsRequest) (store.PutLimitsResult, error) {
	return call(ctx, b.each, "put_limits", b.next.PutLimits, req)
}

// DeleteLimits implements store.LimitStore.
func (b backend) DeleteLimits(ctx context.Context, req store.DeleteLimitsRequest) error {
	_, err := call(ctx, b.each, "delete_limits", silent(b.next.DeleteLimits), req)
	return err
}

// CloseLanes implements store.LimitStore.
func (b backend) CloseLanes(ctx context.Context, req store.CloseLanesRequest) error {
	_, err := call(ctx, b.each, "close_lanes", silent(b.next.CloseLanes), req)
	return err
}

// RecountPermits implements store.LimitStore.
func (b backend) RecountPermits(ctx context.Context, req store.RecountRequest) (store.RecountResult, error) {
	return call(ctx, b.each, "recount_permits", b.next.RecountPermits, req)
}

// FindLimitWaits implements store.LimitStore.
func (b backend) FindLimitWaits(ctx context.Context, req store.FindLimitWaitsRequest) ([]store.LimitWait, error) {
	return call(ctx, b.each, "find_limit_waits", b.next.FindLimitWaits, req)
}

// ListLimits implements store.LimitStore.
func (b backend) ListLimits(ctx context.Context, req store.ListLimitsRequest) ([]store.LimitInfo, error) {
	return call(ctx, b.each, "list_limits", b.next.ListLimits, req)
}

// Register implements store.Nodes.
func (b backend) Register(ctx context.Context, req store.RegisterRequest) (store.RegisterResult, error) {
	return call(ctx, b.each, "register", b.next.Register, req)
}

// Heartbeat implements store.Nodes.
func (b backend) Heartbeat(ctx context.Context, req store.HeartbeatRequest) (store.HeartbeatResult, error) {
	return call(ctx, b.each, "heartbeat", b.next.Heartbeat, req)
}

// Claims implements store.Nodes.
func (b backend) Claims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error) {
	return call(ctx, b.each, "claims", b.next.Claims, req)
}

// Rescue implements store.Nodes.
func (b backend) Rescue(ctx context.Context, req store.RescueRequest) (store.RescueResult, error) {
	return call(ctx, b.each, "rescue", b.next.Rescue, req)
}

// Leave implements store.Nodes.
func (b backend) Leave(ctx context.Context, req store.LeaveRequest) (store.RescueResult, error) {
	return call(ctx, b.each, "leave", b.next.Leave, req)
}

// ListNodes implements store.Nodes.
func (b backend) ListNodes(ctx context.Context) ([]store.NodeInfo, error) {
	return call(ctx, b.each, "list_nodes", plain(b.next.ListNodes), struct{}{})
}

// ForgetHost implements store.Nodes.
func (b backend) ForgetHost(ctx context.Context, req store.ForgetHostRequest) (store.ForgetHostResult, error) {
	return call(ctx, b.each, "forget_host", b.next.ForgetHost, req)
}

// ListQueues implements store.Nodes.
func (b backend) ListQueues(ctx context.Context, req store.ListQueuesRequest) ([]store.QueueInfo, error) {
	return call(ctx, b.each, "list_queues", b.next.ListQueues, req)
}

// ListKinds implements store.Nodes.
func (b backend) ListKinds(ctx context.Context, req store.ListKindsRequest) ([]store.KindInfo, error) {
	return call(ctx, b.each, "list_kinds", b.next.ListKinds, req)
}

// Prune implements store.Maintenance.
func (b backend) Prune(ctx context.Context, req store.PruneRequest) (store.PruneResult, error) {
	return call(ctx, b.each, "prune", b.next.Prune, req)
}

// Now implements store.Maintenance.
func (b backend) Now(ctx context.Context) (time.Time, error) {
	return call(ctx, b.each, "now", plain(b.next.Now), struct{}{})
}

// Position implements store.History.
func (b backend) Position(ctx context.Context) (store.Position, error) {
	return call(ctx, b.each, "position", plain(b.next.Position), struct{}{})
}

// ReportLoss implements store.History.
func (b backend) ReportLoss(ctx context.Context, req store.ReportLossRequest) (store.Position, error) {
	return call(ctx, b.each, "report_loss", b.next.ReportLoss, req)
}

// AcceptLoss implements store.History.
func (b backend) AcceptLoss(ctx context.Context, req store.AcceptLossRequest) (store.Position, error) {
	return call(ctx, b.each, "accept_loss", b.next.AcceptLoss, req)
}

// ListAudit implements store.Audit.
func (b backend) ListAudit(ctx context.Context, req store.ListAuditRequest) ([]store.AuditEntry, error) {
	return call(ctx, b.each, "list_audit", b.next.ListAudit, req)
}

// RecordAudit implements store.Audit.
func (b backend) RecordAudit(ctx context.Context, req store.RecordAuditRequest) error {
	_, err := call(ctx, b.each, "record_audit", silent(b.next.RecordAudit), req)
	return err
}

// ListEvents implements store.Feed.
func (b backend) ListEvents(ctx context.Context, req store.ListEventsRequest) (store.ListEventsResult, error) {
	return call(ctx, b.each, "list_events", b.next.ListEvents, req)
}

// KeepEvents implements store.Feed.
func (b backend) KeepEvents(ctx context.Context, req store.KeepEventsRequest) error {
	_, err := call(ctx, b.each, "keep_events", silent(b.next.KeepEvents), req)
	return err
}
