package sqlrows

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// SaveOutput stores output; see store.Jobs.
func (c Calls[S]) SaveOutput(ctx context.Context, req store.SaveOutputRequest) ([]store.ClaimRef, error) {
	if len(req.Claims) == 0 {
		return nil, nil
	}
	claims := make([]store.ClaimRef, len(req.Claims))
	for i, c := range req.Claims {
		claims[i] = c.ClaimRef
	}
	return rowwise.InTx(c.Write(ctx, "save output", nil), func(s S) ([]store.ClaimRef, error) {
		held, err := s.LockClaims(ctx, claims)
		if err != nil {
			return nil, err
		}
		return s.Base().saveOutput(ctx, req, held)
	})
}

// saveOutput stores the output of claims whose jobs run, and returns these claims.
func (s *Session) saveOutput(ctx context.Context, req store.SaveOutputRequest, held []rowwise.Held) (saved []store.ClaimRef, err error) {
	type window struct { // the blocks of a claim that are kept
		ID    int64 `json:"id"`
		Token int64 `json:"token"`
		First int64 `json:"first"`
		Last  int64 `json:"last"`
	}
	var windows []window
	var rows []Args
	for i, c := range req.Claims {
		if !held[i].Running {
			continue
		}
		saved = append(saved, c.ClaimRef)
		first, last := c.Window()
		windows = append(windows, window{c.ID, c.Token, first, last})
		for _, block := range c.Blocks() {
			rows = append(rows, Args{"id": c.ID, "token": c.Token, "block": block.N, "data": NotNull(block.Data)})
		}
	}
	if len(windows) == 0 {
		return saved, nil
	}
	if err := s.Exec(ctx, cutOutput, Args{"windows": JSON(windows)}); err != nil {
		return saved, err
	}
	return saved, s.InsertRows(ctx, upsertOutput, rows)
}

// DeleteOutput implements rowwise.Claims.
func (s *Session) DeleteOutput(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, deleteOutput)
}
