package bound_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/bound"
	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
	"github.com/hourbell/hourbell/store/storetest"
)

// able is a store with every ability.
type able struct{ *memory.Store }

func (able) Claim(ctx context.Context, _ store.ClaimRequest) (store.ClaimResult, error) {
	return store.ClaimResult{Again: time.Second}, ctx.Err()
}

func (able) Connection() store.Connection                                   { return store.Connection{RoundTrip: time.Second} }
func (able) CarryOut(context.Context, store.CarryOutRequest) error          { return nil }
func (able) Migrations() []store.Migration                                  { return []store.Migration{{Version: 1}} }
func (able) MigrateStatus(context.Context) ([]store.MigrationStatus, error) { return nil, nil }
func (able) MigrateUp(context.Context) ([]store.Migration, error)           { return nil, nil }

// TestAbilitiesPassThrough checks that a bounded backend has the abilities of the backend below.
func TestAbilitiesPassThrough(t *testing.T) {
	full := able{memory.New()}
	bounded, plain := bound.New(full, time.Second), bound.New(storetest.Plain(full), time.Second)
	for _, ability := range storetest.Abilities() {
		if !ability.Of(full) || !ability.Of(bounded) || ability.Of(plain) {
			t.Errorf("the ability %s: %v, bounded %v, and bounded over a store without it %v",
				ability.Name, ability.Of(full), ability.Of(bounded), ability.Of(plain))
		}
	}
	if res, err := bounded.Claim(t.Context(), store.ClaimRequest{Part: true}); err != nil || res.Again != time.Second {
		t.Errorf("a partial claim does not reach the backend below: %+v, %v", res, err)
	}
	if store.RoundTrip(bounded) != time.Second || store.RoundTrip(plain) != 0 {
		t.Errorf("round trips of %v and %v", store.RoundTrip(bounded), store.RoundTrip(plain))
	}
}

// noted returns a bounded backend over a store with every ability, and a function that returns how long the last call
// might take; 0: it has no bound.
func noted() (store.Backend, func() time.Duration) {
	var last time.Duration
	below := intercept.New(able{memory.New()}, func(ctx context.Context, _ intercept.Call, _ func(context.Context) error) error {
		last = 0
		if end, ok := ctx.Deadline(); ok {
			last = time.Until(end).Round(time.Minute)
		}
		return nil
	})
	return bound.New(below, time.Hour), func() time.Duration { return last }
}

// tx is a transaction of a caller.
type tx struct{}

func (tx) HourbellTx() {}

// TestEveryCallIsBounded calls each method of a store and of its abilities that do work: it has a bound, a longer bound
// if its request asks for many rows, and none in a transaction of the caller's.
func TestEveryCallIsBounded(t *testing.T) {
	bounded, took := noted()
	deferring, _ := store.Able[store.Deferring](bounded)
	roles := map[reflect.Type]any{
		reflect.TypeFor[store.Backend]():   bounded,
		reflect.TypeFor[store.Deferring](): deferring,
	}
	transactions := 0
	for role, receiver := range roles {
		for i := range role.NumMethod() {
			name := role.Method(i).Name
			method := reflect.ValueOf(receiver).MethodByName(name)
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			if method.Type().NumIn() == 1 {
				if method.Call(args); took() != time.Hour {
					t.Errorf("%s takes up to %v", name, took())
				}
				continue
			}
			req := reflect.New(method.Type().In(1)).Elem()
			method.Call(append(args, req))
			empty := took()
			if empty < time.Hour {
				t.Errorf("%s takes up to %v", name, empty)
			}
			if limit := req.FieldByName("Limit"); limit.IsValid() && limit.Kind() == reflect.Int {
				limit.SetInt(90_000)
				if method.Call(append(args, req)); took() != empty+3*time.Minute {
					t.Errorf("%s takes up to %v, and %v for many rows", name, empty, took())
				}
			}
			if field := req.FieldByName("Tx"); field.IsValid() {
				transactions++
				field.Set(reflect.ValueOf(tx{}))
				if method.Call(append(args, req)); took() != 0 {
					t.Errorf("%s in a transaction of the caller's takes up to %v", name, took())
				}
			}
		}
	}
	if transactions < 8 {
		t.Errorf("only %d methods with a transaction of the caller's", transactions)
	}
}

// TestLargeRequestsTakeLonger checks the bounds of requests by their sizes.
func TestLargeRequestsTakeLonger(t *testing.T) {
	bounded, took := noted()
	many := make([]string, 60_000)
	tests := []struct {
		name string
		call func(context.Context) error
		want time.Duration
	}{
		{"jobs", func(ctx context.Context) error {
			_, err := bounded.Insert(ctx, store.InsertRequest{Jobs: make([]store.NewJob, 30_000)})
			return err
		}, time.Hour + time.Minute},
		{"what jobs carry", func(ctx context.Context) error {
			jobs := []store.NewJob{{JobSpec: store.JobSpec{Args: make([]byte, 60<<20), Headers: make([]byte, 60<<20)}}}
			_, err := bounded.Insert(ctx, store.InsertRequest{Jobs: jobs})
			return err
		}, time.Hour + 2*time.Minute},
		{"outcomes", func(ctx context.Context) error {
			_, err := bounded.Finish(ctx, store.FinishRequest{Outcomes: make([]store.Outcome, 30_000)})
			return err
		}, time.Hour + time.Minute},
		{"names", func(ctx context.Context) error {
			return bounded.ChangeSchedules(ctx, store.ChangeSchedulesRequest{Names: many})
		}, time.Hour + 2*time.Minute},
		{"jobs by number", func(ctx context.Context) error {
			_, err := bounded.ChangeJobs(ctx, store.ChangeJobsRequest{IDs: make([]int64, 30_000)})
			return err
		}, time.Hour + time.Minute},
		{"all jobs of a schedule", func(ctx context.Context) error {
			_, err := bounded.ChangeJobs(ctx, store.ChangeJobsRequest{Schedule: "s"})
			return err
		}, 10 * time.Hour},
		{"schedules", func(ctx context.Context) error {
			_, err := bounded.PutSchedules(ctx, store.PutSchedulesRequest{Schedules: make([]store.PutSchedule, 30_000)})
			return err
		}, time.Hour + time.Minute},
		{"a sync", func(ctx context.Context) error {
			_, err := bounded.PutSchedules(ctx, store.PutSchedulesRequest{Sync: true})
			return err
		}, 10 * time.Hour},
		{"all jobs", func(ctx context.Context) error {
			_, err := bounded.CountJobs(ctx, store.CountJobsRequest{})
			return err
		}, 10 * time.Hour},
	}
	for _, tt := range tests {
		if err := tt.call(t.Context()); err != nil || took() != tt.want {
			t.Errorf("%s: takes up to %v, want %v: %v", tt.name, took(), tt.want, err)
		}
	}
}

// stuck is a store that does not answer some calls.
type stuck struct{ able }

func (stuck) List(ctx context.Context, _ store.ListRequest) (store.Listing, error) {
	<-ctx.Done()
	return store.Listing{}, ctx.Err()
}

func (stuck) MigrateStatus(ctx context.Context) ([]store.MigrationStatus, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestCallsEnd checks that calls without an answer end by themselves, and say so.
func TestCallsEnd(t *testing.T) {
	below := stuck{able{memory.New()}}
	bounded := bound.New(below, 10*time.Millisecond)
	_, err := bounded.List(t.Context(), store.ListRequest{})
	_, status := bound.MigrateStatus(t.Context(), below, 10*time.Millisecond)
	_, up := bound.MigrateUp(t.Context(), below, 10*time.Millisecond)
	for _, err := range []error{err, status, up} {
		if want := "no answer within 10ms: context deadline exceeded"; !errors.Is(err, context.DeadlineExceeded) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bounded.List(ended, store.ListRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that its caller has ended: %v", err)
	}
}

// still is a migration that records its bound.
type still struct {
	able
	took   *time.Duration
	status []store.MigrationStatus
}

func (s still) MigrateStatus(context.Context) ([]store.MigrationStatus, error) { return s.status, nil }

func (s still) MigrateUp(ctx context.Context) ([]store.Migration, error) {
	end, _ := ctx.Deadline()
	*s.took = time.Until(end).Round(time.Minute)
	return nil, nil
}

// TestMigrationsAreBounded checks the bounds of migrations by their missing steps.
func TestMigrationsAreBounded(t *testing.T) {
	var took time.Duration
	const limit = 2 * time.Minute
	for _, tt := range []struct {
		applied []bool
		want    time.Duration
	}{{nil, limit}, {[]bool{false, false}, 3 * limit}, {[]bool{true, false, false}, limit + 2*time.Hour}, {[]bool{true}, limit}} {
		var status []store.MigrationStatus
		for _, applied := range tt.applied {
			status = append(status, store.MigrationStatus{Applied: applied})
		}
		if _, err := bound.MigrateUp(t.Context(), still{able{}, &took, status}, limit); err != nil || took != tt.want {
			t.Errorf("steps %v: up to %v, want %v: %v", tt.applied, took, tt.want, err)
		}
	}
	none := storetest.Plain(memory.New())
	status, err := bound.MigrateStatus(t.Context(), none, limit)
	applied, err2 := bound.MigrateUp(t.Context(), none, limit)
	if len(status) > 0 || len(applied) > 0 || errors.Join(err, err2) != nil {
		t.Errorf("a store without a schema: %v, %v, %v, %v", status, applied, err, err2)
	}
}
