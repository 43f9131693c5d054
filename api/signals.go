package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/hourbell/hourbell/access"
)

// SignalBody is a signal to a job.
type SignalBody struct {
	Value json.RawMessage `json:"value,omitempty" doc:"The value, any JSON of at most 64 KiB; without it null."`
}

func (h *handler) addSignals() {
	add(h, route{
		access.Operator, http.MethodPost, "/api/v1/jobs/{id}/signals/{name}", "send-signal",
		"Sends a signal to a job, which goes on if it waits for it", "jobs", http.StatusNoContent, 0,
	}, func(ctx context.Context, in *struct {
		JobID
		Name string `path:"name" doc:"The name of the signal." shape:"name"`
		Body SignalBody
	},
	) (*struct{}, error) {
		value := in.Body.Value
		if len(value) == 0 {
			value = json.RawMessage("null")
		}
		return nil, h.client.Signals.Send(ctx, in.ID, in.Name, value)
	})
}
