package api

import (
	"context"
	"net/http"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
)

func (h *handler) addStats() {
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/stats", "read-stats", "Reads what the nodes have counted", "stats", 0, 0}, h.readStats)
}

type readStatsInput struct {
	Since    string `query:"since" default:"1h" doc:"Counts from this long ago on, such as 2h or 30d, or from an instant on; at most 31 days." shape:"since"`
	By       string `query:"by" enum:"queue,kind,schedule,outcome" doc:"Items for each of these; otherwise one item has all."`
	Series   bool   `query:"series" doc:"Items of each span: of a minute, 15 minutes or 6 hours, depending on since."`
	Queue    string `query:"queue" maxLength:"1000" doc:"Only jobs of this queue and of its places."`
	Kind     string `query:"kind" maxLength:"1000" doc:"Only jobs of this kind."`
	Schedule string `query:"schedule" maxLength:"1000" doc:"Only jobs and slots of this schedule."`
}

type statsOutput struct {
	Body struct {
		SpanSeconds int64              `json:"span_seconds" doc:"How long the spans are for which counts are kept."`
		Items       []view.StatsRecord `json:"items" nullable:"false" doc:"By instant, then by name."`
	}
}

func (h *handler) readStats(ctx context.Context, in *readStatsInput) (*statsOutput, error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	since, err := view.Since(ctx, h.client, in.Since)
	if err != nil {
		return nil, err
	}
	s, err := h.client.Stats.Read(ctx, hourbell.StatsFilter{
		Since: since, By: hourbell.StatsBy(in.By), Series: in.Series, Queue: in.Queue, Kind: in.Kind, Schedule: in.Schedule,
	})
	if err != nil {
		return nil, err
	}
	out := &statsOutput{}
	out.Body.SpanSeconds, out.Body.Items = int64(s.Span.Seconds()), []view.StatsRecord{}
	for _, row := range s.Rows {
		out.Body.Items = append(out.Body.Items, view.NewStatsRecord(s, row))
	}
	return out, nil
}
