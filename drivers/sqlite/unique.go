package sqlite

import (
	"context"
	"strconv"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// LockKeys implements rowwise.Jobs.
func (s *session) LockKeys(ctx context.Context, keys []store.JobKey, now time.Time) (map[store.JobKey]store.KeyHolder, error) {
	holders := map[store.JobKey]store.KeyHolder{}
	err := s.Each(ctx, findUniqueJobs, args{"keys": sqlrows.JSON(keys), "now": sqlrows.Micros(now)}, func(r row) error {
		var place int
		var h store.KeyHolder
		err := r.Scan(&place, &h.ID, &h.Live, &h.Begun, &h.Running, &h.InBatch, &h.Holds, &h.Queue, &h.Priority,
			sqlrows.IntoTime(&h.RunAt), sqlrows.IntoTime(&h.CreatedAt))
		holders[keys[place]] = h
		return err
	})
	return holders, err
}

// ReplaceJobs implements rowwise.Jobs.
func (s *session) ReplaceJobs(ctx context.Context, jobs []rowwise.Replaced) error {
	var pack sqlrows.Packer
	text := []byte("[")
	for i := range jobs {
		text = append(text, `{"id":`...)
		text = append(strconv.AppendInt(text, jobs[i].ID, 10), ',')
		text = append(append(appendSpec(text, &jobs[i].JobSpec, &pack), '}'), ',')
	}
	text[len(text)-1] = ']'
	if err := s.LeaveLanes(ctx, sqlrows.NumbersOf(jobs, func(job *rowwise.Replaced) int64 { return job.ID }), false); err != nil {
		return err
	}
	return s.Exec(ctx, replaceJobs, args{"jobs": string(text), "bytes": pack.Parameter()})
}
