package fire

import (
	"context"
	"fmt"

	"github.com/hourbell/hourbell/store"
)

// endsBatch is how many ends of predecessors' jobs one call reads. Schedules whose ends are not all
// read stay due.
const endsBatch = 1_000

// readEnds reads the ends for which due schedules that follow other schedules have to account, by
// schedule; tx as in store.DueSchedulesRequest.
func readEnds(ctx context.Context, s Store, tx store.Tx, due []store.Schedule, follows func(store.Schedule) bool) (map[int64][]store.ScheduleEnd, error) {
	var ids []int64
	for _, row := range due {
		if follows(row) {
			ids = append(ids, row.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := store.List[store.ScheduleEnd](ctx, s, store.ListRequest{Tx: tx, IDs: ids, Limit: endsBatch})
	if err != nil {
		return nil, fmt.Errorf("read ends of jobs: %w", err)
	}
	ends := map[int64][]store.ScheduleEnd{}
	for _, e := range list {
		ends[e.Schedule] = append(ends[e.Schedule], e)
	}
	return ends, nil
}
