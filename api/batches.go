package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

func (h *handler) addBatches() {
	add(h, route{
		access.Viewer, http.MethodGet, "/api/v1/batches", "list-batches",
		"Lists batches, which are jobs that were enqueued together, newest first", "batches", 0, 0,
	}, h.listBatches)
	add(h, route{
		access.Viewer, http.MethodGet, "/api/v1/batches/{id}", "get-batch",
		"Returns a batch: its state, and how many of its jobs are in which state", "batches", 0, 0,
	}, h.getBatch)
}

func (h *handler) listBatches(ctx context.Context, in *struct{ Paging }) (*listed[view.BatchRecord], error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	before, err := numberCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	batches, err := h.client.Batches.List(ctx, hourbell.BatchFilter{Before: before, Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	return newPage(in.Limit, batches, func(b store.Batch) string { return fmt.Sprint(b.ID) }, view.NewBatchRecord), nil
}

// numberCursor reads the cursor of a list that is ordered by a number from 1; empty: 0,
// the first page.
func numberCursor(cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	text, err := decodeCursor(cursor)
	number, wrong := strconv.ParseInt(text, 10, 64)
	if err != nil || wrong != nil || number < 1 {
		return 0, badCursor(cursor)
	}
	return number, nil
}

type batchOutput struct{ Body view.BatchRecord }

func (h *handler) getBatch(ctx context.Context, in *struct {
	ID int64 `path:"id" minimum:"1" doc:"The number of the batch."`
},
) (*batchOutput, error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	batch, err := h.client.Batches.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &batchOutput{view.NewBatchRecord(batch)}, nil
}
