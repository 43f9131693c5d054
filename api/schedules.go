package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
)

func (h *handler) addSchedules() {
	const all, one = "/api/v1/schedules", "/api/v1/schedules/{name}"
	add(h, route{access.Viewer, http.MethodGet, all, "list-schedules", "Lists schedules by name", "schedules", 0, 0}, h.listSchedules)
	add(h, route{access.Viewer, http.MethodGet, one, "get-schedule", "Returns a schedule and where it stands", "schedules", 0, 0}, h.getSchedule)
	add(h, route{access.Operator, http.MethodPut, one, "put-schedule", "Creates or replaces a schedule", "schedules", 0, 0}, h.putSchedule)
	add(h, route{access.Operator, http.MethodDelete, one, "delete-schedule", "Deletes a schedule", "schedules", 0, http.StatusNoContent}, h.deleteSchedule)
	add(h, route{
		access.Operator, http.MethodPost, one + "/pause", "pause-schedule",
		"Pauses a schedule: its slots are recorded as skipped", "schedules", 0, 0,
	}, h.pauseSchedule)
	add(h, route{access.Operator, http.MethodPost, one + "/resume", "resume-schedule", "Ends the pause of a schedule", "schedules", 0, 0}, h.resumeSchedule)
	add(h, route{
		access.Operator, http.MethodPost, one + "/trigger", "trigger-schedule",
		"Makes a job as the next slot would, to run now", "schedules", 0, http.StatusCreated,
	}, h.triggerSchedule)
}

// Named is the parameter of routes about a schedule or a calendar.
type Named struct {
	Name string `path:"name" maxLength:"200" doc:"The name, as one escaped segment; or leave the segment out and give ?name=." shape:"name"`
}

// scheduleOutput is the answer with the state of a schedule.
type scheduleOutput struct {
	ETag string `header:"ETag" doc:"The revision, which changes with the definition only."`
	Body view.OneScheduleRecord
}

func (h *handler) newScheduleOutput(ctx context.Context, info hourbell.ScheduleInfo, secrets bool) (*scheduleOutput, error) {
	around, err := view.ReadAround(ctx, h.client, info)
	if err != nil {
		return nil, err
	}
	shown := []view.Schedule{view.NewSchedule(info, secrets)}
	if err := view.ReadHealth(ctx, h.client, shown); err != nil {
		return nil, err
	}
	return &scheduleOutput{ETag: etag(info.Revision), Body: view.NewOneScheduleRecord(shown[0], around)}, nil
}

// etag returns a revision as an entity tag.
func etag(revision int64) string { return strconv.Quote(strconv.FormatInt(revision, 10)) }

// OnlyNew is the header of a put that only creates.
type OnlyNew struct {
	NoneMatch string `header:"If-None-Match" maxLength:"100" doc:"*: only if nothing has the name." shape:"any"`
}

// asked reports whether the put only creates.
func (n OnlyNew) asked() (bool, error) {
	if n.NoneMatch != "" && n.NoneMatch != "*" {
		return false, fieldError("If-None-Match", n.NoneMatch, "is not *", "send *, so that the request only creates, or If-Match with an ETag")
	}
	return n.NoneMatch != "", nil
}

// refused turns the conflict of such a put into 412.
func (n OnlyNew) refused(err error) error {
	if errors.Is(err, hourbell.ErrExists) {
		return newProblem(http.StatusPreconditionFailed, err.Error()+"; choose another name, or change it without If-None-Match")
	}
	return err
}

// IfMatch is the header of a change that must not undo a change by others.
type IfMatch struct {
	Match string `header:"If-Match" maxLength:"100" doc:"Only if the definition still has this revision: the ETag of the answer that was read." shape:"etag"`
}

// deletedInput are the parameters of a deletion of what has a name and a revision.
type deletedInput struct {
	Named
	IfMatch
}

// Conditions are the headers of a put.
type Conditions struct {
	IfMatch
	OnlyNew
}

// revision returns the revision that must be in place; 0: any.
func (m IfMatch) revision() (int64, error) {
	if m.Match == "" {
		return 0, nil
	}
	text, err := strconv.Unquote(m.Match)
	revision, parseErr := strconv.ParseInt(text, 10, 64)
	if err != nil || parseErr != nil || revision < 1 || m.Match[0] != '"' {
		return 0, fieldError("If-Match", m.Match, "is not the ETag of a definition", `send one revision in quotes, such as "7"`)
	}
	return revision, nil
}

// stale turns a conflict into 412 if the caller gave a revision.
func (m IfMatch) stale(err error) error {
	if m.Match != "" && errors.Is(err, hourbell.ErrConflict) {
		return newProblem(http.StatusPreconditionFailed, err.Error()+"; read it again, and repeat the change with its present ETag")
	}
	return err
}

// revision returns the revision that must be in place; 0: any; OnlyNew: none.
func (c Conditions) revision() (int64, error) {
	onlyNew, err := c.asked()
	switch {
	case err != nil:
		return 0, err
	case onlyNew && c.Match != "":
		return 0, fieldError("If-None-Match", c.NoneMatch, "excludes If-Match", "send one of them")
	case onlyNew:
		return hourbell.OnlyNew, nil
	}
	return c.IfMatch.revision()
}

// stale turns a conflict into 412 if the caller gave a condition.
func (c Conditions) stale(err error) error { return c.refused(c.IfMatch.stale(err)) }

type listSchedulesInput struct {
	Owner    string `query:"owner" doc:"Only schedules of this owner."`
	Group    string `query:"group" doc:"Only schedules of this group." shape:"name"`
	Calendar string `query:"calendar" doc:"Only schedules that exclude this calendar of the store." shape:"name"`
	Deleted  bool   `query:"deleted" doc:"Also deleted schedules."`
	Secrets
	Paging
}

func (h *handler) listSchedules(ctx context.Context, in *listSchedulesInput) (*listed[view.ScheduleWithCopiesRecord], error) {
	if err := in.allowed(ctx); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	after, err := decodeCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	schedules, err := h.client.Schedules.List(ctx, hourbell.ScheduleFilter{
		Owner: given(in.Owner), Group: in.Group, Calendar: in.Calendar, Deleted: in.Deleted, After: after, Limit: in.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	owners, err := view.OwnersOf(ctx, h.client, schedules...)
	if err != nil {
		return nil, err
	}
	shown := make([]view.Schedule, len(schedules))
	for i, s := range schedules {
		shown[i] = view.NewSchedule(s, in.Show)
	}
	if err := view.ReadHealth(ctx, h.client, shown); err != nil {
		return nil, err
	}
	record := func(s view.Schedule) view.ScheduleWithCopiesRecord {
		return view.NewScheduleWithCopiesRecord(s, owners[s.Owner])
	}
	return newPage(in.Limit, shown, func(s view.Schedule) string { return s.Name }, record), nil
}

func (h *handler) getSchedule(ctx context.Context, in *struct {
	Named
	Secrets
},
) (*scheduleOutput, error) {
	if err := in.allowed(ctx); err != nil {
		return nil, err
	}
	info, err := h.client.Schedules.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return h.newScheduleOutput(ctx, info, in.Show)
}

// Definition is the definition of a schedule. Its fields are the keys of schedule
// files. Exactly one of cron, on_calendar, every, at and rule is given.
type Definition struct {
	Rule               string          `json:"rule,omitempty" minLength:"1" about:"rule"`
	Cron               string          `json:"cron,omitempty" minLength:"1"`
	OnCalendar         string          `json:"on_calendar,omitempty" minLength:"1" doc:"A calendar event of systemd: short for cron with the dialect systemd."`
	Every              string          `json:"every,omitempty" minLength:"1" doc:"An interval, such as 90s or 1 month."`
	At                 string          `json:"at,omitempty" minLength:"1" doc:"One instant."`
	TZ                 string          `json:"tz,omitempty" minLength:"1" doc:"The zone of the rule; default UTC."`
	Dialect            string          `json:"dialect,omitempty" minLength:"1"`
	Start              string          `json:"start,omitempty" minLength:"1"`
	Stop               string          `json:"stop,omitempty" minLength:"1"`
	Gap                string          `json:"gap,omitempty" minLength:"1"`
	Fold               string          `json:"fold,omitempty" minLength:"1"`
	Kind               string          `json:"kind" minLength:"1" doc:"The kind of the jobs." shape:"name"`
	Args               json.RawMessage `json:"args,omitempty" doc:"The arguments of the jobs: any JSON of at most 1 MiB."`
	Queue              string          `json:"queue,omitempty" minLength:"1" shape:"name"`
	On                 string          `json:"on,omitempty" minLength:"1" about:"place"`
	Priority           int             `json:"priority,omitempty" minimum:"1" maximum:"9"`
	MaxAttempts        int             `json:"max_attempts,omitempty" minimum:"1" maximum:"1000"`
	OnLoss             string          `json:"on_loss,omitempty" enum:"retry,fail"`
	Timeout            string          `json:"timeout,omitempty" minLength:"1" doc:"The greatest duration of an attempt, or none."`
	Backoff            string          `json:"backoff,omitempty" minLength:"1" shape:"backoff"`
	Overlap            string          `json:"overlap,omitempty" enum:"skip,queue,allow,replace"`
	Misfire            string          `json:"misfire,omitempty" enum:"skip,once,all"`
	MisfireCap         int             `json:"misfire_cap,omitempty" minimum:"1" maximum:"1000"`
	Grace              string          `json:"grace,omitempty" minLength:"1"`
	Window             string          `json:"window,omitempty" minLength:"1"`
	Count              int64           `json:"count,omitempty" minimum:"1"`
	Jitter             string          `json:"jitter,omitempty" minLength:"1"`
	PauseAfterFailures int             `json:"pause_after_failures,omitempty" minimum:"1" maximum:"1000"`
	Group              string          `json:"group,omitempty" minLength:"1" shape:"name"`
	Key                string          `json:"key,omitempty" minLength:"1" doc:"The key of its jobs." shape:"name"`
	Paused             bool            `json:"paused,omitempty" doc:"Start paused."`
	Exclude            []string        `json:"exclude,omitempty" nullable:"false" maxItems:"100" about:"exclude"`
	OnStart            *Hook           `json:"on_start,omitempty"`
	OnSuccess          *Hook           `json:"on_success,omitempty"`
	OnFailure          *Hook           `json:"on_failure,omitempty"`
	OnRetry            *Hook           `json:"on_retry,omitempty"`
	OnOutput           *Hook           `json:"on_output,omitempty"`
	OnMissed           *Hook           `json:"on_missed,omitempty"`
	OnNotStarted       *Hook           `json:"on_not_started,omitempty"`
	OnRecovery         *Hook           `json:"on_recovery,omitempty"`
}

// Hook is a job that a schedule makes because of what becomes of its jobs and
// slots: one for each event.
type Hook struct {
	Kind string          `json:"kind" minLength:"1" shape:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// schedule returns the definition as the client takes it. The error has every mistake.
func (d Definition) schedule(name string) (hourbell.Schedule, error) {
	s := hourbell.Schedule{
		Name: name,
		Rule: recur.Spec{Cron: d.Cron, Every: d.Every, At: d.At, Zone: d.TZ, Dialect: d.Dialect, Start: d.Start, Stop: d.Stop, Gap: d.Gap, Fold: d.Fold},
	}
	errs := []error{check.Name("name", name)}
	if d.OnCalendar != "" {
		if d.Cron != "" || d.Dialect != "" {
			errs = append(errs, fieldError("on_calendar", d.OnCalendar, "is given together with cron or dialect", "use on_calendar alone, which is short for both"))
		}
		s.Rule.Cron, s.Rule.Dialect = d.OnCalendar, recur.Systemd
		var wrong *recur.Error
		if errors.As(recur.OnCalendar(d.OnCalendar).Validate(), &wrong) {
			return s, fieldError("on_calendar", d.OnCalendar, wrong.Problem, wrong.Remedy)
		}
	}
	if d.Rule != "" {
		spec, err := recur.ParseSpec(d.Rule)
		if ruleGiven(s.Rule) && err == nil {
			err = fieldError("rule", d.Rule, "is given together with a part of a rule", "use rule alone, or cron, every or at with their options")
		}
		s.Rule = spec
		errs = append(errs, err)
	}
	for name, text := range map[string]string{
		"queue": d.Queue, "priority": number(d.Priority), "max_attempts": number(d.MaxAttempts), "on_loss": d.OnLoss, "timeout": d.Timeout, "backoff": d.Backoff,
		"overlap": d.Overlap, "misfire": d.Misfire, "misfire_cap": number(d.MisfireCap), "grace": d.Grace, "window": d.Window, "count": number(d.Count),
		"jitter": d.Jitter, "on": d.On, "pause_after_failures": number(d.PauseAfterFailures), "group": d.Group, "key": d.Key,
	} {
		errs = append(errs, setKey(&s, name, text))
	}
	s.Paused = d.Paused
	var err error
	if len(d.Exclude) > 0 {
		s.Exclude, err = hourbell.ParseExclude(d.Exclude...)
		errs = append(errs, err)
	}
	work := func(field, kind string, args json.RawMessage) hourbell.RawArgs {
		raw := hourbell.RawArgs{Name: kind, JSON: orNull(args)}
		if err := kinds.CheckArgs(kind, raw.JSON); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field, err))
		}
		return raw
	}
	s.Job = work("args", d.Kind, d.Args)
	for field, hook := range map[string]*Hook{
		"on_start": d.OnStart, "on_not_started": d.OnNotStarted,
		"on_success": d.OnSuccess, "on_failure": d.OnFailure, "on_retry": d.OnRetry, "on_output": d.OnOutput, "on_missed": d.OnMissed, "on_recovery": d.OnRecovery,
	} {
		if hook != nil {
			s.Hooks.Set(field, work(field, hook.Kind, hook.Args))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return s, err
	}
	return s, s.Validate()
}

// setKey sets a key of schedule files; an empty text leaves it as it is.
func setKey(s *hourbell.Schedule, name, text string) error {
	key, known := declared.FindKey(name)
	if text == "" || !known {
		return nil
	}
	return key.Set(s, text)
}

// number returns the text of a number; empty: 0, which was not given.
func number[T int | int64](n T) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

type putScheduleInput struct {
	Named
	Conditions
	Body Definition
}

func (h *handler) putSchedule(ctx context.Context, in *putScheduleInput) (*scheduleOutput, error) {
	revision, err := in.revision()
	if err != nil {
		return nil, err
	}
	schedule, err := in.Body.schedule(in.Name)
	if err != nil {
		return nil, err
	}
	if err := h.mayDefineAll(ctx, schedule); err != nil {
		return nil, err
	}
	before, err := h.client.Schedules.Get(ctx, in.Name)
	switch {
	case errors.Is(err, hourbell.ErrNotFound):
	case err != nil:
		return nil, err
	case before.Owner != "":
		return nil, newProblem(http.StatusConflict, fmt.Sprintf("the schedule belongs to %q, which would undo the change; change it there", before.Owner))
	default:
		if err := h.mayDefineAll(ctx, before.Schedule); err != nil {
			return nil, err
		}
	}
	schedule.Revision = revision
	if _, err := h.client.Schedules.Put(ctx, schedule); err != nil {
		return nil, in.stale(err)
	}
	return h.stateOf(ctx, in.Name)
}

// stateOf returns a schedule after a change.
func (h *handler) stateOf(ctx context.Context, name string) (*scheduleOutput, error) {
	info, err := h.client.Schedules.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return h.newScheduleOutput(ctx, info, false)
}

type noContent struct{}

func (h *handler) deleteSchedule(ctx context.Context, in *deletedInput) (*noContent, error) {
	revision, err := in.revision()
	if err != nil {
		return nil, err
	}
	return nil, in.stale(h.client.Schedules.DeleteIf(ctx, in.Name, revision))
}

// Pause is how long a schedule is paused.
type Pause struct {
	Until string `json:"until,omitempty" minLength:"1" doc:"Resume by itself at this instant of the store's clock; default: when it is resumed." shape:"instant"`
}

func (h *handler) pauseSchedule(ctx context.Context, in *struct {
	Named
	Body *Pause
},
) (*scheduleOutput, error) {
	names := []string{in.Name}
	if in.Body == nil || in.Body.Until == "" {
		if err := h.client.Schedules.Pause(ctx, names); err != nil {
			return nil, err
		}
		return h.stateOf(ctx, in.Name)
	}
	until, err := instant("until", in.Body.Until, "")
	if err != nil {
		return nil, err
	}
	if err := h.client.Schedules.PauseUntil(ctx, until, names); err != nil {
		return nil, err
	}
	return h.stateOf(ctx, in.Name)
}

func (h *handler) resumeSchedule(ctx context.Context, in *Named) (*scheduleOutput, error) {
	if err := h.client.Schedules.Resume(ctx, []string{in.Name}); err != nil {
		return nil, err
	}
	return h.stateOf(ctx, in.Name)
}

type triggerOutput struct {
	Location string `header:"Location"`
	Body     struct {
		ID  int64   `json:"id" doc:"The number of the new job; of a schedule on every host the number of the first."`
		IDs []int64 `json:"ids" nullable:"false" doc:"The numbers of the new jobs: one, or one for each host of a schedule on every host."`
	}
}

func (h *handler) triggerSchedule(ctx context.Context, in *Named) (*triggerOutput, error) {
	ids, err := h.client.Schedules.TriggerAll(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	out := &triggerOutput{Location: fmt.Sprintf("%s/api/v1/jobs/%d", h.o.Prefix, ids[0])}
	out.Body.ID, out.Body.IDs = ids[0], ids
	return out, nil
}

// ruleGiven reports whether any part of a rule is given.
func ruleGiven(s recur.Spec) bool {
	return strings.Join([]string{s.Cron, s.Every, s.At, s.Zone, s.Dialect, s.Start, s.Stop, s.Gap, s.Fold}, "") != ""
}
