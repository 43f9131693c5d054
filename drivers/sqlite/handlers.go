package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// LockHandlers implements rowwise.HandlersTx.
func (s *session) LockHandlers(ctx context.Context) (store.Handlers, error) {
	return s.ReadHandlers(ctx)
}
