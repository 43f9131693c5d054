package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Definition is the content of store.Schedule.Definition: the rule of a schedule, its job and its
// policies. Drivers never read it. Releases only add fields. The zero value of each field means the
// default and is not encoded, so that an unchanged schedule has the same bytes in every release.
type Definition struct {
	Rule        recur.Spec    `json:"rule"`            // with After: Zone, Start and Stop only
	After       []Edge        `json:"after,omitempty"` // the schedules that it follows instead of a rule
	Kind        string        `json:"kind"`
	Args        string        `json:"args,omitempty"` // JSON as text, to keep its bytes
	Queue       string        `json:"queue"`
	Priority    int16         `json:"priority"`
	MaxAttempts int16         `json:"max_attempts"`
	OnLoss      store.OnLoss  `json:"on_loss,omitempty"`
	Timeout     time.Duration `json:"timeout,omitempty"`
	Backoff     string        `json:"backoff,omitempty"` // as package backoff writes it
	Overlap     Overlap       `json:"overlap,omitempty"`
	Group       string        `json:"group,omitempty"`
	Key         string        `json:"key,omitempty"`
	Hooks       Hooks         `json:"hooks,omitzero"`
	Paused      bool          `json:"paused,omitempty"` // as declared; the row contains the present state
	Misfire     Misfire       `json:"misfire,omitempty"`
	MisfireCap  int           `json:"misfire_cap,omitempty"` // greatest number of slots that MisfireAll fires; 0: defaultMisfireCap
	Grace       time.Duration `json:"grace,omitempty"`       // how late a slot may be found and still fire as on time; 0: defaultGrace
	Window      time.Duration `json:"window,omitempty"`      // greatest age of a slot that is made up for; 0: no bound
	Count       int64         `json:"count,omitempty"`       // how many slots may fire; 0: no bound
	Jitter      time.Duration `json:"jitter,omitempty"`
	PauseAfter  int           `json:"pause_after_failures,omitempty"` // failed jobs in a row; 0: never
	Exclude     []Calendar    `json:"exclude,omitempty"`
	On          Place         `json:"on,omitzero"` // where its jobs run
	// Anchor is set in the schedule of a host that is made from a schedule on every host: the anchor of the schedule on every host. Zero: the
	// anchor of the row counts.
	Anchor time.Time `json:"anchor,omitzero"`
	// Headers are stored with the schedule's jobs.
	Headers map[string]string `json:"headers,omitempty"`
}

// Overlap is the policy for a slot that comes while a job of the schedule is live.
type Overlap string

// The values of Overlap.
const (
	OverlapSkip    Overlap = ""
	OverlapAllow   Overlap = "allow"
	OverlapQueue   Overlap = "queue"
	OverlapReplace Overlap = "replace"
)

// Misfire is the policy for slots that are found later than the grace.
type Misfire string

// The values of Misfire.
const (
	MisfireSkip Misfire = ""
	MisfireOnce Misfire = "once"
	MisfireAll  Misfire = "all"
)

// The defaults of Grace and MisfireCap.
const (
	defaultGrace      = time.Minute
	defaultMisfireCap = 100
)

// Encode returns the bytes of the definition; equal definitions have equal bytes.
func (d Definition) Encode() ([]byte, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode schedule: %w", err)
	}
	return text, nil
}

// DecodeDefinition is the inverse of Encode. It ignores fields of newer releases.
func DecodeDefinition(text []byte) (Definition, error) {
	var d Definition
	if err := json.Unmarshal(text, &d); err != nil {
		return Definition{}, fmt.Errorf("decode schedule: %w", err)
	}
	switch d.Overlap {
	case OverlapSkip, OverlapAllow, OverlapQueue, OverlapReplace:
	default:
		return Definition{}, fmt.Errorf("decode schedule: overlap %q is not known to this release", d.Overlap)
	}
	switch d.Misfire {
	case MisfireSkip, MisfireOnce, MisfireAll:
	default:
		return Definition{}, fmt.Errorf("decode schedule: misfire %q is not known to this release", d.Misfire)
	}
	return d, nil
}

// ChangedFields returns the names of the fields in which two encoded definitions differ, in
// byte order.
func ChangedFields(before, after []byte) []string {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(before, &a) != nil || json.Unmarshal(after, &b) != nil {
		return []string{"definition"}
	}
	changed := map[string]bool{}
	for name, value := range a {
		changed[name] = !bytes.Equal(value, b[name])
	}
	for name := range b {
		if _, known := a[name]; !known {
			changed[name] = true
		}
	}
	maps.DeleteFunc(changed, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(changed))
}

// job returns the job of a slot that fires at an instant: the delay of its jitter counts from the slot, or, if the slot
// is made up for, from that instant, because else the jobs of many slots would start at once after an outage.
func (p Plan) job(s store.Schedule, slot, now time.Time) store.NewJob {
	job := p.Job(s.ID, store.OriginSchedule)
	from := slot
	if p.late(slot, now) {
		from = now
	}
	job.Slot, job.RunAt = slot, from.Add(recur.Jitter(s.Name, slot, p.Jitter))
	return job
}

// Job returns a job of the schedule that is due at once.
func (d Definition) Job(schedule int64, origin store.Origin) store.NewJob {
	headers := WithBackoff(d.hooks().headers(), d.Backoff)
	if len(d.Headers) > 0 {
		headers = WithHeaders(headers, d.Headers)
	}
	return store.NewJob{
		JobSpec: store.JobSpec{
			Kind:        d.Kind,
			Queue:       d.On.Queue(d.Queue),
			Args:        []byte(d.Args),
			Priority:    d.Priority,
			MaxAttempts: d.MaxAttempts,
			OnLoss:      d.OnLoss,
			Timeout:     d.Timeout,
			Group:       d.Group,
			Key:         d.Key,
			Headers:     headers,
		},
		Origin:   origin,
		Schedule: schedule,
	}
}

// setSpec changes the job of the schedule. headers are the user's headers.
func (d *Definition) setSpec(spec store.JobSpec, headers map[string]string) {
	d.Kind, d.Args, d.Queue, d.Priority, d.MaxAttempts = spec.Kind, string(spec.Args), spec.Queue, spec.Priority, spec.MaxAttempts
	d.OnLoss, d.Timeout, d.Group, d.Key, d.Headers = spec.OnLoss, spec.Timeout, spec.Group, spec.Key, headers
}

// hooks returns the hooks that are stored with the schedule's jobs.
func (d Definition) hooks() Hooks {
	d.Hooks.Count = d.PauseAfter > 0
	if !d.On.IsZero() {
		d.Hooks.Queue = d.Queue
	}
	return d.Hooks
}
