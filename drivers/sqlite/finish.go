package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// LockClaims implements rowwise.Claims.
func (s *session) LockClaims(ctx context.Context, claims []store.ClaimRef) ([]rowwise.Held, error) {
	return s.ReadHeld(ctx, lockClaims, claims, nil)
}
