package mysql

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// outputWindow has the blocks of a claim that are kept.
type outputWindow struct {
	ID    int64 `json:"id"`
	Token int64 `json:"token"`
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// SaveOutput stores output; see store.Jobs.
func (b *Backend) SaveOutput(ctx context.Context, req store.SaveOutputRequest) ([]store.ClaimRef, error) {
	if len(req.Claims) == 0 {
		return nil, nil
	}
	claims := make([]store.ClaimRef, len(req.Claims))
	for i, c := range req.Claims {
		claims[i] = c.ClaimRef
	}
	return rowwise.InTx(b.write(ctx, "save output"), func(s *session) (saved []store.ClaimRef, err error) {
		held, err := s.LockClaims(ctx, claims)
		if err != nil {
			return saved, err
		}
		var windows []outputWindow
		var rows []args
		for i, c := range req.Claims {
			if !held[i].Running {
				continue
			}
			saved = append(saved, c.ClaimRef)
			first, last := c.Window()
			windows = append(windows, outputWindow{c.ID, c.Token, first, last})
			for _, block := range c.Blocks() {
				rows = append(rows, args{"id": c.ID, "token": c.Token, "block": block.N, "data": sqlrows.NotNull(block.Data)})
			}
		}
		if len(windows) == 0 {
			return saved, nil
		}
		if err := s.Exec(ctx, sqlrows.CutOutput, args{"windows": sqlrows.JSON(windows)}); err != nil {
			return saved, err
		}
		return saved, s.insertRows(ctx, sqlrows.UpsertOutput, rows)
	})
}

// DeleteOutput implements rowwise.Claims.
func (s *session) DeleteOutput(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, sqlrows.DeleteOutput)
}
