// Package bound ends calls of a store that get no answer: a connection whose other
// end is gone without a word is silent for ever. Every call of a client and of the
// program goes through here, so that each has a bound whatever its caller gave.
package bound

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Limit is how long a call may take, unless another limit is chosen.
const Limit = 30 * time.Second

const (
	perThousand = 2 * time.Second // more for each thousand jobs, schedules or rows of a bulk call
	perMebibyte = time.Second     // … and for what they carry
	// unsized is how many limits a call gets whose size only the store knows, such
	// as one for all jobs of a schedule.
	unsized = 10
	// perStep is for a migration over tables that may be large.
	perStep = time.Hour
)

// Backend is a store.Backend whose calls end by themselves. A call in a
// transaction of the caller's has the caller's context alone.
//
// It is a store.EarlyFirer if the backend below is. It claims in part, estimates counts,
// measures the distance and migrates as the backend below does, if that can. It is no
// store.Listener and no store.Pooled: their methods are no calls that end. Nor is
// it a store.CancelSettler or a store.Releaser, which nodes call, and nodes bound their calls
// themselves.
type Backend interface {
	store.Backend
	store.PartialClaimer
	store.Estimator
	store.Distant
	store.Migrator
}

// New bounds the calls of next. Each takes as long as limit, and longer by the size
// of the request.
func New(next store.Backend, limit time.Duration) Backend {
	b := backend{next, limit}
	if early, ok := store.Able[store.EarlyFirer](next); ok {
		return earlyBackend{b, early}
	}
	return b
}

// backend bounds the calls of a store without early firing.
type backend struct {
	next  store.Backend
	limit time.Duration
}

// Call does something within limit, or until ctx ends.
func Call[Request, Result any](ctx context.Context, limit time.Duration, do func(context.Context, Request) (Result, error), req Request) (Result, error) {
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	res, err := do(inner, req)
	if err != nil && inner.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no answer within %v: %w", limit, err)
	}
	return res, err
}

// items is the limit of a call with n jobs, schedules or rows.
func (b backend) items(n int) time.Duration { return b.limit + time.Duration(n/1000)*perThousand }

// unsized is the limit of a call whose size only the store knows.
func (b backend) unsized(n int) time.Duration {
	return unsized*b.limit + time.Duration(n/1000)*perThousand
}

// Insert implements store.Jobs.
func (b backend) Insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	if req.Tx != nil {
		return b.next.Insert(ctx, req)
	}
	size := 0
	for i := range req.Jobs {
		size += len(req.Jobs[i].Args) + len(req.Jobs[i].Headers)
	}
	return Call(ctx, b.items(len(req.Jobs))+time.Duration(size>>20)*perMebibyte, b.next.Insert, req)
}

// Claim implements store.Jobs.
func (b backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	return Call(ctx, b.items(req.Limit), b.next.Claim, req)
}

// ClaimPart implements store.PartialClaimer. Without the ability it claims by Claim.
func (b backend) ClaimPart(ctx context.Context, req store.ClaimRequest) (store.PartialClaim, error) {
	return Call(ctx, b.items(req.Limit), store.PartialClaims(b.next).ClaimPart, req)
}

// BeginJobs implements store.Jobs.
func (b backend) BeginJobs(ctx context.Context, req store.BeginRequest) (store.BeginResult, error) {
	return Call(ctx, b.limit, b.next.BeginJobs, req)
}

// Finish implements store.Jobs.
func (b backend) Finish(ctx context.Context, req store.FinishRequest) (store.FinishResult, error) {
	if req.Tx != nil {
		return b.next.Finish(ctx, req)
	}
	return Call(ctx, b.items(len(req.Outcomes)), b.next.Finish, req)
}

// FindClaim implements store.Jobs.
func (b backend) FindClaim(ctx context.Context, ref store.ClaimRef) (store.ClaimState, error) {
	return Call(ctx, b.limit, b.next.FindClaim, ref)
}

// SaveProgress implements store.Jobs.
func (b backend) SaveProgress(ctx context.Context, req store.SaveProgressRequest) error {
	_, err := Call(ctx, b.items(len(req.Claims)), silent(b.next.SaveProgress), req)
	return err
}

// SaveOutput implements store.Jobs.
func (b backend) SaveOutput(ctx context.Context, req store.SaveOutputRequest) ([]store.ClaimRef, error) {
	return Call(ctx, b.items(len(req.Claims)), b.next.SaveOutput, req)
}

// ReadOutput implements store.Jobs.
func (b backend) ReadOutput(ctx context.Context, req store.ReadOutputRequest) (store.JobOutput, error) {
	return Call(ctx, b.limit, b.next.ReadOutput, req)
}

// ChangeJobs implements store.Jobs.
func (b backend) ChangeJobs(ctx context.Context, req store.ChangeJobsRequest) (store.ChangeJobsResult, error) {
	if req.Tx != nil {
		return b.next.ChangeJobs(ctx, req)
	}
	limit := b.items(len(req.IDs))
	if req.Schedule != "" {
		limit = b.unsized(len(req.IDs))
	}
	return Call(ctx, limit, b.next.ChangeJobs, req)
}

// ListJobs implements store.Jobs.
func (b backend) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	return Call(ctx, b.items(req.Limit), b.next.ListJobs, req)
}

// CountJobs implements store.Jobs. It may read all jobs.
func (b backend) CountJobs(ctx context.Context, req store.CountJobsRequest) (int64, error) {
	return Call(ctx, b.unsized(len(req.IDs)), b.next.CountJobs, req)
}

// ListBatches implements store.Batches. It reads all jobs of the batches.
func (b backend) ListBatches(ctx context.Context, req store.ListBatchesRequest) ([]store.Batch, error) {
	return Call(ctx, b.unsized(req.Limit), b.next.ListBatches, req)
}

// ListLinks implements store.Batches.
func (b backend) ListLinks(ctx context.Context, req store.ListLinksRequest) ([]store.Link, error) {
	return Call(ctx, b.items(req.Limit), b.next.ListLinks, req)
}

// PutSchedules implements store.Schedules. A sync also deletes what is not named.
func (b backend) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (store.PutSchedulesResult, error) {
	if req.Tx != nil {
		return b.next.PutSchedules(ctx, req)
	}
	limit := b.items(len(req.Schedules))
	if req.Sync {
		limit = b.unsized(len(req.Schedules))
	}
	return Call(ctx, limit, b.next.PutSchedules, req)
}

// ChangeSchedules implements store.Schedules.
func (b backend) ChangeSchedules(ctx context.Context, req store.ChangeSchedulesRequest) error {
	if req.Tx != nil {
		return b.next.ChangeSchedules(ctx, req)
	}
	_, err := Call(ctx, b.items(len(req.Names)), silent(b.next.ChangeSchedules), req)
	return err
}

// DueSchedules implements store.Schedules.
func (b backend) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	return Call(ctx, b.items(req.Limit), b.next.DueSchedules, req)
}

// Fire implements store.Schedules.
func (b backend) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	return Call(ctx, b.items(len(req.Firings)), b.next.Fire, req)
}

// DueEnds implements store.Schedules.
func (b backend) DueEnds(ctx context.Context, req store.DueEndsRequest) ([]store.ScheduleEnd, error) {
	return Call(ctx, b.items(req.Limit), b.next.DueEnds, req)
}

// ListSchedules implements store.Schedules.
func (b backend) ListSchedules(ctx context.Context, req store.ListSchedulesRequest) ([]store.Schedule, error) {
	if req.Tx != nil {
		return b.next.ListSchedules(ctx, req)
	}
	return Call(ctx, b.items(req.Limit), b.next.ListSchedules, req)
}

// ListOwners implements store.Schedules.
func (b backend) ListOwners(ctx context.Context, req store.ListOwnersRequest) ([]store.Owner, error) {
	return Call(ctx, b.items(req.Limit), b.next.ListOwners, req)
}

// ListSlots implements store.Schedules.
func (b backend) ListSlots(ctx context.Context, req store.ListSlotsRequest) ([]store.SlotInfo, error) {
	return Call(ctx, b.items(req.Limit), b.next.ListSlots, req)
}

// PutCalendars implements store.Calendars. It changes every schedule that names
// one of them.
func (b backend) PutCalendars(ctx context.Context, req store.PutCalendarsRequest) (store.PutCalendarsResult, error) {
	return Call(ctx, b.unsized(0), b.next.PutCalendars, req)
}

// DeleteCalendars implements store.Calendars.
func (b backend) DeleteCalendars(ctx context.Context, req store.DeleteCalendarsRequest) error {
	_, err := Call(ctx, b.items(len(req.Names)), silent(b.next.DeleteCalendars), req)
	return err
}

// ListCalendars implements store.Calendars.
func (b backend) ListCalendars(ctx context.Context, req store.ListCalendarsRequest) ([]store.Calendar, error) {
	return Call(ctx, b.items(req.Limit), b.next.ListCalendars, req)
}

// Register implements store.Nodes.
func (b backend) Register(ctx context.Context, req store.RegisterRequest) (store.RegisterResult, error) {
	return Call(ctx, b.limit, b.next.Register, req)
}

// Heartbeat implements store.Nodes.
func (b backend) Heartbeat(ctx context.Context, req store.HeartbeatRequest) (store.HeartbeatResult, error) {
	return Call(ctx, b.items(len(req.EndedBatches)), b.next.Heartbeat, req)
}

// Claims implements store.Nodes.
func (b backend) Claims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error) {
	return Call(ctx, b.limit, b.next.Claims, req)
}

// Rescue implements store.Nodes.
func (b backend) Rescue(ctx context.Context, req store.RescueRequest) (store.RescueResult, error) {
	return Call(ctx, b.limit, b.next.Rescue, req)
}

// Leave implements store.Nodes.
func (b backend) Leave(ctx context.Context, req store.LeaveRequest) (store.RescueResult, error) {
	return Call(ctx, b.limit, b.next.Leave, req)
}

// ListNodes implements store.Nodes.
func (b backend) ListNodes(ctx context.Context) ([]store.NodeInfo, error) {
	return Call(ctx, b.limit, plain(b.next.ListNodes), struct{}{})
}

// ForgetHost implements store.Nodes.
func (b backend) ForgetHost(ctx context.Context, req store.ForgetHostRequest) (store.ForgetHostResult, error) {
	return Call(ctx, b.unsized(0), b.next.ForgetHost, req)
}

// ListGroups implements store.Groups. It counts all jobs with a group.
func (b backend) ListGroups(ctx context.Context, req store.ListGroupsRequest) ([]store.GroupInfo, error) {
	return Call(ctx, b.unsized(0), b.next.ListGroups, req)
}

// PauseSubject implements store.Pauses. It changes all schedules of a group.
func (b backend) PauseSubject(ctx context.Context, req store.PauseRequest) error {
	_, err := Call(ctx, b.unsized(0), func(ctx context.Context, req store.PauseRequest) (struct{}, error) {
		return struct{}{}, b.next.PauseSubject(ctx, req)
	}, req)
	return err
}

// ResumeSubject implements store.Pauses. It releases all jobs of a group.
func (b backend) ResumeSubject(ctx context.Context, req store.ResumeRequest) (store.ResumeResult, error) {
	return Call(ctx, b.unsized(0), b.next.ResumeSubject, req)
}

// ListPauses implements store.Pauses.
func (b backend) ListPauses(ctx context.Context, req store.ListPausesRequest) ([]store.Pause, error) {
	return Call(ctx, b.limit, b.next.ListPauses, req)
}

// PutHandler implements store.HandlerStore.
func (b backend) PutHandler(ctx context.Context, req store.PutHandlerRequest) (store.PutHandlerResult, error) {
	return Call(ctx, b.limit, b.next.PutHandler, req)
}

// DeleteHandlers implements store.HandlerStore.
func (b backend) DeleteHandlers(ctx context.Context, req store.DeleteHandlersRequest) error {
	_, err := Call(ctx, b.limit, silent(b.next.DeleteHandlers), req)
	return err
}

// ListHandlers implements store.HandlerStore.
func (b backend) ListHandlers(ctx context.Context) ([]store.Handler, error) {
	return Call(ctx, b.limit, plain(b.next.ListHandlers), struct{}{})
}

// ExchangePermits implements store.Permits.
func (b backend) ExchangePermits(ctx context.Context, req store.ExchangePermitsRequest) (store.QueuePermits, error) {
	return Call(ctx, b.limit, b.next.ExchangePermits, req)
}

// PutLimits implements store.LimitStore.
func (b backend) PutLimits(ctx context.Context, req store.PutLimitsRequest) (store.PutLimitsResult, error) {
	return Call(ctx, b.limit, b.next.PutLimits, req)
}

// DeleteLimits implements store.LimitStore.
func (b backend) DeleteLimits(ctx context.Context, req store.DeleteLimitsRequest) error {
	_, err := Call(ctx, b.limit, silent(b.next.DeleteLimits), req)
	return err
}

// CloseLanes implements store.LimitStore.
func (b backend) CloseLanes(ctx context.Context, req store.CloseLanesRequest) error {
	_, err := Call(ctx, b.limit, silent(b.next.CloseLanes), req)
	return err
}

// RecountPermits implements store.LimitStore.
func (b backend) RecountPermits(ctx context.Context, req store.RecountRequest) (store.RecountResult, error) {
	return Call(ctx, b.limit, b.next.RecountPermits, req)
}

// FindLimitWaits implements store.LimitStore.
func (b backend) FindLimitWaits(ctx context.Context, req store.FindLimitWaitsRequest) ([]store.LimitWait, error) {
	return Call(ctx, b.limit, b.next.FindLimitWaits, req)
}

// ListLimits implements store.LimitStore.
func (b backend) ListLimits(ctx context.Context, req store.ListLimitsRequest) ([]store.LimitInfo, error) {
	return Call(ctx, b.limit, b.next.ListLimits, req)
}

// ListQueues implements store.Nodes. It counts all living jobs.
func (b backend) ListQueues(ctx context.Context, req store.ListQueuesRequest) ([]store.QueueInfo, error) {
	return Call(ctx, b.unsized(0), b.next.ListQueues, req)
}

// ListKinds implements store.Nodes. It counts all living jobs.
func (b backend) ListKinds(ctx context.Context, req store.ListKindsRequest) ([]store.KindInfo, error) {
	return Call(ctx, b.unsized(0), b.next.ListKinds, req)
}

// EstimateQueues implements store.Estimator. Without the ability it counts by ListQueues.
func (b backend) EstimateQueues(ctx context.Context, req store.EstimateRequest) ([]store.QueueInfo, error) {
	return Call(ctx, b.unsized(0), store.Estimates(b.next).EstimateQueues, req)
}

// EstimateKinds implements store.Estimator. Without the ability it counts by ListKinds.
func (b backend) EstimateKinds(ctx context.Context, req store.EstimateRequest) ([]store.KindInfo, error) {
	return Call(ctx, b.unsized(0), store.Estimates(b.next).EstimateKinds, req)
}

// EstimateGroups implements store.Estimator. Without the ability it counts by ListGroups.
func (b backend) EstimateGroups(ctx context.Context, req store.EstimateRequest) ([]store.GroupInfo, error) {
	return Call(ctx, b.unsized(0), store.Estimates(b.next).EstimateGroups, req)
}

// Prune implements store.Maintenance.
func (b backend) Prune(ctx context.Context, req store.PruneRequest) (store.PruneResult, error) {
	return Call(ctx, b.items(req.Limit), b.next.Prune, req)
}

// Now implements store.Maintenance.
func (b backend) Now(ctx context.Context) (time.Time, error) {
	return Call(ctx, b.limit, plain(b.next.Now), struct{}{})
}

// ListEvents implements store.Feed.
func (b backend) ListEvents(ctx context.Context, req store.ListEventsRequest) (store.ListEventsResult, error) {
	return Call(ctx, b.items(req.Limit), b.next.ListEvents, req)
}

// KeepEvents implements store.Feed.
func (b backend) KeepEvents(ctx context.Context, req store.KeepEventsRequest) error {
	_, err := Call(ctx, b.limit, silent(b.next.KeepEvents), req)
	return err
}

// Position implements store.History.
func (b backend) Position(ctx context.Context) (store.Position, error) {
	return Call(ctx, b.limit, plain(b.next.Position), struct{}{})
}

// ReportLoss implements store.History.
func (b backend) ReportLoss(ctx context.Context, req store.ReportLossRequest) (store.Position, error) {
	return Call(ctx, b.limit, b.next.ReportLoss, req)
}

// AcceptLoss implements store.History. It raises the token of every lock.
func (b backend) AcceptLoss(ctx context.Context, req store.AcceptLossRequest) (store.Position, error) {
	return Call(ctx, b.unsized(0), b.next.AcceptLoss, req)
}

// ListAudit implements store.Audit.
func (b backend) ListAudit(ctx context.Context, req store.ListAuditRequest) ([]store.AuditEntry, error) {
	return Call(ctx, b.items(req.Limit), b.next.ListAudit, req)
}

// RecordAudit implements store.Audit.
func (b backend) RecordAudit(ctx context.Context, req store.RecordAuditRequest) error {
	_, err := Call(ctx, b.limit, silent(b.next.RecordAudit), req)
	return err
}

// RoundTrip implements store.Distant.
func (b backend) RoundTrip() time.Duration { return store.RoundTrip(b.next) }

// Migrations implements store.Migrator; a store without a schema has none.
func (b backend) Migrations() []store.Migration {
	if m, ok := store.Able[store.Migrator](b.next); ok {
		return m.Migrations()
	}
	return nil
}

// MigrateStatus implements store.Migrator.
func (b backend) MigrateStatus(ctx context.Context) ([]store.MigrationStatus, error) {
	m, ok := store.Able[store.Migrator](b.next)
	if !ok {
		return nil, nil
	}
	return Call(ctx, b.limit, plain(m.MigrateStatus), struct{}{})
}

// MigrateUp implements store.Migrator. Each missing step of a first schema has a
// limit of its own, and each step over tables that are there an hour.
func (b backend) MigrateUp(ctx context.Context) ([]store.Migration, error) {
	m, ok := store.Able[store.Migrator](b.next)
	if !ok {
		return nil, nil
	}
	status, err := b.MigrateStatus(ctx)
	if err != nil {
		return nil, err
	}
	missing := 0
	for _, step := range status {
		if !step.Applied {
			missing++
		}
	}
	step := perStep
	if missing == len(status) {
		step = b.limit
	}
	return Call(ctx, b.limit+time.Duration(missing)*step, plain(m.MigrateUp), struct{}{})
}

// plain gives a call without a request an empty request, so that Call can make it.
func plain[Result any](do func(context.Context) (Result, error)) func(context.Context, struct{}) (Result, error) {
	return func(ctx context.Context, _ struct{}) (Result, error) { return do(ctx) }
}

// silent gives a call without a result an empty result, so that Call can make it.
func silent[Request any](do func(context.Context, Request) error) func(context.Context, Request) (struct{}, error) {
	return func(ctx context.Context, req Request) (struct{}, error) { return struct{}{}, do(ctx, req) }
}
