package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Definition is what a schedule's row keeps in store.Schedule.Definition: when
// it rings, what it runs, and its policies. Drivers never read it. Fields are
// only ever added; the zero value of each means the default, and is left out,
// so that an unchanged schedule encodes to the same bytes in every release.
type Definition struct {
	Rule        recur.Spec    `json:"rule"`
	Kind        string        `json:"kind"`
	Args        string        `json:"args,omitempty"` // JSON as text, to keep its bytes
	Queue       string        `json:"queue"`
	Priority    int16         `json:"priority"`
	MaxAttempts int16         `json:"max_attempts"`
	OnLoss      store.OnLoss  `json:"on_loss,omitempty"`
	Timeout     time.Duration `json:"timeout,omitempty"`
	Overlap     Overlap       `json:"overlap,omitempty"`
	Group       string        `json:"group,omitempty"`
	Hooks       Hooks         `json:"hooks,omitzero"`
	Paused      bool          `json:"paused,omitempty"` // as declared; the row says whether it is
}

// Overlap says what a slot does while a job of its schedule runs.
type Overlap string

// The choices of Overlap.
const (
	OverlapSkip  Overlap = ""
	OverlapAllow Overlap = "allow"
)

// Encode returns the definition's bytes; equal definitions have equal bytes.
func (d Definition) Encode() ([]byte, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode schedule: %w", err)
	}
	return text, nil
}

// DecodeDefinition is the inverse of Encode. It ignores fields of newer
// releases.
func DecodeDefinition(text []byte) (Definition, error) {
	var d Definition
	if err := json.Unmarshal(text, &d); err != nil {
		return Definition{}, fmt.Errorf("decode schedule: %w", err)
	}
	switch d.Overlap {
	case OverlapSkip, OverlapAllow:
	default:
		return Definition{}, fmt.Errorf("decode schedule: overlap %q is not known to this release", d.Overlap)
	}
	return d, nil
}

// job returns the job that the schedule makes for a slot.
func (d Definition) job(schedule int64, slot time.Time) store.NewJob {
	job := d.Job(schedule, store.OriginSchedule)
	job.Slot, job.RunAt = slot, slot
	return job
}

// Job returns a job that the schedule makes, due at once.
func (d Definition) Job(schedule int64, origin store.Origin) store.NewJob {
	return store.NewJob{
		Kind:        d.Kind,
		Queue:       d.Queue,
		Args:        []byte(d.Args),
		Priority:    d.Priority,
		MaxAttempts: d.MaxAttempts,
		OnLoss:      d.OnLoss,
		Origin:      origin,
		Timeout:     d.Timeout,
		Headers:     d.Hooks.headers(),
		Schedule:    schedule,
	}
}
