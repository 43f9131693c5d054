package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var calendarTests = []scenario{
	{"New", calendarNew},
	{"Unchanged", calendarUnchanged},
	{"Changed", calendarChanged},
	{"IfRevision", calendarIfRevision},
	{"SchedulesGetANewRevision", calendarRevises},
	{"Unsettled", calendarUnsettled},
	{"AllOrNone", calendarAllOrNone},
	{"UnknownIsRefused", calendarUnknown},
	{"Delete", calendarDelete},
	{"Many", calendarMany},
	{"ListFiltersAndPages", listCalendars},
	{"EditWhileItFires", calendarFireRace},
	{"EditWhileItIsNamed", calendarNameRace},
	{"DeleteWhileItIsNamed", calendarDeleteRace},
	{"SameNewNameAtOnce", calendarPutRace},
}

func (e *env) tryPutCalendars(puts ...store.PutCalendar) (store.PutResult, error) {
	return e.a.Put(e.ctx, store.PutRequest{Now: e.now, Calendars: puts})
}

// putCalendar puts one calendar and returns its row.
func (e *env) putCalendar(name, definition string) store.Calendar {
	e.t.Helper()
	_, err := e.tryPutCalendars(store.PutCalendar{Name: name, Definition: []byte(definition)})
	e.must(err)
	return e.calendar(name)
}

func (e *env) calendars(req store.ListRequest) []store.Calendar {
	e.t.Helper()
	if req.Limit == 0 {
		req.Limit = 1000
	}
	rows, err := store.List[store.Calendar](e.ctx, e.b, req)
	e.must(err)
	return rows
}

func (e *env) calendar(name string) store.Calendar {
	e.t.Helper()
	rows := e.calendars(store.ListRequest{Names: []string{name}})
	if len(rows) != 1 {
		e.t.Fatalf("calendar %q must be listed once: got %d", name, len(rows))
	}
	return rows[0]
}

func (e *env) tryPutNaming(name, definition string, calendars ...string) error {
	_, err := e.tryPut(store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: name, Definition: []byte(definition), Calendars: calendars}}})
	return err
}

// plannedNaming puts a schedule that names calendars and has its next slot in a
// minute.
func (e *env) plannedNaming(name string, calendars ...string) store.Schedule {
	e.t.Helper()
	e.must(e.tryPutNaming(name, "every minute but "+fmt.Sprint(calendars), calendars...))
	e.fire(firing(e.schedule(name), e.now, e.now.Add(time.Minute)))
	return e.schedule(name)
}

func calendarNew(e *env) {
	definition := " {\"ä\":1,\n\t\"a\" :2 }\n"
	res, err := e.tryPutCalendars(store.PutCalendar{Name: "日本 '; --", Definition: []byte(definition)}, store.PutCalendar{Name: "b", Definition: []byte("{}")})
	e.must(err)
	a, b := e.calendar("日本 '; --"), e.calendar("b")
	e.want(res, store.PutResult{Revisions: []int64{a.Revision, b.Revision}, Changed: 2}, "a put must return the revisions in the order of the request")
	e.ok(a.Revision > 0 && b.Revision > 0, "revisions are positive")
	e.want(a, store.Calendar{Name: "日本 '; --", Revision: a.Revision, Definition: []byte(definition), UpdatedAt: e.now}, "a calendar must be kept byte for byte")
}

func calendarUnchanged(e *env) {
	before := e.putCalendar("c", "1")
	row := e.plannedNaming("s", "c")
	e.tick(time.Hour) // the schedule becomes due, which must not matter
	res, err := e.tryPutCalendars(store.PutCalendar{Name: "c", Definition: []byte("1")})
	e.must(err)
	e.want(res, store.PutResult{Revisions: []int64{before.Revision}}, "an unchanged calendar must keep its revision and count as unchanged")
	e.want(e.calendar("c"), before, "an unchanged calendar must keep its row as it is")
	e.want(e.schedule("s"), row, "an unchanged calendar must leave the schedules that name it alone")
}

func calendarChanged(e *env) {
	before := e.putCalendar("c", "1")
	e.tick(time.Second)
	after := e.putCalendar("c", "2")
	e.ok(after.Revision > before.Revision, "a changed calendar must get a greater revision", after.Revision, before.Revision)
	e.want(after, store.Calendar{Name: "c", Revision: after.Revision, Definition: []byte("2"), UpdatedAt: e.now},
		"a changed calendar must have its new definition")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfCalendars, Names: []string{"c"}}))
	again := e.putCalendar("c", "1")
	e.ok(again.Revision > after.Revision, "a name that was deleted must get a greater revision than it ever had", again.Revision, after.Revision)
}

func calendarIfRevision(e *env) {
	row := e.putCalendar("c", "1")
	try := func(name, definition string, revision int64) error {
		_, err := e.tryPutCalendars(store.PutCalendar{Name: name, Definition: []byte(definition), IfRevision: revision})
		return err
	}
	e.is(try("c", "2", row.Revision+1), store.ErrConflict, "a put with another revision than the row's must be refused")
	e.is(try("c", "1", row.Revision+1), store.ErrConflict, "a put with a wrong revision must be refused also where nothing would change")
	e.is(try("new", "1", row.Revision), store.ErrConflict, "a put with a revision of a calendar that does not exist must be refused")
	e.is(try("c", "2", store.OnlyNew), store.ErrExists, "a put that only creates must be refused for a name that exists")
	e.is(try("c", "1", store.OnlyNew), store.ErrExists, "a put that only creates must be refused also where nothing would change")
	e.want(e.calendars(store.ListRequest{}), []store.Calendar{row}, "a refused put must write nothing")
	e.is(try("only new", "1", store.OnlyNew), nil, "a put that only creates must create")
	e.is(try("c", "2", row.Revision), nil, "a put with the row's revision must succeed")
	e.is(try("c", "3", row.Revision), store.ErrConflict, "a put with an old revision must be refused")
}

func calendarRevises(e *env) {
	e.putCalendar("c", "1")
	e.putCalendar("d", "1")
	one, both := e.plannedNaming("one", "c"), e.plannedNaming("both", "d", "c")
	other, none := e.plannedNaming("other", "d"), e.planned("none")
	e.plannedNaming("gone", "c")
	e.changeSchedules(store.DeleteSchedules, "gone")
	gone := e.schedule("gone")
	e.plannedNaming("left", "c")
	left := e.put("left", "without it")
	e.fire(firing(left, e.now, e.now.Add(time.Minute)))
	left = e.schedule("left")

	e.tick(time.Second)
	changed, err := e.tryPutCalendars(store.PutCalendar{Name: "c", Definition: []byte("2")}, store.PutCalendar{Name: "d", Definition: []byte("1")})
	e.must(err)
	slices.Sort(changed.Revised)
	e.want(changed.Revised, []string{"both", "one"}, "a put of calendars must return the names of the schedules that it revised")
	for _, before := range []store.Schedule{one, both} {
		after := e.schedule(before.Name)
		e.ok(after.Revision > before.Revision, "a schedule must get a greater revision when a calendar that it names changes",
			before.Name, after.Revision, before.Revision)
		after.Revision = before.Revision
		e.want(after, before, "but for the revision a schedule must stay as it is when a calendar changes")
	}
	for _, before := range []store.Schedule{other, none, gone, left} {
		e.want(e.schedule(before.Name), before, "a schedule that does not name the calendar, or is deleted, must stay as it is")
	}
	res := e.fire(firing(one, e.now, e.now.Add(time.Minute)))
	e.want(res.Lost, []int64{one.ID}, "a firing that was decided before a calendar changed must be lost")

	now := e.put("one", "another")
	e.ok(now.Revision > one.Revision+1, "revisions must go on growing after a calendar's change", now.Revision)
	e.must(e.tryPutNaming("gone", "back", "d"))
	back := e.schedule("gone")
	e.fire(firing(back, e.now, e.now.Add(time.Minute)))
	back = e.schedule("gone")
	e.putCalendar("c", "3")
	e.want(e.schedule("gone"), back, "a schedule that comes back names what it was put with")
}

func calendarUnsettled(e *env) {
	e.putCalendar("c", "1")
	put := func(definition string) error {
		_, err := e.tryPutCalendars(store.PutCalendar{Name: "c", Definition: []byte(definition)})
		return err
	}
	e.must(e.tryPutNaming("s", "new", "c"))
	e.is(put("2"), store.ErrUnsettled, "a calendar must not change while a schedule that names it is not planned yet: slots may be due")
	e.fire(firing(e.schedule("s"), e.now, e.now.Add(time.Minute)))
	e.tick(time.Minute - time.Microsecond)
	e.is(put("2"), nil, "a calendar must change where no schedule that names it is due")
	before, row := e.calendar("c"), e.schedule("s")
	e.tick(time.Microsecond)
	e.is(put("3"), store.ErrUnsettled, "a calendar must not change while a slot of a schedule that names it is due")
	e.want([]any{e.calendar("c"), e.schedule("s")}, []any{before, row}, "a refused put must write nothing")
	e.ring("s")
	e.is(put("3"), nil, "when the slot is accounted for, the calendar may change")
	e.changeSchedules(store.DeleteSchedules, "s")
	e.tick(time.Hour)
	e.is(put("4"), nil, "a deleted schedule is never due")
}

func calendarAllOrNone(e *env) {
	e.putCalendar("c", "1")
	before := e.calendars(store.ListRequest{})
	_, err := e.tryPutCalendars(store.PutCalendar{Name: "a", Definition: []byte("1")}, store.PutCalendar{Name: "c", Definition: []byte("2"), IfRevision: 77777})
	e.is(err, store.ErrConflict, "one that cannot be put must refuse the whole put")
	e.is(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfCalendars, Names: []string{"c", "nobody"}}), store.ErrNotFound,
		"an unknown name must refuse the whole delete")
	e.want(e.calendars(store.ListRequest{}), before, "a refused call must write nothing")
}

func calendarUnknown(e *env) {
	e.putCalendar("c", "1")
	e.is(e.tryPutNaming("s", "1", "c", "d"), store.ErrNotFound, "a schedule that names a calendar which is not there must be refused")
	e.want(len(e.schedules(store.ListRequest{Deleted: true})), 0, "a refused put must write nothing")
	e.is(e.tryPutNaming("s", "1", "C"), store.ErrNotFound, "names of calendars are compared byte by byte")
	e.is(e.tryPutNaming("s", "1", "c"), nil, "a schedule that names a calendar which is there must be put")
}

func calendarDelete(e *env) {
	remove := func(names ...string) error {
		return e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfCalendars, Names: names})
	}
	e.putCalendar("c", "1")
	e.putCalendar("d", "1")
	e.plannedNaming("s", "c")
	e.is(remove("nobody"), store.ErrNotFound, "an unknown calendar cannot be deleted")
	e.is(remove("d", "c"), store.ErrInUse, "a calendar that a schedule names must not be deleted")
	e.want(len(e.calendars(store.ListRequest{})), 2, "a refused delete must delete nothing")
	e.is(remove("d"), nil, "a calendar that no schedule names must be deleted")
	e.is(remove("d"), store.ErrNotFound, "a deleted calendar is not there")
	e.put("s", "without it")
	e.is(remove("c"), nil, "a calendar must be deleted that schedules do not name any more")
	e.putCalendar("c", "1")
	e.fire(firing(e.schedule("s"), e.now, e.now.Add(time.Hour)))
	e.plannedNaming("s", "c")
	e.changeSchedules(store.DeleteSchedules, "s")
	e.is(remove("c"), nil, "a calendar must be deleted that deleted schedules name alone")
	e.is(e.tryPutNaming("s", "1", "c"), store.ErrNotFound, "a schedule that comes back cannot name a calendar that was deleted")
}

func calendarMany(e *env) {
	const n = 2000
	e.putCalendar("c", "1")
	puts := make([]store.PutSchedule, n)
	for i := range puts {
		puts[i] = store.PutSchedule{Name: fmt.Sprintf("s%05d", i), Definition: []byte("1"), Calendars: []string{"c"}}
	}
	res, err := e.tryPut(store.PutSchedulesRequest{Schedules: puts})
	e.must(err)
	e.want(res.Changed, n, "many schedules may name one calendar")
	var firings []store.Firing
	rows := e.schedules(store.ListRequest{Limit: n})
	for _, row := range rows {
		firings = append(firings, firing(row, e.now, e.now.Add(time.Minute)))
	}
	e.fire(firings...)
	e.putCalendar("c", "2")
	later := map[string]int64{}
	for _, row := range e.schedules(store.ListRequest{Limit: n, Calendar: "c"}) {
		later[row.Name] = row.Revision
	}
	for _, row := range rows {
		if later[row.Name] <= row.Revision {
			e.t.Fatalf("each of many schedules must get a greater revision when their calendar changes: %q has %d after %d", row.Name, later[row.Name], row.Revision)
		}
	}
}

func listCalendars(e *env) {
	for _, name := range []string{"b", "a", "ä", "B"} {
		e.putCalendar(name, "1")
	}
	list := func(req store.ListRequest) (names []string) {
		for _, row := range e.calendars(req) {
			names = append(names, row.Name)
		}
		return names
	}
	e.want(list(store.ListRequest{}), []string{"B", "a", "b", "ä"}, "calendars must be listed by name in byte order")
	e.want(list(store.ListRequest{After: "B", Limit: 2}), []string{"a", "b"}, "a page must begin after After and end at Limit")
	e.want(list(store.ListRequest{Names: []string{"ä", "nobody", "B"}}), []string{"B", "ä"}, "calendars must be found by name")
	e.plannedNaming("one", "a")
	e.plannedNaming("two", "a", "b")
	e.planned("none")
	e.want(scheduleNames(e.schedules(store.ListRequest{Calendar: "a"})), []string{"one", "two"}, "schedules must be found by a calendar that they name")
	e.want(scheduleNames(e.schedules(store.ListRequest{Calendar: "b", Names: []string{"one"}})), []string(nil), "all given conditions must hold")
}

// calendarFireRace edits a calendar while a firing is written that was decided
// with the old calendar.
func calendarFireRace(e *env) {
	e.putCalendar("c", "0")
	for round := range 20 {
		name := fmt.Sprint("s", round)
		row := e.plannedNaming(name, "c")
		e.tick(time.Minute)
		var errs [2]error
		var res store.FireResult
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				res, errs[0] = client.Fire(e.ctx, store.FireRequest{Now: e.now, Firings: []store.Firing{ringing(row)}})
				return
			}
			_, errs[1] = client.Put(e.ctx, store.PutRequest{
				Now: e.now, Calendars: []store.PutCalendar{{Name: "c", Definition: fmt.Append(nil, "edited ", round)}},
			})
		})
		e.must(errs[0])
		e.want([]int{len(res.Fired), len(res.Lost)}, []int{1, 0}, "an edit of a calendar at the moment of a slot must wait for the slot: its firing must not be lost")
		if errs[1] != nil {
			e.is(errs[1], store.ErrUnsettled, "an edit of a calendar at the moment of a slot may only be refused as unsettled")
		}
		e.fire(firing(e.schedule(name), e.now, e.now.Add(time.Hour)))
		e.changeSchedules(store.DeleteSchedules, name)
	}
}

// calendarNameRace reads a schedule that comes to name a calendar, while the
// calendar changes: a client that first reads the schedule and then the
// calendar must never get the schedule's last revision with an old calendar.
func calendarNameRace(e *env) {
	e.putCalendar("c", "0")
	for round := range 20 {
		row := e.planned(fmt.Sprint("s", round))
		e.tick(time.Second)
		definition := fmt.Sprint("edited ", round)
		var errs [2]error
		var seen store.Schedule
		var calendars []store.Calendar
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				_, errs[0] = client.Put(e.ctx, store.PutRequest{Now: e.now, Calendars: []store.PutCalendar{{Name: "c", Definition: []byte(definition)}}})
				return
			}
			_, err := client.PutSchedules(e.ctx, store.PutSchedulesRequest{
				Now:       e.now,
				Schedules: []store.PutSchedule{{Name: row.Name, Definition: []byte("names c"), Calendars: []string{"c"}}},
			})
			rows, listErr := store.List[store.Schedule](e.ctx, client, store.ListRequest{Names: []string{row.Name}, Limit: 1})
			var readErr error
			calendars, readErr = store.List[store.Calendar](e.ctx, client, store.ListRequest{Names: []string{"c"}, Limit: 1})
			if errs[1] = errors.Join(err, listErr, readErr); errs[1] == nil {
				seen = rows[0]
			}
		})
		e.must(errs[1])
		if errs[0] != nil {
			e.is(errs[0], store.ErrUnsettled, "an edit of a calendar while a schedule comes to name it may only be refused as unsettled")
		}
		now := e.schedule(row.Name)
		e.ok(now.Revision > seen.Revision || string(calendars[0].Definition) == string(e.calendar("c").Definition),
			"a client that reads a schedule and then its calendar must get the calendar of the schedule's revision",
			now.Revision, seen.Revision, string(calendars[0].Definition))
		e.fire(firing(now, e.now, e.now.Add(time.Hour)))
		e.changeSchedules(store.DeleteSchedules, row.Name)
	}
}

func calendarDeleteRace(e *env) {
	for round := range 20 {
		calendar, schedule := fmt.Sprint("c", round), fmt.Sprint("s", round)
		e.putCalendar(calendar, "1")
		var errs [2]error
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				errs[0] = client.Delete(e.ctx, store.DeleteRequest{Of: store.OfCalendars, Names: []string{calendar}})
				return
			}
			_, errs[1] = client.PutSchedules(e.ctx, store.PutSchedulesRequest{
				Now:       e.now,
				Schedules: []store.PutSchedule{{Name: schedule, Definition: []byte("1"), Calendars: []string{calendar}}},
			})
		})
		if errs[0] == nil {
			e.is(errs[1], store.ErrNotFound, "a schedule must not come to name a calendar that is deleted at that moment")
		} else {
			e.is(errs[0], store.ErrInUse, "a calendar that a schedule comes to name may only be refused as in use")
			e.is(errs[1], nil, "a schedule that names a calendar which stays must be put")
		}
	}
}

func calendarPutRace(e *env) {
	for round := range 15 {
		name := fmt.Sprint("c", round)
		var errs [2]error
		var results [2]store.PutResult
		e.both(func(i int, client store.Backend) {
			results[i], errs[i] = client.Put(e.ctx, store.PutRequest{Now: e.now, Calendars: []store.PutCalendar{{Name: name, Definition: []byte("1")}}})
		})
		e.must(errors.Join(errs[:]...))
		e.want(results[0].Changed+results[1].Changed, 1, "of two equal puts at once, one must create the calendar and the other find it unchanged")
		e.want(results[0].Revisions, results[1].Revisions, "two equal puts at once must give one revision")
	}
}
