package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// newBlock is a block on its way to upsert_output.sql.
type newBlock struct {
	ID    int64 `json:"id"`
	Token int64 `json:"token"`
	Block int64 `json:"block"`
	At    int   `json:"at"`
	Len   int   `json:"len"`
}

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
		var rows []newBlock
		var pack sqlrows.Packer
		for i, c := range req.Claims {
			if !held[i].Running {
				continue
			}
			saved = append(saved, c.ClaimRef)
			first, last := c.Window()
			windows = append(windows, outputWindow{c.ID, c.Token, first, last})
			for _, block := range c.Blocks() {
				at, length := pack.Add(block.Data)
				rows = append(rows, newBlock{c.ID, c.Token, block.N, at, length})
			}
		}
		if len(windows) == 0 {
			return saved, nil
		}
		if err := s.Exec(ctx, sqlrows.CutOutput, args{"windows": sqlrows.JSON(windows)}); err != nil {
			return saved, err
		}
		return saved, s.Exec(ctx, sqlrows.UpsertOutput, args{"rows": sqlrows.JSON(rows), "bytes": pack.Parameter()})
	})
}

// DeleteOutput implements rowwise.Claims.
func (s *session) DeleteOutput(ctx context.Context, ids []int64) error {
	return s.Exec(ctx, sqlrows.DeleteOutput, args{"ids": sqlrows.JSONList(ids)})
}
