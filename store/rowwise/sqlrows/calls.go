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
	PruneTx

	// EnterNode inserts a node whose description has the parameters of entry, and returns its number; node is 0 then. Otherwise it
	// continues the registration of the node, and prolongs its lease.
	EnterNode(ctx context.Context, node int64, entry Args, now time.Time) (int64, error)

	// BeginFeed leaves out a number of the feed if no events were stored until now, and they are to be kept from now on: a reader that
	// continues has missed events.
	BeginFeed(ctx context.Context, keep time.Duration) error

	// InSavepoint runs work in a caller's transaction. After an error the transaction is as before, and can go on.
	InSavepoint(ctx context.Context, work func() error) error

	// AfterCommit returns what is to be done after the commit of a caller's transaction, and then is not done before.
	AfterCommit() func()

	// HasLeftNodes reports whether nodes that have ended hold jobs that are to be looked at again now; see rowwise.LeftNodes.
	HasLeftNodes(ctx context.Context, now time.Time) (bool, error)

	// Base returns the Session.
	Base() *Session
}

// Base returns the part of a driver's session that does not depend on the database.
func (s *Session) Base() *Session { return s }

// Calls are the calls of a store.Backend that are the same in each driver: one function in one transaction. A driver's Backend embeds
// them. doing begins each error.
type Calls[S Tx] struct {
	// ReadOnly returns a transaction that only reads, and WriteOnly a transaction that writes.
	ReadOnly, WriteOnly func(ctx context.Context, doing string) rowwise.Transaction[S]

	// InCallers returns the caller's transaction, which may be one that only reads unless writes is true.
	InCallers func(ctx context.Context, doing string, in store.Tx, writes bool) rowwise.Transaction[S]

	// Commit commits the caller's transaction, and Rollback rolls it back. InCallers has accepted it before.
	Commit   func(ctx context.Context, doing string, in store.Tx) error
	Rollback func(in store.Tx)

	// Steps are the steps of the schema, and Version reads the newest step that the database has; 0: there is no schema.
	Steps   []store.Migration
	Version func(ctx context.Context, doing string) (int, error)

	// InsertStep stores a result if the job runs with the token and has no step of the name, by a statement that is a transaction of its
	// own, and returns the instant; the zero time: it has stored nothing.
	InsertStep func(ctx context.Context, doing string, req store.SaveStepRequest) (time.Time, error)

	// Release is CarryOut of a Backend that has its own; nil: CarryOut of Calls.
	Release func(ctx context.Context, req store.CarryOutRequest) error
}

// release releases the dependents of jobs that have ended. After an error the nodes do it.
func (c Calls[S]) release(ctx context.Context, now time.Time) {
	carryOut := c.Release
	if carryOut == nil {
		carryOut = c.CarryOut
	}
	_ = carryOut(ctx, store.CarryOutRequest{Now: now})
}

// Read returns a transaction that only reads, or the caller's transaction unless it is nil.
func (c Calls[S]) Read(ctx context.Context, doing string, in store.Tx) rowwise.Transaction[S] {
	if in != nil {
		return c.InCallers(ctx, doing, in, false)
	}
	return c.ReadOnly(ctx, doing)
}

// Write returns a transaction that writes, or the caller's transaction unless it is nil. After a transaction of its own it releases the
// dependents of jobs that have ended.
func (c Calls[S]) Write(ctx context.Context, doing string, in store.Tx) rowwise.Transaction[S] {
	if in != nil {
		return c.InCallers(ctx, doing, in, true)
	}
	return func(work func(S) error) error {
		s, err := rowwise.InTx(c.WriteOnly(ctx, doing), func(s S) (S, error) { return s, work(s) })
		if err == nil && s.Base().Noted {
			c.release(ctx, s.Base().Asked)
		}
		return err
	}
}

// WriteAt is Write for work that needs the instant of the call: asked or, if it is zero, the store's clock. After an error of the work,
// the caller's transaction is as before.
func (c Calls[S]) WriteAt(ctx context.Context, doing string, in store.Tx, asked time.Time) rowwise.TransactionAt[S] {
	return func(change func(S, time.Time) error) error {
		return c.Write(ctx, doing, in)(func(s S) error {
			work := func() error {
				now, err := s.Now(ctx, asked)
				if err != nil {
					return err
				}
				return change(s, now)
			}
			if in != nil {
				return s.InSavepoint(ctx, work)
			}
			return work()
		})
	}
}

// Finish records outcomes; see store.Jobs.
func (c Calls[S]) Finish(ctx context.Context, req store.FinishRequest) (out store.FinishResult, err error) {
	if len(req.Outcomes) == 0 {
		return out, nil
	}
	if req.Tx != nil {
		return c.finishIn(ctx, req)
	}
	return rowwise.InTxAt(c.WriteAt(ctx, "finish jobs", nil, req.Now), func(s S, now time.Time) (store.FinishResult, error) {
		return rowwise.Finish(ctx, s, req, now)
	})
}

// finishIn is Finish in a transaction of the caller.
func (c Calls[S]) finishIn(ctx context.Context, req store.FinishRequest) (store.FinishResult, error) {
	const doing = "finish a job"
	type finished struct {
		out       store.FinishResult
		noted     bool
		committed func()
	}
	did, err := rowwise.InTx(c.Write(ctx, doing, req.Tx), func(s S) (did finished, err error) {
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return did, err
		}
		did.out, err = rowwise.Finish(ctx, s, req, now)
		did.noted = s.Base().Noted
		if req.Commit {
			did.committed = s.AfterCommit()
		}
		return did, err
	})
	switch {
	case err != nil:
		return store.FinishResult{}, err
	case len(did.out.Refused) > 0:
		c.Rollback(req.Tx)
	case req.Commit:
		if err = c.Commit(ctx, doing, req.Tx); err == nil {
			did.committed()
			if did.noted {
				c.release(ctx, req.Now)
			}
		}
	}
	return did.out, err
}

// CarryOut implements store.Deferring: it carries out notes of ended jobs.
func (c Calls[S]) CarryOut(ctx context.Context, req store.CarryOutRequest) error {
	type step struct {
		next int64 // where the next step begins
		more bool
	}
	const doing = "release dependents"
	for did := (step{more: true}); did.more; {
		run := c.WriteOnly(ctx, doing)
		if req.Tx != nil {
			run = c.Write(ctx, doing, req.Tx)
		}
		var err error
		did, err = rowwise.InTx(run, func(s S) (next step, err error) {
			now, err := s.Now(ctx, req.Now)
			if err != nil {
				return next, err
			}
			next.next, next.more, err = rowwise.ReleaseDependents(ctx, s, did.next, now)
			return next, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Now reads the store's clock; see store.Maintenance.
func (c Calls[S]) Now(ctx context.Context) (time.Time, error) {
	return rowwise.InTx(c.Read(ctx, "read the clock", nil), func(s S) (time.Time, error) { return s.Now(ctx, time.Time{}) })
}

// ReportLoss remembers that the store went back in time; see store.History.
func (c Calls[S]) ReportLoss(ctx context.Context, req store.ReportLossRequest) (store.Position, error) {
	return c.ChangeHistory(ctx, "report a loss of history", req.Now, func(s S, now time.Time) error {
		return s.Base().Exec(ctx, reportLoss, Args{
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
		return s.Base().Exec(ctx, upsertProgress, Args{"claims": JSON(rows), "now": Micros(now)})
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

// Insert stores jobs in one transaction; see store.Jobs.
func (c Calls[S]) Insert(ctx context.Context, req store.InsertRequest) (out store.InsertResult, err error) {
	switch {
	case req.Linked():
		return c.insertLinked(ctx, req)
	case len(req.Jobs) == 0 && req.Tx == nil && !req.By.Recorded():
		return out, nil
	}
	return rowwise.InTx(c.Write(ctx, "insert jobs", req.Tx), func(s S) (out store.InsertResult, err error) {
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return out, err
		}
		out, err = rowwise.Insert(ctx, s, req, now)
		return out, err
	})
}

// insertLinked inserts jobs, some of them with predecessors, or into a batch.
func (c Calls[S]) insertLinked(ctx context.Context, req store.InsertRequest) (out store.InsertResult, err error) {
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
	if req.Of() == store.OfFeed {
		return store.PutResult{}, c.putFeed(ctx, req)
	}
	return rowwise.InTxAt(c.WriteAt(ctx, req.String(), nil, req.Now), func(s S, now time.Time) (store.PutResult, error) {
		return rowwise.Put(ctx, s, req, now)
	})
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
