package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/recur"
)

func (h *handler) addCalendars() {
	const all, one = "/api/v1/calendars", "/api/v1/calendars/{name}"
	add(h, route{access.Viewer, http.MethodGet, all, "list-calendars", "Lists the calendars of the store by name", "calendars", 0, 0}, h.listCalendars)
	add(h, route{
		access.Viewer, http.MethodGet, one, "get-calendar",
		"Returns a calendar and the first schedules that exclude it", "calendars", 0, 0,
	}, h.getCalendar)
	add(h, route{
		access.Operator, http.MethodPut, one, "put-calendar",
		"Creates or replaces a calendar, for all schedules that exclude it", "calendars", 0, 0,
	}, h.putCalendar)
	add(h, route{
		access.Operator, http.MethodDelete, one, "delete-calendar", "Deletes a calendar that no schedule names",
		"calendars", 0, http.StatusNoContent,
	}, h.deleteCalendar)
}

func (h *handler) listCalendars(ctx context.Context, in *struct{ Paging }) (*listed[view.CalendarRecord], error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	after, err := decodeCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	calendars, err := h.client.Calendars.List(ctx, hourbell.CalendarFilter{After: after, Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	return newPage(in.Limit, calendars, func(c hourbell.CalendarInfo) string { return c.Name }, view.NewCalendarRecord), nil
}

type calendarOutput struct {
	ETag string `header:"ETag" doc:"The revision."`
	Body view.CalendarUsersRecord
}

func (h *handler) getCalendar(ctx context.Context, in *Named) (*calendarOutput, error) {
	info, err := h.client.Calendars.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	users, err := h.client.Schedules.List(ctx, hourbell.ScheduleFilter{Calendar: info.Name, Limit: view.MostCalendarUsers})
	if err != nil {
		return nil, err
	}
	out := &calendarOutput{ETag: etag(info.Revision), Body: view.CalendarUsersRecord{CalendarRecord: view.NewCalendarRecord(info), Schedules: []string{}}}
	for _, s := range users {
		out.Body.Schedules = append(out.Body.Schedules, s.Name)
	}
	return out, nil
}

// CalendarDefinition is what a calendar excludes.
type CalendarDefinition struct {
	Dates    []string `json:"dates,omitempty" nullable:"false" doc:"Such as 2027-12-25, 12-25 for every year, or 12-24..01-01."`
	Weekdays []string `json:"weekdays,omitempty" nullable:"false" doc:"Such as sat."`
	Rules    []string `json:"rules,omitempty" nullable:"false" doc:"Rules at whose instants nothing runs, such as * 0-6 * * *."`
	TZ       string   `json:"tz,omitempty" minLength:"1" doc:"The zone of these times; default: the zone of each schedule's rule."`
}

func (h *handler) putCalendar(ctx context.Context, in *struct {
	Named
	Conditions
	Body CalendarDefinition
},
) (*calendarOutput, error) {
	revision, err := in.revision()
	errs := []error{err}
	spec := recur.CalendarSpec{Dates: in.Body.Dates, Weekdays: in.Body.Weekdays, Zone: in.Body.TZ}
	for _, text := range in.Body.Rules {
		rule, err := recur.ParseSpec(text)
		errs = append(errs, err)
		spec.Rules = append(spec.Rules, rule)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if _, err := h.client.Calendars.Put(ctx, hourbell.Calendar{Name: in.Name, CalendarSpec: spec}, revision); err != nil {
		return nil, in.stale(err)
	}
	return h.getCalendar(ctx, &in.Named)
}

func (h *handler) deleteCalendar(ctx context.Context, in *deletedInput) (*noContent, error) {
	revision, err := in.revision()
	if err != nil {
		return nil, err
	}
	return nil, in.stale(h.client.Calendars.DeleteIf(ctx, in.Name, revision))
}
