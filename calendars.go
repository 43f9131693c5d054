package hourbell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// OwnCalendar is the name of the calendar that holds the times that a schedule
// itself excludes, if they were written as text; see [ParseExclude].
const OwnCalendar = "own"

// Calendar is a named set of times at which slots do not fire: dates, days of
// the week, and instants of other rules. A Stored calendar is the store's
// calendar with that name: when a schedule is put, only the name is used, and
// when a schedule is read, the other fields are the content of the calendar at
// that time.
type Calendar struct {
	Name string
	recur.CalendarSpec
	Stored bool
}

// StoredCalendar returns a reference to the store's calendar with that name
// (see [CalendarService.Put]), for [Schedule.Exclude].
func StoredCalendar(name string) Calendar { return Calendar{Name: name, Stored: true} }

// ParseExclude reads texts as users write them for [Schedule.Exclude], each
// text as [recur.ParseExclude] does. A name is the name of a stored calendar;
// all other parts are collected in a calendar named OwnCalendar. The error
// consists of *check.FieldErrors.
func ParseExclude(texts ...string) ([]Calendar, error) {
	var calendars []Calendar
	own := Calendar{Name: OwnCalendar}
	for _, text := range texts {
		spec, names, err := recur.ParseExclude(text)
		if err != nil {
			return nil, &check.FieldError{Field: "exclude", Value: check.Shorten(text), Problem: "cannot be used: " + err.Error()}
		}
		own.Dates = append(own.Dates, spec.Dates...)
		own.Weekdays = append(own.Weekdays, spec.Weekdays...)
		own.Rules = append(own.Rules, spec.Rules...)
		for _, name := range names {
			calendars = append(calendars, StoredCalendar(name))
		}
	}
	if !reflect.DeepEqual(own.CalendarSpec, recur.CalendarSpec{}) {
		calendars = append(calendars, own)
	}
	return calendars, check.Join(checkCalendars(calendars)...)
}

// ExcludeTexts is the reverse of [ParseExclude]. It returns a text for each
// calendar: the name of a stored calendar, and the excluded times of the
// calendar OwnCalendar. For a calendar that cannot be written as text, the text
// is its name, and ok is false.
func ExcludeTexts(calendars []Calendar) (texts []string, ok bool) {
	ok = true
	for _, c := range calendars {
		text, said := c.Exclude()
		switch {
		case c.Stored:
			text = c.Name
		case !said || c.Name != OwnCalendar:
			text, ok = c.Name, false
		}
		texts = append(texts, text)
	}
	return texts, ok
}

// CalendarService keeps the calendars of the store: Client.Calendars.
// Concurrent calls are allowed.
type CalendarService struct{ client *Client }

// CalendarInfo is a calendar of the store with its state.
type CalendarInfo struct {
	Calendar
	// Revision changes whenever the excluded times change.
	Revision  int64
	UpdatedAt time.Time
	// Problem is the reason why this release cannot use the calendar, or empty.
	Problem string
}

// Put creates or replaces a calendar of the store, which schedules exclude by
// its name. A change edits every schedule that names
// the calendar: it is in effect at once on every node, slots that are due
// already are accounted for under the old calendar first, and each of these
// schedules gets a new revision. If ifRevision is not 0, the call is refused
// (ErrConflict) if the calendar was changed after that revision was read; OnlyNew:
// if a calendar has the name.
func (s *CalendarService) Put(ctx context.Context, calendar Calendar, ifRevision int64) (saved Saved[Calendar], err error) {
	if err := calendar.Validate(); err != nil {
		return saved, fmt.Errorf("put calendar %q: %w", check.Shorten(calendar.Name), err)
	}
	res, err := s.put(ctx, []Calendar{calendar}, ifRevision)
	if err != nil {
		return saved, puttingOne("calendar", calendar.Name, err)
	}
	calendar.Stored = true
	return Saved[Calendar]{calendar, res.Revisions[0], res.Changed > 0}, nil
}

// PutAll is Put for any number of calendars, all or none.
func (s *CalendarService) PutAll(ctx context.Context, calendars []Calendar) (SyncResult, error) {
	res, err := s.put(ctx, calendars, 0)
	if err != nil {
		return SyncResult{}, calling("put calendars", err)
	}
	return SyncResult{Changed: res.Changed, Unchanged: len(calendars) - res.Changed}, nil
}

func (s *CalendarService) put(ctx context.Context, calendars []Calendar, ifRevision int64) (res store.PutResult, err error) {
	req := store.PutRequest{By: s.client.actor(ctx)}
	seen := map[string]bool{}
	var errs []error
	for _, calendar := range calendars {
		if err := calendar.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("calendar %q: %w", check.Shorten(calendar.Name), err))
			continue
		}
		if seen[calendar.Name] {
			errs = append(errs, &check.FieldError{
				Field: "name", Value: check.Shorten(calendar.Name), Problem: "is given twice",
				Remedy: "give each calendar a name of its own",
			})
			continue
		}
		seen[calendar.Name] = true
		definition, err := plan.EncodeCalendar(calendar.CalendarSpec)
		if err != nil {
			return res, err
		}
		req.Calendars = append(req.Calendars, store.PutCalendar{Name: calendar.Name, Definition: definition, IfRevision: ifRevision})
	}
	if err := check.Join(errs...); err != nil {
		return res, err
	}
	err = s.client.settler(nil).Change(ctx, nil, func() (edited []string, err error) {
		res, err = s.client.backend.Put(ctx, req)
		return res.Revised, err
	})
	return res, err
}

// Validate returns what is wrong with a calendar for the store, or nil. Its
// name must be a text that is read as a name wherever users write excluded
// times.
func (c Calendar) Validate() error {
	errs := []error{check.Name("name", c.Name), c.CalendarSpec.Validate()}
	if _, names, err := recur.ParseExclude(c.Name); errs[0] == nil && (err != nil || !slices.Equal(names, []string{c.Name})) || c.Name == OwnCalendar {
		errs = append(errs, &check.FieldError{
			Field: "name", Value: check.Shorten(c.Name), Problem: "would not be read as the name of a calendar where a schedule excludes it",
			Remedy: fmt.Sprintf("use a name without commas and | that is not a date, day of the week or rule, and not %q", OwnCalendar),
		})
	}
	return check.Join(errs...)
}

// CalendarFilter selects calendars. The zero value selects all.
type CalendarFilter struct {
	After string // only names after this name, in byte order: the last name of the previous page
	Limit int    // rows of a page; default 100
}

// List returns the store's calendars by name, a page at a time.
func (s *CalendarService) List(ctx context.Context, f CalendarFilter) ([]CalendarInfo, error) {
	if err := checkIfGiven("after", f.After); err != nil {
		return nil, fmt.Errorf("list calendars: %w", err)
	}
	return s.list(ctx, store.ListRequest{After: f.After, Limit: pageSize(f.Limit)})
}

// Get returns the store's calendar with that name, or ErrNotFound.
func (s *CalendarService) Get(ctx context.Context, name string) (CalendarInfo, error) {
	if err := check.StoredName("name", name); err != nil {
		return CalendarInfo{}, fmt.Errorf("read calendar: %w", err)
	}
	found, err := s.list(ctx, store.ListRequest{Names: []string{name}, Limit: 1})
	if err != nil {
		return CalendarInfo{}, err
	}
	if len(found) == 0 {
		return CalendarInfo{}, fmt.Errorf("calendar %q: %w", name, ErrNotFound)
	}
	return found[0], nil
}

func (s *CalendarService) list(ctx context.Context, req store.ListRequest) ([]CalendarInfo, error) {
	rows, err := store.List[store.Calendar](ctx, s.client.backend, req)
	if err != nil {
		return nil, err
	}
	infos := make([]CalendarInfo, len(rows))
	for i, row := range rows {
		infos[i] = CalendarInfo{Calendar: StoredCalendar(row.Name), Revision: row.Revision, UpdatedAt: row.UpdatedAt}
		spec, err := plan.DecodeCalendar(row.Definition)
		if err == nil {
			err = spec.Validate()
		}
		if err != nil {
			infos[i].Problem = err.Error()
			continue
		}
		infos[i].CalendarSpec = spec
	}
	return infos, nil
}

// Delete deletes calendars of the store, all or none. A calendar that a
// schedule names cannot be deleted.
func (s *CalendarService) Delete(ctx context.Context, names ...string) error {
	return s.remove(ctx, names, 0)
}

// DeleteIf is Delete of one calendar, if it still has a revision (CalendarInfo.Revision); ErrConflict otherwise. 0: any revision.
func (s *CalendarService) DeleteIf(ctx context.Context, name string, revision int64) error {
	return s.remove(ctx, []string{name}, revision)
}

func (s *CalendarService) remove(ctx context.Context, names []string, ifRevision int64) error {
	for _, name := range names {
		if err := check.StoredName("name", name); err != nil {
			return fmt.Errorf("delete calendar: %w", err)
		}
	}
	err := s.client.backend.Delete(ctx, store.DeleteRequest{Of: store.OfCalendars, Names: names, IfRevision: ifRevision, By: s.client.actor(ctx)})
	if errors.Is(err, store.ErrInUse) {
		err = cmp.Or(s.inUse(ctx, names), err)
	}
	if err != nil {
		return calling("delete calendars", err)
	}
	return nil
}

// inUse returns an error with the schedules, if any, that prevent the deletion
// of calendars.
func (s *CalendarService) inUse(ctx context.Context, calendars []string) error {
	const shown = 3
	var errs []error
	for _, calendar := range calendars {
		rows, err := store.List[store.Schedule](ctx, s.client.backend, store.ListRequest{Calendar: calendar, Limit: shown + 1})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			continue
		}
		names := make([]string, len(rows))
		for i, row := range rows {
			names[i] = fmt.Sprintf("%q", check.Shorten(row.Name))
		}
		if len(names) > shown {
			names[shown] = "and others"
		}
		errs = append(errs, &check.FieldError{
			Field: "calendar", Value: check.Shorten(calendar), Problem: "is excluded by schedules: " + strings.Join(names, ", "),
			Remedy: "remove it from these schedules first",
		})
	}
	return check.Join(errs...)
}

// missing explains a put that was refused because a schedule names a calendar
// that is not stored.
func (s *CalendarService) missing(ctx context.Context, schedules []Schedule) error {
	names, err := s.notStored(ctx, schedules)
	if err != nil {
		return err
	}
	const shown = 10
	rows, err := store.List[store.Calendar](ctx, s.client.backend, store.ListRequest{Limit: shown + 1})
	if err != nil {
		return err
	}
	remedy := "store it first (`hourbell calendars put`, or Client.Calendars.Put); "
	if len(rows) == 0 {
		remedy += "there is none yet"
	} else {
		remedy += "there are " + listed(rows, shown)
	}
	var errs []error
	for _, schedule := range schedules {
		for _, name := range storedNames(schedule.Exclude) {
			if names[name] {
				var err error = &check.FieldError{Field: "exclude", Value: check.Shorten(name), Problem: "is not a calendar of the store", Remedy: remedy}
				if len(schedules) > 1 {
					err = fmt.Errorf("schedule %q: %w", check.Shorten(schedule.Name), err)
				}
				errs = append(errs, err)
			}
		}
		if len(errs) >= shown {
			break
		}
	}
	return check.Join(errs...)
}

// notStored returns the names of the calendars that schedules name and the store does not have.
func (s *CalendarService) notStored(ctx context.Context, schedules []Schedule) (map[string]bool, error) {
	names := map[string]bool{}
	for _, schedule := range schedules {
		for _, name := range storedNames(schedule.Exclude) {
			names[name] = true
		}
	}
	for name := range names {
		rows, err := store.List[store.Calendar](ctx, s.client.backend, store.ListRequest{Names: []string{name}, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			delete(names, name)
		}
	}
	return names, nil
}

func listed(rows []store.Calendar, most int) string {
	var names []string
	for _, row := range rows[:min(len(rows), most)] {
		names = append(names, check.Shorten(row.Name))
	}
	if len(rows) > most {
		names = append(names, "and others")
	}
	return strings.Join(names, ", ")
}

// storedNames returns the names of the stored calendars among these.
func storedNames(calendars []Calendar) []string {
	return plan.Definition{Exclude: excluded(calendars)}.StoredNames()
}

// excluded returns calendars as a definition has them.
func excluded(calendars []Calendar) []plan.Calendar {
	return converted(calendars, func(c Calendar) plan.Calendar { return plan.Calendar(c) })
}

// converted converts each element; the result is nil if values is nil.
func converted[A, B any](values []A, convert func(A) B) []B {
	if values == nil {
		return nil
	}
	all := make([]B, len(values))
	for i, value := range values {
		all[i] = convert(value)
	}
	return all
}
