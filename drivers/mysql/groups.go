package mysql

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// ListGroups counts what is in groups; see store.Groups.
func (b *Backend) ListGroups(ctx context.Context, req store.ListGroupsRequest) ([]store.GroupInfo, error) {
	return rowwise.InTx(b.read(ctx, "list groups"), func(s *session) ([]store.GroupInfo, error) { return s.ListGroups(ctx, req) })
}
