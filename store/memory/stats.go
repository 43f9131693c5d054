package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// statsKey identifies a row of statistics.
type statsKey struct {
	span   time.Duration
	at     time.Time
	writer int64
}

// AddStats stores rows of statistics; see store.Maintenance.
func (s *Store) AddStats(ctx context.Context, req store.AddStatsRequest) (oldest bool, err error) {
	now, err := s.beginWrite(ctx, "store statistics", req.Now)
	if err != nil {
		return false, err
	}
	defer s.mu.Unlock()
	for _, row := range req.Rows {
		s.stats[statsKey{row.Span, instant(row.At), row.Writer}] = bytes.Clone(row.Data)
	}
	if req.Node != 0 && req.Node != s.oldestNode() {
		return false, nil
	}
	for _, span := range store.StatsSpans() {
		for key := range s.stats {
			if key.span == span.Span && key.at.Before(now.Add(-span.Keep)) {
				delete(s.stats, key)
			}
		}
	}
	return true, nil
}

// oldestNode returns the number of the oldest living node; 0: no node lives.
func (s *Store) oldestNode() (oldest int64) {
	for id, node := range s.nodes {
		if node.EndedAt.IsZero() && (oldest == 0 || id < oldest) {
			oldest = id
		}
	}
	return oldest
}

func (s *Store) listStats(req store.ListRequest) (out []store.StatsRow) {
	for key, data := range s.stats {
		if key.span == req.Span && !key.at.Before(req.From) && key.at.Before(req.To) {
			out = append(out, store.StatsRow{Span: key.span, At: key.at, Writer: key.writer, Data: bytes.Clone(data)})
		}
	}
	slices.SortFunc(out, func(a, b store.StatsRow) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Writer, b.Writer)) })
	return out
}
