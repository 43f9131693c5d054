package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/event"
)

// The bounds of streams of events.
const (
	mostStreams  = 200              // at the same time
	streamBuffer = 1000             // events that wait for a slow reader; further events are dropped
	streamTime   = 10 * time.Minute // then the stream ends and the reader connects again, which checks its access again
	streamBeat   = 15 * time.Second // how often a line is sent when there is no event
	streamWrite  = 10 * time.Second // how long a reader may take to receive an event
)

// Event is an event of this process.
type Event struct {
	Kind     string     `json:"kind" doc:"Such as job_failed, slot_missed or node_died."`
	Time     time.Time  `json:"time" doc:"By the clock of this process."`
	Node     int64      `json:"node,omitempty"`
	Job      int64      `json:"job,omitempty"`
	JobKind  string     `json:"job_kind,omitempty"`
	Queue    string     `json:"queue,omitempty"`
	Attempt  int        `json:"attempt,omitempty"`
	Schedule string     `json:"schedule,omitempty"`
	Slot     *time.Time `json:"slot,omitempty"`
	Count    int64      `json:"count,omitempty"`
	Took     string     `json:"took,omitempty"`
	Delay    string     `json:"delay,omitempty"`
	Name     string     `json:"name,omitempty" doc:"Of a node."`
	Detail   string     `json:"detail,omitempty"`
	Error    string     `json:"error,omitempty"`
}

// newEvent returns an event as it is sent. Errors of the store may have its address,
// so only errors of jobs are sent.
func newEvent(e event.Event) Event {
	out := Event{
		Kind: string(e.Kind), Time: e.Time.UTC(), Node: e.Node, Job: e.Job, JobKind: e.JobKind, Queue: e.Queue, Attempt: e.Attempt,
		Schedule: e.Schedule, Count: e.Count, Name: e.Name, Detail: event.Text(e.Detail, eventText),
	}
	if !e.Slot.IsZero() {
		slot := e.Slot.UTC()
		out.Slot = &slot
	}
	if e.Took > 0 {
		out.Took = e.Took.String()
	}
	if e.Delay > 0 {
		out.Delay = e.Delay.String()
	}
	if e.Job != 0 && e.Err != nil {
		out.Error = event.Text(e.Err.Error(), eventText)
	}
	return out
}

// eventText is how many bytes the texts of an event have at most.
const eventText = 2000

type eventsInput struct {
	Schedule string `query:"schedule" doc:"Only events of this schedule and of its slots."`
	Queue    string `query:"queue" doc:"Only events of this queue."`
	Job      int64  `query:"job" minimum:"1" doc:"Only events of this job."`
}

// wants reports whether an event is sent. Steps of loops and single claims are left
// out: there are as many of them as there are jobs, and they are about the node.
func (in *eventsInput) wants(e event.Event) bool {
	return e.Kind != event.Step && e.Kind != event.StoreRetried &&
		(in.Schedule == "" || in.Schedule == e.Schedule) && (in.Queue == "" || in.Queue == e.Queue) && (in.Job == 0 || in.Job == e.Job)
}

func (h *handler) addEvents() {
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/events", "stream-events", "Streams the events of this process as server-sent events", "events", 0, 0},
		func(_ context.Context, in *eventsInput) (*huma.StreamResponse, error) {
			select {
			case h.streams <- struct{}{}:
			default:
				return nil, newProblem(http.StatusServiceUnavailable, fmt.Sprintf("there are %d streams of events already; close one, or try again later", mostStreams))
			}
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				defer func() { <-h.streams }()
				r, w := humago.Unwrap(ctx)
				h.stream(w, r, in)
			}}, nil
		})
	op := h.api.OpenAPI().Paths["/api/v1/events"].Get
	schema := h.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Event](), true, "Event")
	op.Responses["200"] = &huma.Response{
		Description: "Events; the field data of each is an object like Event.",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string", Description: "data: JSON of " + schema.Ref}}},
	}
}

// stream sends events until the reader goes away or the time of the stream is over.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, in *eventsInput) {
	events, stop := h.client.Events.Subscribe(streamBuffer)
	defer stop()
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not wait for more
	send := func(text string) bool {
		control.SetWriteDeadline(time.Now().Add(streamWrite)) //nolint:errcheck // then the server's own bound holds
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	over, beat := time.After(streamTime), time.NewTicker(streamBeat)
	defer beat.Stop()
	for open := send(": events of this process\n\n"); open; {
		select {
		case <-r.Context().Done():
			return
		case <-over:
			return
		case <-beat.C:
			open = send(": no event\n\n")
		case e, more := <-events:
			if !more {
				return
			}
			if !in.wants(e) {
				continue
			}
			text, err := json.Marshal(newEvent(e))
			if err != nil { // an event always encodes
				return
			}
			open = send(fmt.Sprintf("event: %s\ndata: %s\n\n", e.Kind, text))
		}
	}
}
