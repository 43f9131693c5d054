package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/view"
)

// The bounds of streams of events.
const (
	mostStreams  = 200              // at the same time
	streamBuffer = 1000             // events that wait for a slow reader; further events are dropped
	streamTime   = 10 * time.Minute // then the stream ends and the reader connects again, which checks its access again
	streamBeat   = 15 * time.Second // how often a line is sent when there is no event
	streamWrite  = 10 * time.Second // how long a reader may take to receive an event
)

// eventsPath is the path of the stream of events.
const eventsPath = "/api/v1/events"

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

// newEvent returns an event as it is sent. An error of the store may contain the
// store's address, so only errors of jobs are sent.
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

// The choices of eventsInput.Of.
const (
	ofCluster = "cluster"
	ofProcess = "process"
)

type eventsInput struct {
	Of       string `query:"of" enum:"cluster,process" default:"cluster" about:"events-of"`
	Schedule string `query:"schedule" doc:"Only events of this schedule and of its slots."`
	Queue    string `query:"queue" doc:"Only events of this queue."`
	Job      int64  `query:"job" minimum:"1" doc:"Only events of this job."`
	Since    string `query:"since" maxLength:"100" doc:"The cursor of an event: the events after it. Default: from now on."`
	LastID   string `header:"Last-Event-ID" maxLength:"100" about:"last-event-id"`
}

// about reports whether the filter selects events about these.
func (in *eventsInput) about(schedule, queue string, job int64) bool {
	return (in.Schedule == "" || in.Schedule == schedule) && (in.Queue == "" || in.Queue == queue) && (in.Job == 0 || in.Job == job)
}

// wants reports whether an event of the process is sent. Steps of loops and single claims
// are left out: there are as many of them as there are jobs, and they are about the node.
func (in *eventsInput) wants(e event.Event) bool {
	return e.Kind != event.Step && e.Kind != event.StoreRetried && in.about(e.Schedule, e.Queue, e.Job)
}

// start returns the cursor after which a stream of the feed begins.
func (h *handler) start(ctx context.Context, in *eventsInput) (string, error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	since := cmp.Or(in.LastID, in.Since)
	page, err := h.client.Events.List(ctx, hourbell.EventFilter{Since: since, Limit: 1})
	switch {
	case err != nil:
		return "", err
	case page.Keep == 0:
		return "", newProblem(http.StatusConflict, "the store keeps no events; `hourbell events keep 24h` has them kept, and "+
			"of=process has the events of the process that answers")
	}
	return cmp.Or(since, page.Next), nil
}

func (h *handler) addEvents() {
	add(h, route{access.Viewer, http.MethodGet, eventsPath, "stream-events", "Streams the events of the cluster as server-sent events", "events", 0, 0},
		func(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
			var since string
			if in.Of == ofCluster {
				var err error
				if since, err = h.start(ctx, in); err != nil {
					return nil, err
				}
			} else if in.LastID != "" || in.Since != "" {
				return nil, fieldError("since", cmp.Or(in.LastID, in.Since), "is given for the events of a process, which are not stored", "leave it out, or leave of out")
			}
			select {
			case h.streams <- struct{}{}:
			default:
				return nil, newProblem(http.StatusServiceUnavailable, fmt.Sprintf("there are %d streams of events already; close one, or try again later", mostStreams))
			}
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				defer func() { <-h.streams }()
				r, w := humago.Unwrap(ctx)
				s := newStream(w)
				if in.Of == ofCluster {
					h.streamFeed(r.Context(), s, in, since)
				} else {
					h.streamProcess(r.Context(), s, in)
				}
			}}, nil
		})
	op := h.api.OpenAPI().Paths[eventsPath].Get
	schemas := h.api.OpenAPI().Components.Schemas
	record, ofOne := schemas.Schema(reflect.TypeFor[view.EventRecord](), true, "EventRecord"), schemas.Schema(reflect.TypeFor[Event](), true, "Event")
	op.Responses["200"] = &huma.Response{
		Description: "Events; the field data of each is an object like EventRecord and the field id its cursor or, with of=process, an object like Event.",
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string", Extensions: map[string]any{
			"contentMediaType": "application/json", // of the data of each event
			"contentSchema":    &huma.Schema{AnyOf: []*huma.Schema{record, ofOne}},
		}}}},
	}
}

// stream is an answer of server-sent events. Concurrent calls are not allowed.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not wait for more
	return &stream{w, http.NewResponseController(w)}
}

// send sends text, and reports whether the reader is still there.
func (s *stream) send(text string) bool {
	s.control.SetWriteDeadline(time.Now().Add(streamWrite)) //nolint:errcheck // then the server's own bound holds
	_, err := fmt.Fprint(s.w, text)
	return err == nil && s.control.Flush() == nil
}

// event sends an event with its data as JSON. id is the place where a reader continues; it
// may be empty.
func (s *stream) event(name, id string, data any) bool {
	text, err := json.Marshal(data)
	if err != nil { // an event always encodes
		return false
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	return s.send(fmt.Sprintf("%sevent: %s\ndata: %s\n\n", id, name, text))
}

// streamFeed sends the events of the feed after a cursor until the reader goes away or the
// time of the stream is over. A reader that connects again with the last id that it has got
// misses nothing: an id without data passes over events that the reader did not ask for.
func (h *handler) streamFeed(ctx context.Context, s *stream, in *eventsInput, since string) {
	ctx, stop := context.WithTimeout(ctx, streamTime)
	defer stop()
	found := make(chan hourbell.FeedEvent)
	go func() {
		defer close(found)
		for e, err := range h.client.Events.Follow(ctx, since) {
			if err != nil {
				e = hourbell.FeedEvent{} // the store did not answer; Follow tries again
			}
			select {
			case found <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	passed := since // where a reader continues
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()
	for open := s.send(": events of the cluster\nid: " + passed + "\n\n"); open; {
		select {
		case <-beat.C:
			open = s.send(": no event\nid: " + passed + "\n\n")
		case e, more := <-found:
			switch {
			case !more:
				return
			case e.Event == "":
				open = s.send(": the store did not answer; it is asked again\n\n")
				continue
			case e.Event == hourbell.FeedGap, in.about(e.Schedule, e.Queue, e.Job):
				open = s.event(e.Event, e.Cursor, view.NewEventRecord(e))
			}
			passed = e.Cursor
		}
	}
}

// streamProcess sends the events of this process until the reader goes away or the time of
// the stream is over.
func (h *handler) streamProcess(ctx context.Context, s *stream, in *eventsInput) {
	events, stop := h.client.Events.Subscribe(streamBuffer)
	defer stop()
	over, beat := time.After(streamTime), time.NewTicker(streamBeat)
	defer beat.Stop()
	for open := s.send(": events of this process\n\n"); open; {
		select {
		case <-ctx.Done():
			return
		case <-over:
			return
		case <-beat.C:
			open = s.send(": no event\n\n")
		case e, more := <-events:
			if !more {
				return
			}
			if in.wants(e) {
				open = s.event(string(e.Kind), "", newEvent(e))
			}
		}
	}
}
