package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
)

// ScheduleRecord is a schedule in machine-readable output. Fields are only ever
// added.
type ScheduleRecord struct {
	Name     string          `json:"name"`
	Owner    *string         `json:"owner"`
	Revision int64           `json:"revision"`
	State    string          `json:"state"`
	Cron     *string         `json:"cron"`
	Every    *string         `json:"every"`
	At       *string         `json:"at"`
	TZ       *string         `json:"tz"`
	Kind     string          `json:"kind"`
	Args     json.RawMessage `json:"args"`
	Queue    string          `json:"queue"`
	On       string          `json:"on"` // one, or the place as files have it
	EffortRecord
	Overlap     string         `json:"overlap"`
	Rule        string         `json:"rule"`
	After       []FollowRecord `json:"after"` // the schedules that it follows instead of a rule
	Misfire     string         `json:"misfire"`
	MisfireCap  *int           `json:"misfire_cap"`
	Grace       *string        `json:"grace"`
	Window      *string        `json:"window"`
	Count       *int64         `json:"count"`
	Jitter      *string        `json:"jitter"`
	PauseAfter  *int           `json:"pause_after_failures"`
	Failures    int64          `json:"failures"`
	Dialect     *string        `json:"dialect"`
	Start       *string        `json:"start"`
	Stop        *string        `json:"stop"`
	Gap         *string        `json:"gap"`
	Fold        *string        `json:"fold"`
	PausedUntil *time.Time     `json:"paused_until"`
	Exclude     []string       `json:"exclude"` // in the syntax of --exclude; the file's calendars by name
	Group       *string        `json:"group"`
	Key         *string        `json:"key"`
	Paused      bool           `json:"paused"`
	PausedAt    *time.Time     `json:"paused_at"`
	// The pause of its group.
	GroupPausedAt    *time.Time `json:"group_paused_at"`
	GroupPausedUntil *time.Time `json:"group_paused_until"`
	NextAt           *time.Time `json:"next_at"`
	Mark             *time.Time `json:"mark"`
	Anchor           *time.Time `json:"anchor"`
	Fired            int64      `json:"fired"`
	CreatedAt        *time.Time `json:"created_at"`
	UpdatedAt        *time.Time `json:"updated_at"`
	DeletedAt        *time.Time `json:"deleted_at"`
	FailingSince     *time.Time `json:"failing_since"`
	// The first hook for an event; Hooks has all, by their keys.
	OnFailure  *HookRecord             `json:"on_failure"`
	OnMissed   *HookRecord             `json:"on_missed"`
	OnRecovery *HookRecord             `json:"on_recovery"`
	Hooks      map[string][]HookRecord `json:"hooks"`
	Problem    *string                 `json:"problem"`
	Waits      *string                 `json:"waits"`     // why no living node fires its slots
	Health     *HealthRecord           `json:"health"`    // null where it is not read, as in the answer to a put
	MadeFrom   *string                 `json:"made_from"` // the schedule on every host from which this schedule of a host is made
}

// HookRecord is a hook in machine-readable output.
type HookRecord struct {
	Kind string          `json:"kind"`
	Args json.RawMessage `json:"args"`
}

// FollowRecord is a schedule that a schedule follows, in machine-readable output.
type FollowRecord struct {
	Schedule  string `json:"schedule"`
	On        string `json:"on"`
	Delay     string `json:"delay"`
	Cancelled string `json:"cancelled"` // failure or ignore
	Waiting   bool   `json:"waiting"`   // there is no such schedule
}

func newFollowRecords(s Schedule) []FollowRecord {
	records := []FollowRecord{}
	for _, e := range s.After {
		r := FollowRecord{e.Schedule, e.On.String(), e.Delay.String(), "failure", slices.Contains(s.WaitsFor, e.Schedule)}
		if e.IgnoreCancelled {
			r.Cancelled = "ignore"
		}
		records = append(records, r)
	}
	return records
}

// meaning describes the rule of a schedule.
func meaning(s Schedule) string {
	if s.Follows() {
		return "no timetable: starts when jobs of other schedules end"
	}
	return describe(s.Rule, s.Anchor)
}

// waits returns in words what a schedule waits for: schedules that it follows and that do not exist yet, and nodes that would
// fire its slots.
func waits(s Schedule) string {
	var texts []string
	for _, name := range s.WaitsFor {
		texts = append(texts, "waiting for schedule "+name)
	}
	if s.Waits != "" {
		texts = append(texts, s.Waits)
	}
	return strings.Join(texts, "; ")
}

// hookRecords returns all hooks by their keys.
func hookRecords(hooks hourbell.Hooks) map[string][]HookRecord {
	records := map[string][]HookRecord{}
	hooks.Each(func(name string, h hourbell.Args) {
		job := declared.Raw(h)
		records[name] = append(records[name], HookRecord{job.Name, rawJSON(job.JSON)})
	})
	return records
}

// firstHook returns the first hook of a key, or nil.
func firstHook(hooks map[string][]HookRecord, name string) *HookRecord {
	if len(hooks[name]) == 0 {
		return nil
	}
	return &hooks[name][0]
}

// NewScheduleRecord returns the record of a schedule.
func NewScheduleRecord(s Schedule) ScheduleRecord {
	job, hooks := declared.Raw(s.Job), hookRecords(s.Hooks)
	return ScheduleRecord{
		Name: s.Name, Owner: orNull(s.Owner), Revision: s.Revision, State: s.State(),
		Cron: orNull(s.Rule.Cron), Every: orNull(s.Rule.Every), At: orNull(s.Rule.At), TZ: orNull(s.Rule.Zone),
		Kind: job.Name, Args: rawJSON(job.JSON), Queue: s.Queue, On: s.On.String(), EffortRecord: scheduleEffort(s.Schedule),
		Overlap: overlapWord(s.Schedule), Group: orNull(s.Group), Key: orNull(s.Key),
		Paused: s.State() == "paused", PausedAt: timeOrNull(s.PausedAt), GroupPausedAt: timeOrNull(s.GroupPausedAt),
		GroupPausedUntil: timeOrNull(s.GroupPausedUntil), NextAt: timeOrNull(s.NextAt),
		Mark: timeOrNull(s.Mark), Anchor: timeOrNull(s.Anchor), Fired: s.Fired,
		CreatedAt: timeOrNull(s.CreatedAt), UpdatedAt: timeOrNull(s.UpdatedAt), DeletedAt: timeOrNull(s.DeletedAt),
		FailingSince: timeOrNull(s.FailingSince), PausedUntil: timeOrNull(s.PausedUntil), Exclude: excludeTexts(s.Schedule),
		Rule: s.When(), After: newFollowRecords(s), Dialect: orNull(s.Rule.Dialect), Start: orNull(s.Rule.Start), Stop: orNull(s.Rule.Stop),
		Gap: orNull(s.Rule.Gap), Fold: orNull(s.Rule.Fold),
		Misfire: cmp.Or(string(s.Misfire), "skip"), MisfireCap: orNull(s.MisfireCap), Grace: durationOrNull(s.Grace), Window: durationOrNull(s.Window),
		Count: orNull(s.Count), Jitter: durationOrNull(s.Jitter), PauseAfter: orNull(s.PauseAfterFailures), Failures: s.Failures,
		OnFailure: firstHook(hooks, "on_failure"), OnMissed: firstHook(hooks, "on_missed"), OnRecovery: firstHook(hooks, "on_recovery"), Hooks: hooks,
		Problem: orNull(s.Problem), Waits: orNull(s.Waits), Health: newHealthRecord(s.Health), MadeFrom: orNull(s.MadeFrom),
	}
}

// overlapWord returns the policy of overlaps that is in force.
func overlapWord(s hourbell.Schedule) string {
	if s.Follows() {
		return cmp.Or(string(s.Overlap), string(hourbell.OverlapAllow))
	}
	return cmp.Or(string(s.Overlap), "skip")
}

// ScheduleFacts returns the facts about a schedule.
func ScheduleFacts(s Schedule) []Fact {
	job := declared.Raw(s.Job)
	return slices.Concat([]Fact{
		{"schedule", s.Name},
		{"state", stateOf(s)},
		{"problem", s.Problem},
	}, healthFacts(s), runFacts(s), []Fact{
		{"owner", s.Owner},
		{"group", s.Group},
		{"key", s.Key},
		{"revision", fmt.Sprint(s.Revision)},
		{"rule", s.When()},
		{"means", meaning(s)},
		{"waits", waits(s)},
		{"next_at", plain.Stamp(nextOf(s))},
		{"kind", job.Name},
		{"args", string(job.JSON)},
		{"queue", s.Queue},
		{"on", placeText(s.On)},
		{"made_from", s.MadeFrom},
	}, scheduleEffort(s.Schedule).facts(), []Fact{
		{"overlap", overlapWord(s.Schedule)},
		{"policies", shownPolicies(s.Schedule)},
		{"exclude", strings.Join(excludeTexts(s.Schedule), " | ")},
		{"on_start", shownHooks(s.Hooks.Field("on_start"))},
		{"on_success", shownHooks(s.Hooks.Field("on_success"))},
		{"on_failure", shownHooks(s.Hooks.Field("on_failure"))},
		{"on_retry", shownHooks(s.Hooks.Field("on_retry"))},
		{"on_output", shownHooks(s.Hooks.Field("on_output"))},
		{"on_missed", shownHooks(s.Hooks.Field("on_missed"))},
		{"on_not_started", shownHooks(s.Hooks.Field("on_not_started"))},
		{"on_recovery", shownHooks(s.Hooks.Field("on_recovery"))},
		{"failing_since", plain.Stamp(s.FailingSince)},
		{"failures", shownFailures(s)},
		{"paused_at", plain.Stamp(s.PausedAt)},
		{"paused_until", plain.Stamp(s.PausedUntil)},
		{"group_paused_at", plain.Stamp(s.GroupPausedAt)},
		{"group_paused_until", plain.Stamp(s.GroupPausedUntil)},
		{"fired", fmt.Sprint(s.Fired)},
		{"mark", plain.Stamp(s.Mark)},
		{"anchor", plain.Stamp(s.Anchor)},
		{"created_at", plain.Stamp(s.CreatedAt)},
		{"updated_at", plain.Stamp(s.UpdatedAt)},
	})
}

// placeText returns a place; empty: any node.
func placeText(p hourbell.Place) string {
	if p.IsZero() {
		return ""
	}
	return p.String()
}

// shownPolicies lists the policies that are not the default and have no line of their own.
func shownPolicies(s hourbell.Schedule) string {
	var shown []string
	for _, key := range declared.PolicyKeys() {
		if text := key.Text(s); text != "" && key.Name != "overlap" && key.Name != declared.PlaceKey {
			shown = append(shown, key.Name+" "+text)
		}
	}
	return strings.Join(shown, ", ")
}

// excludeTexts lists the times that a schedule excludes.
func excludeTexts(s hourbell.Schedule) []string {
	texts, _ := hourbell.ExcludeTexts(s.Exclude)
	return append([]string{}, texts...)
}

func shownFailures(s Schedule) string {
	if s.Failures == 0 {
		return ""
	}
	return fmt.Sprint(s.Failures)
}

func shownHooks(hooks []hourbell.Args) string {
	var shown []string
	for _, h := range hooks {
		job := declared.Raw(h)
		shown = append(shown, job.Name+" "+string(job.JSON))
	}
	return strings.Join(shown, " | ")
}
