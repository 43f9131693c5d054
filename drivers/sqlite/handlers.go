package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// PutHandler creates or replaces a handler; see store.HandlerStore.
func (b *Backend) PutHandler(ctx context.Context, req store.PutHandlerRequest) (store.PutHandlerResult, error) {
	return rowwise.InTxAt(b.writeAt(ctx, "put handler", req.Now), func(s *session, now time.Time) (store.PutHandlerResult, error) {
		return rowwise.PutHandler(ctx, s, req, now)
	})
}

// DeleteHandlers deletes handlers; see store.HandlerStore.
func (b *Backend) DeleteHandlers(ctx context.Context, req store.DeleteHandlersRequest) error {
	return b.writeAt(ctx, "delete handlers", req.Now)(func(s *session, now time.Time) error {
		return rowwise.DeleteHandlers(ctx, s, req, now)
	})
}

// ListHandlers reads handlers; see store.HandlerStore.
func (b *Backend) ListHandlers(ctx context.Context) ([]store.Handler, error) {
	return rowwise.InTx(b.read(ctx, "list handlers"), func(s *session) (store.Handlers, error) { return s.ReadHandlers(ctx) })
}

// LockHandlers implements rowwise.HandlersTx.
func (s *session) LockHandlers(ctx context.Context) (store.Handlers, error) {
	return s.ReadHandlers(ctx)
}
