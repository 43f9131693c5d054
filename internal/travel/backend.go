package travel

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/store"
)

// backend gives each request of a store the instant of a clock.
type backend struct {
	store.Backend
	clock *Clock
}

// Unwrap returns the backend below; see store.Able.
func (b backend) Unwrap() store.Backend { return b.Backend }

// Clock returns the clock of the backend; see Of.
func (b backend) Clock() *Clock { return b.clock }

// Over returns a backend over next whose requests have the instant of the clock, for clients and
// nodes. It is called once.
func (c *Clock) Over(next store.Backend) store.Backend {
	c.below = next
	return backend{intercept.New(withoutHaste(next), c.call), c}
}

// call makes a call of the store at the instant of the clock: see intercept.Func.
func (c *Clock) call(ctx context.Context, call intercept.Call, next func(context.Context) error) error {
	_, prunes := call.Request.(*store.PruneRequest)
	if prunes && !c.mayPrune() { // a test can look at all that has happened in a month
		return nil
	}
	if claim, is := call.Request.(*store.ClaimRequest); is {
		claim.Part = false // a claim that leaves out due jobs does not prove that nothing is due
	}
	if now := reflect.ValueOf(call.Request).Elem().FieldByName("Now"); now.IsValid() {
		now.Set(reflect.ValueOf(c.Now()))
	}
	if makesDue(call.Operation) {
		defer c.touch()
	}
	err := next(ctx)
	if prunes {
		c.pruned(err)
	}
	if at, is := call.Result.(*time.Time); is && err == nil && call.Operation == "now" {
		*at = c.Now()
	}
	return err
}

// makesDue reports whether a call may make more work due. A new operation counts as one.
func makesDue(operation string) bool {
	switch operation {
	case "carry_out", "claim", "claims", "count_jobs", "due_schedules", "find_claim", "heartbeat",
		"now", "prune", "read_output", "record_audit", "register", "report_loss", "save_output",
		"save_progress":
		return false
	}
	return !strings.HasPrefix(operation, "list_") && !strings.HasPrefix(operation, "estimate_")
}

// withoutHaste returns a store with the abilities that schemas and callers' transactions need. The store loses its other
// abilities, which make nodes faster by the clock of the process.
func withoutHaste(full store.Backend) store.Backend {
	b := store.Backend(plain{full})
	if able, ok := store.Able[store.Migrator](full); ok {
		b = migrator{b, able}
	}
	if able, ok := store.Able[store.Deferring](full); ok {
		b = deferring{b, able}
	}
	return b
}

// plain is a store without abilities, and the other types add one ability each.
type (
	plain    struct{ store.Backend }
	migrator struct {
		store.Backend
		store.Migrator
	}
	deferring struct {
		store.Backend
		store.Deferring
	}
)

// Unwrap returns the backend below; see store.Able.
func (b migrator) Unwrap() store.Backend { return b.Backend }

// Unwrap returns the backend below; see store.Able.
func (b deferring) Unwrap() store.Backend { return b.Backend }
