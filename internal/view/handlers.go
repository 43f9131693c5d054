package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
)

// HandlerListing shows handlers. It hides values that may be secrets unless secrets is set.
func HandlerListing(secrets bool) Listing[hourbell.EventHandlerInfo] {
	return Listing[hourbell.EventHandlerInfo]{
		Columns: []string{"NAME", "ON", "KIND", "GROUP", "JOB", "UPDATED"},
		Minor:   []string{"UPDATED", "GROUP"},
		Row: func(h hourbell.EventHandlerInfo) []string {
			return []string{
				h.Name, strings.Join(h.On, ","), plain.Dash(h.Kind), plain.Dash(h.Group), hookText(h.Job, secrets), plain.Stamp(h.UpdatedAt),
			}
		},
		Record: func(h hourbell.EventHandlerInfo) any { return NewHandlerRecord(h, secrets) },
	}
}

// HandlerFacts returns the facts about a handler. It hides values that may be secrets unless secrets
// is set.
func HandlerFacts(h hourbell.EventHandlerInfo, secrets bool) []Fact {
	r := NewHandlerRecord(h, secrets)
	return slices.Concat([]Fact{
		{"handler", h.Name},
		{"on", strings.Join(h.On, ", ")},
		{"of_kind", cmp.Or(h.Kind, "any")},
		{"of_group", cmp.Or(h.Group, "any")},
		{"job", hookText(h.Job, secrets)},
		{"args", string(r.Job.Args)},
		{"queue", h.Queue},
	}, r.Job.facts(), []Fact{{"updated_at", plain.Stamp(h.UpdatedAt)}})
}

// HandlerRecord is a handler in machine-readable output. Fields are only ever added.
type HandlerRecord struct {
	Name      string           `json:"name"`
	On        []string         `json:"on" nullable:"false"`
	Kind      *string          `json:"kind"` // of the jobs that it serves; null: any
	Group     *string          `json:"group"`
	Job       HandlerJobRecord `json:"job"` // the job that it makes
	UpdatedAt *time.Time       `json:"updated_at"`
}

// HandlerJobRecord is the job of a handler.
type HandlerJobRecord struct {
	Kind  string          `json:"kind"`
	Args  json.RawMessage `json:"args"`
	Queue string          `json:"queue"`
	EffortRecord
}

// NewHandlerRecord returns the record of a handler. It hides values that may be secrets unless
// secrets is set.
func NewHandlerRecord(h hourbell.EventHandlerInfo, secrets bool) HandlerRecord {
	job := h.Job
	if !secrets {
		job = redactJob(job)
	}
	raw := declared.Raw(job)
	return HandlerRecord{
		Name: h.Name, On: h.On, Kind: orNull(h.Kind), Group: orNull(h.Group), UpdatedAt: timeOrNull(h.UpdatedAt),
		Job: HandlerJobRecord{
			Kind: raw.Name, Args: rawJSON(raw.JSON), Queue: h.Queue, EffortRecord: handlerEffort(h.EventHandler),
		},
	}
}
