package mysql

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// LockHandlers implements rowwise.HandlersTx. The counter of revisions excludes other transactions
// that change handlers.
func (s *session) LockHandlers(ctx context.Context) (store.Handlers, error) {
	if _, err := s.LockRevision(ctx); err != nil {
		return nil, err
	}
	return s.ReadHandlers(ctx)
}
