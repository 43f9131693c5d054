package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var putTests = []scenario{
	{"New", putNew},
	{"DefinitionIsKeptByteForByte", putBytes},
	{"Unchanged", putUnchanged},
	{"Changed", putChanged},
	{"MarkNeverMovesBack", putMark},
	{"RevisionsCountBySchedule", putRevisions},
	{"IfRevision", putIfRevision},
	{"IfRevisionDeletes", deleteIfRevision},
	{"OtherOwner", putOwner},
	{"PausedByDefinition", putPaused},
	{"PauseByHandSurvivesAnEdit", putPausedByHand},
	{"PausedWhenItComesBack", putPausedAgain},
	{"ComesBackAfterDelete", putUndelete},
	{"Unsettled", putUnsettled},
	{"AllOrNone", putAllOrNone},
	{"Many", putMany},
	{"SameNewNameAtOnce", putRace},
	{"Group", putGroup},
	{"LostUpdateIsRefused", putLostUpdate},
	{"ListFiltersAndPages", listSchedules},
}

// putAs puts one schedule for an owner.
func (e *env) putAs(owner, name, definition string) error {
	_, err := e.tryPut(store.PutSchedulesRequest{Owner: owner, Schedules: []store.PutSchedule{{Name: name, Definition: []byte(definition)}}})
	return err
}

func putNew(e *env) {
	res, err := e.tryPut(store.PutSchedulesRequest{Owner: "o", Schedules: []store.PutSchedule{
		{Name: "a", Definition: []byte("A")}, {Name: "b", Definition: []byte("B")},
	}})
	e.must(err)
	a, b := e.schedule("a"), e.schedule("b")
	slices.Sort(res.Edited)
	e.want(res, store.PutSchedulesResult{Revisions: []int64{a.Revision, b.Revision}, Changed: 2, Edited: []string{"a", "b"}},
		"a put must return the revisions in the order of the request, and the names of new schedules")
	e.ok(a.ID > 0 && b.ID > 0 && a.ID != b.ID && a.Revision > 0, "numbers and revisions are positive", a.ID, b.ID, a.Revision)
	e.want(a, store.Schedule{
		ID: a.ID, Name: "a", Owner: "o", Revision: a.Revision, Definition: []byte("A"),
		Anchor: e.now, Mark: e.now, NextAt: e.now, CreatedAt: e.now, UpdatedAt: e.now,
	}, "a new schedule must get anchor, mark and next_at now")
}

// putIn puts schedules in a group.
func (e *env) putIn(group string, names ...string) {
	e.t.Helper()
	req := store.PutSchedulesRequest{}
	for _, name := range names {
		req.Schedules = append(req.Schedules, store.PutSchedule{Name: name, Definition: []byte("in " + group), Group: group})
	}
	_, err := e.tryPut(req)
	e.must(err)
}

func putGroup(e *env) {
	e.putIn("ü", "a", "b")
	e.putIn("", "c")
	e.want(e.schedule("b").Group, "ü", "a schedule has the group of its put")
	names := func(group string) (names []string) {
		rows, err := store.List[store.Schedule](e.ctx, e.b, store.ListRequest{Group: group, Limit: 10})
		e.must(err)
		for _, row := range rows {
			names = append(names, row.Name)
		}
		return names
	}
	e.want(names("ü"), []string{"a", "b"}, "schedules are listed by their group")
	e.want(names("Ü"), []string(nil), "groups are compared byte by byte")
	for _, name := range []string{"a", "c"} {
		row := e.schedule(name)
		f := firing(row, e.now, e.now.Add(time.Minute))
		f.Slots = []store.SlotRecord{{Slot: e.now, Last: e.now, Count: 1, Outcome: store.SlotSkipped, Reason: "why"}}
		e.fire(f)
	}
	slots := func(group string) (of []string) {
		rows, err := store.List[store.SlotInfo](e.ctx, e.b, store.ListRequest{Group: group, Limit: 10})
		e.must(err)
		for _, row := range rows {
			of = append(of, row.ScheduleName)
		}
		return of
	}
	e.want(slots("ü"), []string{"a"}, "slots are listed by the group of their schedule")
	e.tick(time.Second)
	e.putIn("other", "a")
	e.want(names("ü"), []string{"b"}, "an edit may change the group")
	e.want(slots("other"), []string{"a"}, "the group that the schedule has now counts")
}

func putBytes(e *env) {
	for i, definition := range []string{" { \"b\":1,\n\t\"a\" :2, \"a\":3 }\n", `"日本 🔔 é"`, `{"x":"\u0000"}`, `{}`} {
		name := fmt.Sprintf("日本 %d'; --", i)
		e.put(name, definition)
		e.want(string(e.schedule(name).Definition), definition, "a definition must be kept byte for byte")
	}
}

func putUnchanged(e *env) {
	before := e.due("s") // has a due slot, which must not matter
	e.tick(time.Hour)
	res, err := e.tryPut(store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: "s", Definition: before.Definition, Paused: true}}})
	e.must(err)
	e.want(res, store.PutSchedulesResult{Revisions: []int64{before.Revision}}, "an unchanged schedule must keep its revision and count as unchanged")
	e.want(e.schedule("s"), before, "an unchanged schedule must keep its row as it is")
}

func putChanged(e *env) {
	before := e.planned("s")
	e.tick(time.Second)
	row := e.put("s", "something else")
	e.ok(row.Revision > before.Revision, "a changed definition must get a greater revision", row.Revision, before.Revision)
	want := before
	want.Revision, want.Definition, want.Mark, want.NextAt, want.UpdatedAt = row.Revision, []byte("something else"), e.now, e.now, e.now
	e.want(row, want, "a changed schedule must keep number and anchor, with mark = max(mark, now) and next_at = now")
	back := e.put("s", "every minute")
	e.ok(back.Revision > row.Revision, "revisions must grow also when a definition comes back", back.Revision, row.Revision)
}

func putMark(e *env) {
	row := e.put("s", "1")
	ahead := e.now.Add(time.Hour)
	e.fire(firing(row, ahead, ahead.Add(time.Hour)))
	e.tick(time.Minute)
	row = e.put("s", "2")
	e.want([]any{row.Mark, row.NextAt}, []any{ahead, e.now}, "an edit must not move the mark back")
	e.changeSchedules(store.DeleteSchedules, "s")
	e.want(e.schedule("s").Mark, ahead, "a delete must keep the mark")
	e.tick(time.Minute)
	row = e.put("s", "3")
	e.want([]any{row.Mark, row.NextAt}, []any{ahead, e.now}, "delete and put must not move the mark back")
}

// putRevisions checks that the revision of a schedule is how often that schedule was created or changed, whatever else the store has.
func putRevisions(e *env) {
	want := func(name string, revision int64, when string) {
		e.t.Helper()
		e.want(e.schedule(name).Revision, revision, "the revision of "+name+" "+when)
	}
	e.put("a", "1")
	e.put("a", "2")
	e.put("b", "1")
	want("a", 2, "after one change")
	want("b", 1, "when it is new")
	e.putCalendar("c", "1")
	e.putCalendar("d", "1")
	e.plannedNaming("names", "c", "d")
	want("names", 1, "when it is new")
	_, err := e.tryPutCalendars(store.PutCalendar{Name: "c", Definition: []byte("2")}, store.PutCalendar{Name: "d", Definition: []byte("2")})
	e.must(err)
	want("names", 2, "after one change of two of its calendars")
	e.changeSchedules(store.DeleteSchedules, "b")
	e.put("other", "1")
	e.put("b", "1")
	want("b", 2, "when it comes back")
	want("other", 1, "when it is new")
}

func putIfRevision(e *env) {
	e.put("s", "1")
	e.plan("s")
	row := e.schedule("s")
	try := func(name, definition string, revision int64) error {
		_, err := e.tryPut(store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: name, Definition: []byte(definition), IfRevision: revision}}})
		return err
	}
	e.tick(time.Second)
	e.is(try("s", "2", row.Revision+1), store.ErrConflict, "a put with another revision than the row's must be refused")
	e.is(try("s", "1", row.Revision+1), store.ErrConflict, "a put with a wrong revision must be refused also where nothing would change")
	e.is(try("new", "1", row.Revision), store.ErrConflict, "a put with a revision of a schedule that does not exist must be refused")
	e.is(try("s", "2", store.OnlyNew), store.ErrExists, "a put that only creates must be refused for a name that exists")
	e.is(try("s", "1", store.OnlyNew), store.ErrExists, "a put that only creates must be refused also where nothing would change")
	e.want(e.schedules(store.ListRequest{Deleted: true}), []store.Schedule{row}, "a refused put must write nothing")
	e.is(try("only new", "1", store.OnlyNew), nil, "a put that only creates must create")
	e.is(try("s", "2", row.Revision), nil, "a put with the row's revision must succeed")
	e.is(try("s", "3", row.Revision), store.ErrConflict, "a put with an old revision must be refused")
	e.fire(firing(e.schedule("s"), e.now, e.now.Add(time.Hour)))
	e.is(try("s", "3", e.schedule("s").Revision), nil, "firing must not change the revision")
	row = e.schedule("s")
	e.changeSchedules(store.PauseSchedules, "s")
	e.want(e.schedule("s").Revision, row.Revision, "pausing must not change the revision")
	e.changeSchedules(store.DeleteSchedules, "s")
	e.is(try("s", "4", row.Revision), store.ErrConflict, "a put with a revision of a schedule that was deleted must be refused")
	e.is(try("s", "4", store.OnlyNew), nil, "a put that only creates must bring back a schedule that was deleted")
}

// deleteIfRevision is about schedules, calendars and limits: a deletion with a revision deletes only what has it.
func deleteIfRevision(e *env) {
	e.put("s", "1")
	e.plan("s")
	e.put("t", "1")
	e.put("t", "2")
	e.plan("t")
	e.putCalendar("c", "1")
	limit := e.putLimits(fullLimit("l"))[0]
	deletions := map[string]struct {
		revision int64
		delete   func(revision int64) error
	}{
		"schedule": {e.schedule("s").Revision, func(revision int64) error {
			return e.a.ChangeSchedules(e.ctx, store.ChangeSchedulesRequest{
				Now: e.now, Action: store.DeleteSchedules, Names: []string{"s"}, IfRevision: revision,
			})
		}},
		"calendar": {e.calendar("c").Revision, func(revision int64) error {
			return e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfCalendars, Names: []string{"c"}, IfRevision: revision})
		}},
		"limit": {limit.Revision, func(revision int64) error {
			return e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Names: []string{"l"}, IfRevision: revision})
		}},
	}
	schedules, calendars := e.schedules(store.ListRequest{Deleted: true}), e.calendars(store.ListRequest{})
	for sort, one := range deletions {
		e.is(one.delete(one.revision+1), store.ErrConflict, "a deletion with another revision than the row's must be refused: "+sort)
	}
	e.is(e.a.ChangeSchedules(e.ctx, store.ChangeSchedulesRequest{
		Now: e.now, Action: store.DeleteSchedules, Names: []string{"s", "t"}, IfRevision: e.schedule("s").Revision,
	}), store.ErrConflict, "a deletion must be refused if one of its schedules has another revision")
	e.want(e.schedules(store.ListRequest{Deleted: true}), schedules, "a refused deletion must delete no schedule")
	e.want(e.calendars(store.ListRequest{}), calendars, "a refused deletion must delete no calendar")
	e.want(e.limits(), []store.Limit{limit}, "a refused deletion must delete no limit")
	for sort, one := range deletions {
		e.is(one.delete(one.revision), nil, "a deletion with the row's revision must succeed: "+sort)
		e.is(one.delete(one.revision), store.ErrNotFound, "what was deleted must not be found: "+sort)
	}
}

func putOwner(e *env) {
	e.must(e.putAs("one", "s", "1"))
	e.plan("s")
	row := e.schedule("s")
	e.tick(time.Second)
	for _, owner := range []string{"two", "", "One"} {
		e.is(e.putAs(owner, "s", "1"), store.ErrConflict, "a name that lives under another owner must be refused, even unchanged")
		e.is(e.putAs(owner, "s", "2"), store.ErrConflict, "a name that lives under another owner must be refused")
	}
	e.want(e.schedule("s"), row, "a refused put must write nothing")
	e.changeSchedules(store.DeleteSchedules, "s")
	e.is(e.putAs("two", "s", "1"), nil, "a deleted name may be taken by another owner")
	got := e.schedule("s")
	e.want([]any{got.ID, got.Owner}, []any{row.ID, "two"}, "a name that comes back has its number and its new owner")
	e.ok(got.Revision > row.Revision, "a new owner means a greater revision", got.Revision, row.Revision)
}

// declare puts schedule s with the pause that its definition declares.
func (e *env) declare(definition string, paused bool) store.Schedule {
	e.t.Helper()
	_, err := e.tryPut(store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: "s", Definition: []byte(definition), Paused: paused}}})
	e.must(err)
	return e.schedule("s")
}

// pause is the fields of a schedule that concern pauses.
type pause struct {
	at       time.Time
	declared bool
}

func pauseOf(row store.Schedule) pause { return pause{row.PausedAt, row.PausedDeclared} }

func putPaused(e *env) {
	first := e.now
	created := e.declare("1", true)
	e.want(pauseOf(created), pause{first, true}, "a schedule that is created paused must be paused now")
	e.plan("s")
	created = e.schedule("s")
	e.tick(time.Second)
	e.want(e.declare("1", false), created, "an unchanged definition must not resume a schedule")
	e.want(pauseOf(e.declare("2", true)), pause{first, true}, "a schedule that is paused already must keep its time")
	e.want(pauseOf(e.declare("3", false)), pause{}, "a changed definition that is paused no more must resume the schedule")
	running := e.schedule("s")
	e.want(e.declare("3", true), running, "an unchanged definition must not pause a schedule")
	e.want(pauseOf(e.declare("4", true)), pause{e.now, true}, "a changed definition that is paused now must pause the schedule now")
}

func putPausedByHand(e *env) {
	e.declare("1", false)
	e.plan("s")
	e.tick(time.Second)
	e.changeSchedules(store.PauseSchedules, "s")
	paused := e.now
	e.tick(time.Second)
	e.want(pauseOf(e.declare("2", false)), pause{paused, false}, "a pause by hand must survive an edit of something else")
	e.want(pauseOf(e.declare("3", true)), pause{paused, true}, "a schedule that is paused by hand must keep its time when its definition is paused too")
	e.changeSchedules(store.ResumeSchedules, "s")
	e.want(pauseOf(e.schedule("s")), pause{declared: true}, "a resume by hand must not change what was declared")
	e.want(pauseOf(e.declare("4", true)), pause{declared: true}, "a resume by hand must survive an edit of something else")
	e.want(pauseOf(e.declare("5", false)), pause{}, "a schedule that is resumed by hand must go on when its definition is paused no more")
	e.changeSchedules(store.PauseSchedules, "s")
	e.declare("6", true)
	e.want(pauseOf(e.declare("7", false)), pause{}, "a definition that is paused no more must resume also what was paused by hand")
}

func putPausedAgain(e *env) {
	e.declare("1", true)
	e.changeSchedules(store.ResumeSchedules, "s")
	e.changeSchedules(store.DeleteSchedules, "s")
	e.tick(time.Second)
	e.want(pauseOf(e.declare("1", true)), pause{e.now, true}, "a schedule that comes back paused must be paused now, whatever was declared or done by hand before")
	e.changeSchedules(store.DeleteSchedules, "s")
	e.want(pauseOf(e.declare("1", false)), pause{}, "a schedule that comes back must not be paused unless it is declared so")
	e.changeSchedules(store.PauseSchedules, "s")
	e.changeSchedules(store.DeleteSchedules, "s")
	e.tick(time.Second)
	e.want(pauseOf(e.declare("1", true)), pause{e.now, true}, "a pause by hand must end with the schedule")
}

func putUndelete(e *env) {
	e.planned("s")
	job := e.ring("s")
	before := e.schedule("s")
	e.changeSchedules(store.PauseSchedules, "s")
	e.changeSchedules(store.DeleteSchedules, "s")
	e.tick(24 * time.Hour)
	res, err := e.tryPut(store.PutSchedulesRequest{Owner: "o", Schedules: []store.PutSchedule{{Name: "s", Definition: before.Definition}}})
	e.must(err)
	e.want(res.Changed, 1, "a schedule that comes back counts as changed")
	row := e.schedule("s")
	e.ok(row.Revision > before.Revision, "a schedule that comes back must get a greater revision", row.Revision, before.Revision)
	e.want(row, store.Schedule{
		ID: before.ID, Name: "s", Owner: "o", Revision: row.Revision, Definition: before.Definition, Anchor: e.now, Mark: e.now,
		NextAt: e.now, Fired: 1, CreatedAt: before.CreatedAt, UpdatedAt: e.now,
	}, "a schedule that comes back must keep number, counter and first put, with mark = max(mark, now), a new anchor, and not paused")
	e.want([]any{len(e.slots(store.ListRequest{Names: []string{"s"}})), e.job(job).ScheduleName}, []any{1, "s"}, "slots and jobs from before must stay")
}

func putUnsettled(e *env) {
	row := e.due("s")
	e.is(e.putAs("", "s", "changed"), store.ErrUnsettled, "a change of a schedule with a due slot that is not accounted for must be refused")
	e.want(e.schedule("s"), row, "a refused put must write nothing")
	e.tick(-time.Microsecond)
	e.is(e.putAs("", "s", "changed"), nil, "a schedule whose next slot is not due by the store's clock is settled")

	row = e.due("t")
	e.fire(ringing(row))
	e.is(e.putAs("", "t", "changed"), nil, "once the slot is accounted for, the change must succeed")
	e.put("u", "1")
	e.is(e.putAs("", "u", "2"), nil, "a schedule that was put at this very instant is settled")
	e.tick(time.Microsecond)
	e.is(e.putAs("", "u", "3"), store.ErrUnsettled, "a schedule that has not been planned since it was put may have due slots")
	e.plan("u")
	e.is(e.putAs("", "u", "3"), nil, "once they are accounted for, the change must succeed")
}

func putAllOrNone(e *env) {
	e.due("unsettled")
	e.must(e.putAs("other", "taken", "1"))
	before := e.schedules(store.ListRequest{Deleted: true})
	for bad, sentinel := range map[string]error{"unsettled": store.ErrUnsettled, "taken": store.ErrConflict} {
		for _, names := range [][]string{{"new", bad}, {bad, "new"}} {
			var puts []store.PutSchedule
			for _, name := range names {
				puts = append(puts, store.PutSchedule{Name: name, Definition: []byte("x")})
			}
			_, err := e.tryPut(store.PutSchedulesRequest{Schedules: puts})
			e.is(err, sentinel, "one refused schedule must refuse the whole put")
			e.want(e.schedules(store.ListRequest{Deleted: true}), before, "a refused put must write nothing at all")
		}
	}
}

func putMany(e *env) {
	const n = 1500
	var puts []store.PutSchedule
	for i := range n {
		puts = append(puts, store.PutSchedule{Name: fmt.Sprintf("s%04d", i*7919%n), Definition: fmt.Appendf(nil, `{"i":%d}`, i)})
	}
	res, err := e.tryPut(store.PutSchedulesRequest{Owner: "o", Schedules: puts, Sync: true})
	e.must(err)
	e.want([]int{len(res.Revisions), res.Changed}, []int{n, n}, "any number of schedules may be put at once")
	seen := map[string]store.Schedule{}
	for after := ""; ; {
		page := e.schedules(store.ListRequest{After: after, Limit: 700})
		if len(page) == 0 || len(seen) > 0 && after == page[len(page)-1].Name {
			break
		}
		for _, row := range page {
			seen[row.Name] = row
		}
		after = page[len(page)-1].Name
	}
	e.want(len(seen), n, "each schedule of a large put must be there")
	for i, put := range puts {
		row := seen[put.Name]
		if string(row.Definition) != string(put.Definition) || row.Revision != res.Revisions[i] {
			e.t.Fatalf("schedule %q of a large put must have its own definition and revision: %+v, want revision %d", put.Name, row, res.Revisions[i])
		}
	}
	puts[3].Definition = []byte("changed")
	res, err = e.tryPut(store.PutSchedulesRequest{Owner: "o", Schedules: puts[:n-2], Sync: true})
	e.must(err)
	e.want([]int{res.Changed, res.Deleted}, []int{1, 2}, "a large sync must change and delete what differs alone")
}

func putRace(e *env) {
	for i := range 15 {
		name := fmt.Sprint("s", i)
		var errs [2]error
		var results [2]store.PutSchedulesResult
		e.both(func(i int, client store.Backend) {
			results[i], errs[i] = client.PutSchedules(e.ctx, store.PutSchedulesRequest{
				Now: e.now, Owner: "o", Schedules: []store.PutSchedule{{Name: name, Definition: []byte("1")}},
			})
		})
		e.must(errors.Join(errs[:]...))
		e.want(results[0].Changed+results[1].Changed, 1, "of two equal puts at once, one must create the schedule and the other find it unchanged")
		e.want(results[0].Revisions, results[1].Revisions, "two equal puts at once must give one revision")
	}
}

func putLostUpdate(e *env) {
	row := e.put("s", "start")
	for round := range 20 {
		var errs [2]error
		e.both(func(i int, client store.Backend) {
			_, errs[i] = client.PutSchedules(e.ctx, store.PutSchedulesRequest{Now: e.now, Schedules: []store.PutSchedule{
				{Name: "s", Definition: fmt.Append(nil, round, "by", i), IfRevision: row.Revision},
			}})
		})
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		e.is(errs[winner], nil, "of two editors of one revision one must win")
		e.is(errs[1-winner], store.ErrConflict, "of two editors of one revision only one may win: a lost update must be refused")
		row = e.schedule("s")
		e.want(string(row.Definition), string(fmt.Append(nil, round, "by", winner)), "the winner's definition must be in place")
	}
}

func listSchedules(e *env) {
	for _, name := range []string{"b", "a", "ä", "B", "a b", "Z", "c"} {
		owner := ""
		if name < "a" {
			owner = "o"
		}
		e.must(e.putAs(owner, name, "1"))
	}
	e.changeSchedules(store.DeleteSchedules, "c")
	list := func(req store.ListRequest) []string { return scheduleNames(e.schedules(req)) }
	e.want(list(store.ListRequest{}), []string{"B", "Z", "a", "a b", "b", "ä"}, "schedules must be listed by name in byte order, without tombstones")
	e.want(list(store.ListRequest{Deleted: true}), []string{"B", "Z", "a", "a b", "b", "c", "ä"}, "tombstones must be listed on request")
	e.want(list(store.ListRequest{After: "Z", Limit: 2}), []string{"a", "a b"}, "a page must begin after After and end at Limit")
	owner, none := "o", ""
	e.want(list(store.ListRequest{Owner: &owner}), []string{"B", "Z"}, "schedules must be filtered by owner")
	e.want(list(store.ListRequest{Owner: &none}), []string{"a", "a b", "b", "ä"}, "the empty owner is an owner like others")
	e.want(list(store.ListRequest{Names: []string{"b", "Z", "nobody", "c"}}), []string{"Z", "b"}, "schedules must be found by name")
	e.want(list(store.ListRequest{Names: []string{"b", "Z"}, Owner: &owner}), []string{"Z"}, "all given conditions must hold")
	ids := []int64{e.schedule("a").ID, e.schedule("c").ID}
	e.want(list(store.ListRequest{IDs: ids}), []string{"a"}, "schedules must be found by number")
	e.want(list(store.ListRequest{IDs: ids, Deleted: true}), []string{"a", "c"}, "tombstones must be found by number")
}
