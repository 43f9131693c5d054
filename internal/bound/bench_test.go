package bound_test

import (
	"context"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/bound"
	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/store"
)

// idle is a store that does nothing.
type idle struct{ store.Backend }

func (idle) Claim(context.Context, store.ClaimRequest) (store.ClaimResult, error) {
	return store.ClaimResult{}, nil
}

func (idle) Insert(context.Context, store.InsertRequest) (store.InsertResult, error) {
	return store.InsertResult{}, nil
}

// BenchmarkCall measures what a call costs above the call of the store: its bound, or its report.
func BenchmarkCall(b *testing.B) {
	for _, over := range []struct {
		name string
		of   store.Backend
	}{
		{"bare", idle{}},
		{"bound", bound.New(idle{}, time.Minute)},
		{"timed", intercept.Timed(idle{}, func(event.Call) {})},
	} {
		b.Run("Claim/"+over.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = over.of.Claim(b.Context(), store.ClaimRequest{Queue: "q", Limit: 10})
			}
		})
		jobs := make([]store.NewJob, 1)
		b.Run("Insert/"+over.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = over.of.Insert(b.Context(), store.InsertRequest{Jobs: jobs})
			}
		})
	}
}
