package sqlrows

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Tx is a session of a driver: it embeds Session and has the rest.
type Tx interface {
	rowwise.BeginTx

	// ListAudit, ListLimits and ListLimitWaits return the rows that a listing asks for.
	ListAudit(ctx context.Context, req store.ListRequest) ([]store.AuditEntry, error)
	ListLimits(ctx context.Context, req store.ListRequest) ([]store.LimitInfo, error)
	ListLimitWaits(ctx context.Context, req store.ListRequest) ([]store.LimitWait, error)

	// Base returns the Session.
	Base() *Session
}

// Base returns the part of a driver's session that does not depend on the database.
func (s *Session) Base() *Session { return s }

// Calls are the calls of a store.Backend that are the same in each driver: one function in one transaction. A driver's Backend embeds them.
type Calls[S Tx] struct {
	// Read returns a transaction that only reads, or the caller's transaction unless it is nil. doing begins each error.
	Read func(ctx context.Context, doing string, in store.Tx) rowwise.Transaction[S]

	// Write returns a transaction that writes, or the caller's transaction unless it is nil.
	Write func(ctx context.Context, doing string, in store.Tx) rowwise.Transaction[S]

	// WriteAt is Write for work that needs the instant of the call: asked or, if it is zero, the store's clock.
	WriteAt func(ctx context.Context, doing string, in store.Tx, asked time.Time) rowwise.TransactionAt[S]
}

// Now reads the store's clock; see store.Maintenance.
func (c Calls[S]) Now(ctx context.Context) (time.Time, error) {
	return rowwise.InTx(c.Read(ctx, "read the clock", nil), func(s S) (time.Time, error) { return s.Now(ctx, time.Time{}) })
}

// Position reads how far the store has come; see store.History.
func (c Calls[S]) Position(ctx context.Context) (store.Position, error) {
	return rowwise.InTx(c.Read(ctx, "read how far the store has come", nil), func(s S) (store.Position, error) { return s.Base().Position(ctx) })
}

// ReportLoss remembers that the store went back in time; see store.History.
func (c Calls[S]) ReportLoss(ctx context.Context, req store.ReportLossRequest) (store.Position, error) {
	return c.ChangeHistory(ctx, "report a loss of history", req.Now, func(s S, now time.Time) error {
		return s.Base().Exec(ctx, ReportLoss, Args{
			"now": Micros(now), "accepted": req.Accepted, "token": req.Seen.Token, "node": req.Seen.Node, "seen_accepted": req.Seen.Accepted,
		})
	})
}

// ChangeJobs cancels, retries or deletes jobs; see store.Jobs.
func (c Calls[S]) ChangeJobs(ctx context.Context, req store.ChangeJobsRequest) (store.ChangeJobsResult, error) {
	if len(req.IDs) == 0 && req.Schedule == "" {
		return store.ChangeJobsResult{EntryID: req.EntryID}, nil
	}
	return rowwise.InTxAt(c.WriteAt(ctx, "change jobs", req.Tx, req.Now), func(s S, now time.Time) (store.ChangeJobsResult, error) {
		return rowwise.ChangeJobs(ctx, s, req, now)
	})
}

// newProgress is progress on its way to upsert_progress.sql.
type newProgress struct {
	ID    int64  `json:"id"`
	Token int64  `json:"token"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Note  string `json:"note"`
	Stuck *int64 `json:"stuck,omitempty"`
}

// SaveProgress stores progress; see store.Jobs.
func (c Calls[S]) SaveProgress(ctx context.Context, req store.SaveProgressRequest) error {
	if len(req.Claims) == 0 {
		return nil
	}
	return c.WriteAt(ctx, "save progress", nil, req.Now)(func(s S, now time.Time) error {
		rows := make([]newProgress, len(req.Claims))
		for i, c := range req.Claims {
			rows[i] = newProgress{c.ID, c.Token, c.Done, c.Total, c.Note, Micros(c.StuckSince(now))}
		}
		return s.Base().Exec(ctx, UpsertProgress, Args{"claims": JSON(rows), "now": Micros(now)})
	})
}

// ReadOutput reads the output of an attempt; see store.Jobs.
func (c Calls[S]) ReadOutput(ctx context.Context, req store.ReadOutputRequest) (store.JobOutput, error) {
	return rowwise.InTx(c.Read(ctx, "read output", nil), func(s S) (store.JobOutput, error) { return s.Base().ReadOutput(ctx, req) })
}

// BeginJobs lets claims begin; see store.Jobs.
func (c Calls[S]) BeginJobs(ctx context.Context, req store.BeginRequest) (store.BeginResult, error) {
	return rowwise.InTx(c.Write(ctx, "begin jobs", nil), func(s S) (store.BeginResult, error) { return rowwise.BeginJobs(ctx, s, req) })
}

// List reads rows; see store.Listings. The counts are always exact.
func (c Calls[S]) List(ctx context.Context, req store.ListRequest) (store.Listing, error) {
	return rowwise.InTx(c.Read(ctx, req.String(), req.Tx), func(s S) (store.Listing, error) { return list(ctx, s, req) })
}

// InsertLinked inserts jobs, some of them with predecessors, or into a batch.
func (c Calls[S]) InsertLinked(ctx context.Context, req store.InsertRequest) (out store.InsertResult, err error) {
	const doing = "insert jobs"
	links, err := store.CheckLinks(req)
	if err != nil {
		return out, fmt.Errorf("%s: %w", doing, err)
	}
	return rowwise.InTxAt(c.WriteAt(ctx, doing, req.Tx, req.Now), func(s S, now time.Time) (out store.InsertResult, err error) {
		return rowwise.InsertLinkedOf(ctx, s, req, links, now)
	})
}

// PutSchedules creates or changes schedules; see store.Schedules.
func (c Calls[S]) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (out store.PutSchedulesResult, err error) {
	if err := store.CheckAfter(req); err != nil {
		return out, fmt.Errorf("put schedules: %w", err)
	}
	return rowwise.InTxAt(c.WriteAt(ctx, "put schedules", req.Tx, req.Now), func(s S, now time.Time) (store.PutSchedulesResult, error) {
		return rowwise.PutSchedules(ctx, s, req, now)
	})
}

// ChangeSchedules pauses, resumes, deletes or resets; see store.Schedules.
func (c Calls[S]) ChangeSchedules(ctx context.Context, req store.ChangeSchedulesRequest) error {
	return c.WriteAt(ctx, "change schedules", req.Tx, req.Now)(func(s S, now time.Time) error {
		return rowwise.ChangeSchedules(ctx, s, req, now)
	})
}

// Put creates or changes definitions; see store.Definitions.
func (c Calls[S]) Put(ctx context.Context, req store.PutRequest) (store.PutResult, error) {
	return rowwise.InTxAt(c.WriteAt(ctx, req.String(), nil, req.Now), func(s S, now time.Time) (store.PutResult, error) {
		return rowwise.Put(ctx, s, req, now)
	})
}

// Delete deletes definitions; see store.Definitions.
func (c Calls[S]) Delete(ctx context.Context, req store.DeleteRequest) error {
	return c.WriteAt(ctx, req.String(), nil, req.Now)(func(s S, now time.Time) error { return rowwise.Delete(ctx, s, req, now) })
}

// CloseLanes lets nothing start in lanes for a while; see store.Permits.
func (c Calls[S]) CloseLanes(ctx context.Context, req store.CloseLanesRequest) error {
	return c.WriteAt(ctx, "close lanes", nil, req.Now)(func(s S, now time.Time) error { return rowwise.CloseLanes(ctx, s, req, now) })
}

// ExchangePermits replaces the permits of a node; see store.Permits.
func (c Calls[S]) ExchangePermits(ctx context.Context, req store.ExchangePermitsRequest) (store.QueuePermits, error) {
	return rowwise.InTxAt(c.WriteAt(ctx, "exchange permits", nil, req.Now), func(s S, now time.Time) (store.QueuePermits, error) {
		return rowwise.ExchangePermits(ctx, s, req, now)
	})
}

// Leave ends a registration; see store.Nodes.
func (c Calls[S]) Leave(ctx context.Context, req store.LeaveRequest) (store.RescueResult, error) {
	return rowwise.InTxAt(c.WriteAt(ctx, "leave", nil, req.Now), func(s S, now time.Time) (store.RescueResult, error) {
		return rowwise.Leave(ctx, s, req, now)
	})
}

// RecordAudit stores an entry; see store.Audit.
func (c Calls[S]) RecordAudit(ctx context.Context, req store.RecordAuditRequest) error {
	return c.WriteAt(ctx, "record in the audit", nil, req.Now)(func(s S, now time.Time) error {
		e := req.Bounded()
		return rowwise.Record(ctx, s, &e, now)
	})
}

// ChangeHistory changes what is known of losses, and returns the position after that.
func (c Calls[S]) ChangeHistory(ctx context.Context, doing string, asked time.Time, change func(S, time.Time) error) (store.Position, error) {
	return rowwise.InTx(c.Write(ctx, doing, nil), func(s S) (out store.Position, err error) {
		now, err := s.Now(ctx, asked)
		if err != nil {
			return out, err
		}
		if err := change(s, now); err != nil {
			return out, err
		}
		out, err = s.Base().Position(ctx)
		return out, err
	})
}
