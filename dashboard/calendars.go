package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/recur"
)

func (p *pages) calendars(ctx context.Context, r *http.Request) (*page, error) {
	after := r.URL.Query().Get("after")
	calendars, err := p.client.Calendars.List(ctx, hourbell.CalendarFilter{After: after, Limit: pageSize + 1})
	if err != nil {
		return nil, err
	}
	more := len(calendars) > pageSize
	calendars = calendars[:min(len(calendars), pageSize)]
	t := tableOf(view.CalendarListing(), calendars, func(c hourbell.CalendarInfo, column string) string {
		if column == "NAME" {
			return link("calendar", "name", c.Name)
		}
		return ""
	})
	t.Caption, t.Empty = "Calendars", "No calendar is stored."
	if more {
		t.Older = link("calendars", "after", calendars[pageSize-1].Name)
	}
	if after != "" {
		t.Newest = "calendars"
	}
	return &page{Title: "Calendars", Template: "definitions", Live: true, Data: definitionsPage{
		"calendar", "Times at which the schedules that name a calendar do not fire.", t,
	}}, nil
}

func (p *pages) calendar(ctx context.Context, r *http.Request) (*page, error) {
	name := r.URL.Query().Get("name")
	if err := check.StoredName("name", name); err != nil {
		return nil, err
	}
	calendar, err := p.client.Calendars.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	users, err := p.client.Schedules.List(ctx, hourbell.ScheduleFilter{Calendar: name, Limit: pageSize})
	if err != nil {
		return nil, err
	}
	t, err := p.scheduleTable(ctx, users, false)
	if err != nil {
		return nil, err
	}
	t.Caption, t.Empty = "Schedules that exclude these times", "No schedule excludes these times."
	return &page{Title: "Calendar " + name, Template: "calendar", Live: true, Data: struct {
		Name      string
		Facts     []fact
		Schedules table
	}{name, factsOf(view.CalendarFacts(calendar, nil), calendar.Zone, nil), t}}, nil
}

// calendarForm is the form of calendars.
func (p *pages) calendarForm() definition {
	return definition{
		thing: "calendar", left: "Only a calendar that no schedule names can be deleted.",
		note: "A change is in force at once for every schedule that names the calendar, and gives each of them a new revision.",
		sections: func() []editSection {
			return []editSection{{"Calendar", []editField{
				{Name: "name", About: "The name, by which schedules exclude it"},
				{Name: "tz", About: "The zone of these times; empty: the zone of each schedule's rule"},
				{Name: "dates", About: "A line each: 2027-12-25, 12-25 for every year, or 12-24..01-01; a name may follow, as in 12-25 Christmas", Lines: true},
				{Name: "weekdays", About: "Days of the week, such as sat, sun"},
				{Name: "rules", About: "Rules at whose instants nothing fires, a line each, such as * 0-6 * * *", Lines: true},
			}}}
		},
		read: func(ctx context.Context, name string) (storedForm, error) {
			info, err := p.client.Calendars.Get(ctx, name)
			return storedForm{formOfCalendar(info.Calendar), info.Revision, ""}, err
		},
		put: func(ctx context.Context, form url.Values, revision int64) error {
			calendar, err := calendarOf(form)
			if err == nil {
				_, err = p.client.Calendars.Put(ctx, calendar, revision)
			}
			return err
		},
		remove:  func(ctx context.Context, name string) error { return p.client.Calendars.Delete(ctx, name) },
		problem: p.problemOf,
	}
}

// formOfCalendar returns a calendar as its form has it.
func formOfCalendar(c hourbell.Calendar) url.Values {
	var rules []string
	for _, rule := range c.Rules {
		rules = append(rules, rule.String())
	}
	return url.Values{
		"name": {c.Name}, "tz": {c.Zone}, "dates": {strings.Join(c.Dates, "\n")}, "weekdays": {strings.Join(c.Weekdays, ", ")},
		"rules": {strings.Join(rules, "\n")},
	}
}

// calendarOf returns the calendar that a form describes.
func calendarOf(form url.Values) (hourbell.Calendar, error) {
	spec := recur.CalendarSpec{Dates: lines(form.Get("dates")), Weekdays: split(form.Get("weekdays")), Zone: form.Get("tz")}
	var errs []error
	for _, text := range lines(form.Get("rules")) {
		rule, err := recur.ParseSpec(text)
		spec.Rules, errs = append(spec.Rules, rule), append(errs, err)
	}
	calendar := hourbell.Calendar{Name: form.Get("name"), CalendarSpec: spec}
	if err := errors.Join(errs...); err != nil {
		return calendar, err
	}
	return calendar, calendar.Validate()
}
