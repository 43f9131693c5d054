package travel

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// abilities are the optional interfaces of the store that a Clock passes on: the interfaces that schemas and
// callers' transactions need. The other abilities make nodes faster by the clock of the process.
type abilities struct {
	migrator store.Migrator
	releaser store.Releaser
	settler  store.CancelSettler
}

// Over returns a backend over next whose requests have the instant of the clock, for clients and
// nodes. It is called once.
func (c *Clock) Over(next store.Backend) store.Backend {
	c.below = next
	c.able.migrator, _ = store.Able[store.Migrator](next)
	c.able.releaser, _ = store.Able[store.Releaser](next)
	c.able.settler, _ = store.Able[store.CancelSettler](next)
	b := store.Backend(backend{next, c})
	if c.able.migrator != nil {
		b = migrator{b, c.able.migrator}
	}
	if c.able.releaser != nil {
		b = releaser{b, c}
	}
	if c.able.settler != nil {
		b = settler{b, c}
	}
	return b
}

// migrator passes on the ability to migrate.
type migrator struct {
	store.Backend
	store.Migrator
}

// Unwrap returns the backend below; see store.Able.
func (b migrator) Unwrap() store.Backend { return b.Backend }

// releaser passes on the ability to release dependents.
type releaser struct {
	store.Backend
	clock *Clock
}

// Unwrap returns the backend below; see store.Able.
func (b releaser) Unwrap() store.Backend { return b.Backend }

// ReleaseDependents implements store.Releaser.
func (b releaser) ReleaseDependents(ctx context.Context, req store.ReleaseRequest) error {
	req.Now = b.clock.Now()
	return b.clock.able.releaser.ReleaseDependents(ctx, req)
}

// settler passes on the ability to settle cancel requests.
type settler struct {
	store.Backend
	clock *Clock
}

// Unwrap returns the backend below; see store.Able.
func (b settler) Unwrap() store.Backend { return b.Backend }

// SettleCancels implements store.CancelSettler.
func (b settler) SettleCancels(ctx context.Context, req store.SettleCancelsRequest) error {
	req.Now = b.clock.Now()
	return b.clock.able.settler.SettleCancels(ctx, req)
}

// backend gives each request of a store the instant of a clock. Reads that do not
// depend on the time go to the store as they are.
type backend struct {
	store.Backend
	clock *Clock
}

// Clock returns the clock of the backend; see Of.
func (b backend) Clock() *Clock { return b.clock }

// write makes a call that may make more work due.
func write[Request, Result any](ctx context.Context, c *Clock, do func(context.Context, Request) (Result, error), req Request) (Result, error) {
	defer c.touch()
	return do(ctx, req)
}

// silent is a call without a result.
func silent[Request any](do func(context.Context, Request) error) func(context.Context, Request) (struct{}, error) {
	return func(ctx context.Context, req Request) (struct{}, error) { return struct{}{}, do(ctx, req) }
}

// Insert implements store.Jobs.
func (b backend) Insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.Insert, req)
}

// Claim implements store.Jobs.
func (b backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	req.Now = b.clock.Now()
	return b.Backend.Claim(ctx, req)
}

// BeginJobs implements store.Jobs.
func (b backend) BeginJobs(ctx context.Context, req store.BeginRequest) (store.BeginResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.BeginJobs, req) // a start may make jobs
}

// Finish implements store.Jobs.
func (b backend) Finish(ctx context.Context, req store.FinishRequest) (store.FinishResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.Finish, req)
}

// SaveProgress implements store.Jobs.
func (b backend) SaveProgress(ctx context.Context, req store.SaveProgressRequest) error {
	req.Now = b.clock.Now()
	return b.Backend.SaveProgress(ctx, req)
}

// ChangeJobs implements store.Jobs.
func (b backend) ChangeJobs(ctx context.Context, req store.ChangeJobsRequest) (store.ChangeJobsResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.ChangeJobs, req)
}

// ListJobs implements store.Jobs.
func (b backend) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	req.Now = b.clock.Now()
	return b.Backend.ListJobs(ctx, req)
}

// CountJobs implements store.Jobs.
func (b backend) CountJobs(ctx context.Context, req store.CountJobsRequest) (int64, error) {
	req.Now = b.clock.Now()
	return b.Backend.CountJobs(ctx, req)
}

// PutSchedules implements store.Schedules.
func (b backend) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (store.PutSchedulesResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.PutSchedules, req)
}

// ChangeSchedules implements store.Schedules.
func (b backend) ChangeSchedules(ctx context.Context, req store.ChangeSchedulesRequest) error {
	req.Now = b.clock.Now()
	_, err := write(ctx, b.clock, silent(b.Backend.ChangeSchedules), req)
	return err
}

// DueSchedules implements store.Schedules.
func (b backend) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	req.Now = b.clock.Now()
	return b.Backend.DueSchedules(ctx, req)
}

// Fire implements store.Schedules.
func (b backend) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.Fire, req)
}

// PutCalendars implements store.Calendars.
func (b backend) PutCalendars(ctx context.Context, req store.PutCalendarsRequest) (store.PutCalendarsResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.PutCalendars, req)
}

// DeleteCalendars implements store.Calendars.
func (b backend) DeleteCalendars(ctx context.Context, req store.DeleteCalendarsRequest) error {
	req.Now = b.clock.Now()
	_, err := write(ctx, b.clock, silent(b.Backend.DeleteCalendars), req)
	return err
}

// ListGroups implements store.Groups.
func (b backend) ListGroups(ctx context.Context, req store.ListGroupsRequest) ([]store.GroupInfo, error) {
	req.Now = b.clock.Now()
	return b.Backend.ListGroups(ctx, req)
}

// PauseSubject implements store.Pauses.
func (b backend) PauseSubject(ctx context.Context, req store.PauseRequest) error {
	req.Now = b.clock.Now()
	_, err := write(ctx, b.clock, silent(b.Backend.PauseSubject), req)
	return err
}

// ResumeSubject implements store.Pauses.
func (b backend) ResumeSubject(ctx context.Context, req store.ResumeRequest) (store.ResumeResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.ResumeSubject, req)
}

// ListPauses implements store.Pauses.
func (b backend) ListPauses(ctx context.Context, req store.ListPausesRequest) ([]store.Pause, error) {
	req.Now = b.clock.Now()
	return b.Backend.ListPauses(ctx, req)
}

// PutHandler implements store.HandlerStore.
func (b backend) PutHandler(ctx context.Context, req store.PutHandlerRequest) (store.PutHandlerResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.PutHandler, req)
}

// DeleteHandlers implements store.HandlerStore.
func (b backend) DeleteHandlers(ctx context.Context, req store.DeleteHandlersRequest) error {
	req.Now = b.clock.Now()
	_, err := write(ctx, b.clock, silent(b.Backend.DeleteHandlers), req)
	return err
}

// PutLimits implements store.LimitStore.
func (b backend) PutLimits(ctx context.Context, req store.PutLimitsRequest) (store.PutLimitsResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.PutLimits, req)
}

// ExchangePermits implements store.Permits.
func (b backend) ExchangePermits(ctx context.Context, req store.ExchangePermitsRequest) (store.QueuePermits, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.ExchangePermits, req)
}

// DeleteLimits implements store.LimitStore.
func (b backend) DeleteLimits(ctx context.Context, req store.DeleteLimitsRequest) error {
	req.Now = b.clock.Now()
	_, err := write(ctx, b.clock, silent(b.Backend.DeleteLimits), req)
	return err
}

// CloseLanes implements store.LimitStore.
func (b backend) CloseLanes(ctx context.Context, req store.CloseLanesRequest) error {
	req.Now = b.clock.Now()
	_, err := write(ctx, b.clock, silent(b.Backend.CloseLanes), req)
	return err
}

// RecountPermits implements store.LimitStore.
func (b backend) RecountPermits(ctx context.Context, req store.RecountRequest) (store.RecountResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.RecountPermits, req)
}

// FindLimitWaits implements store.LimitStore.
func (b backend) FindLimitWaits(ctx context.Context, req store.FindLimitWaitsRequest) ([]store.LimitWait, error) {
	req.Now = b.clock.Now()
	return b.Backend.FindLimitWaits(ctx, req)
}

// ListLimits implements store.LimitStore.
func (b backend) ListLimits(ctx context.Context, req store.ListLimitsRequest) ([]store.LimitInfo, error) {
	req.Now = b.clock.Now()
	return b.Backend.ListLimits(ctx, req)
}

// Register implements store.Nodes.
func (b backend) Register(ctx context.Context, req store.RegisterRequest) (store.RegisterResult, error) {
	req.Now = b.clock.Now()
	return b.Backend.Register(ctx, req)
}

// Heartbeat implements store.Nodes.
func (b backend) Heartbeat(ctx context.Context, req store.HeartbeatRequest) (store.HeartbeatResult, error) {
	req.Now = b.clock.Now()
	return b.Backend.Heartbeat(ctx, req)
}

// Rescue implements store.Nodes. It does nothing: the clock moves further than a lease between two
// heartbeats of a node that lives.
func (backend) Rescue(context.Context, store.RescueRequest) (store.RescueResult, error) {
	return store.RescueResult{}, nil
}

// Leave implements store.Nodes.
func (b backend) Leave(ctx context.Context, req store.LeaveRequest) (store.RescueResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.Leave, req)
}

// Claims implements store.Nodes.
func (b backend) Claims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error) {
	req.Now = b.clock.Now()
	return b.Backend.Claims(ctx, req)
}

// ListKinds implements store.Nodes.
func (b backend) ListKinds(ctx context.Context, req store.ListKindsRequest) ([]store.KindInfo, error) {
	req.Now = b.clock.Now()
	return b.Backend.ListKinds(ctx, req)
}

// ForgetHost implements store.Nodes.
func (b backend) ForgetHost(ctx context.Context, req store.ForgetHostRequest) (store.ForgetHostResult, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.ForgetHost, req)
}

// ListQueues implements store.Nodes.
func (b backend) ListQueues(ctx context.Context, req store.ListQueuesRequest) ([]store.QueueInfo, error) {
	req.Now = b.clock.Now()
	return b.Backend.ListQueues(ctx, req)
}

// Prune implements store.Maintenance. It deletes nothing, so that a test can look at all that has
// happened in a month.
func (backend) Prune(context.Context, store.PruneRequest) (store.PruneResult, error) {
	return store.PruneResult{}, nil
}

// Now implements store.Maintenance: it returns the instant of the clock.
func (b backend) Now(ctx context.Context) (time.Time, error) {
	if _, err := b.Backend.Now(ctx); err != nil {
		return time.Time{}, err
	}
	return b.clock.Now(), nil
}

// ReportLoss implements store.History.
func (b backend) ReportLoss(ctx context.Context, req store.ReportLossRequest) (store.Position, error) {
	req.Now = b.clock.Now()
	return b.Backend.ReportLoss(ctx, req)
}

// AcceptLoss implements store.History.
func (b backend) AcceptLoss(ctx context.Context, req store.AcceptLossRequest) (store.Position, error) {
	req.Now = b.clock.Now()
	return write(ctx, b.clock, b.Backend.AcceptLoss, req)
}

// KeepEvents implements store.Feed.
func (b backend) KeepEvents(ctx context.Context, req store.KeepEventsRequest) error {
	req.Now = b.clock.Now()
	return b.Backend.KeepEvents(ctx, req)
}

// RecordAudit implements store.Audit.
func (b backend) RecordAudit(ctx context.Context, req store.RecordAuditRequest) error {
	req.Now = b.clock.Now()
	return b.Backend.RecordAudit(ctx, req)
}
