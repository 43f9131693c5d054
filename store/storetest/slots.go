package storetest

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

var slotTests = []scenario{
	{"Range", slotsRange},
	{"Pages", slotsPages},
	{"OfADeletedSchedule", slotsDeleted},
	{"JobState", slotsJobState},
	{"NewestOfEach", slotsNewest},
}

// slotsJobState follows the job of a slot through its states, until it is deleted.
func slotsJobState(e *env) {
	n := e.node("n")
	row := e.due("s")
	res := e.fire(ringing(row))
	job := res.Fired[0].Job
	slot := func() store.SlotInfo { return e.slots(store.ListRequest{Names: []string{"s"}})[0] }
	is := func(want store.State, kept bool, why string) {
		e.t.Helper()
		got := slot()
		e.want(got.Job, job, "the job of the slot")
		e.want(got.JobKept, kept, why)
		e.want(got.JobState, want, why)
	}
	is(store.StateReady, true, "a job that has not begun is ready")
	c := e.claimOne(n)
	e.want(c.ID, job, "the job of the slot is claimed")
	is(store.StateRunning, true, "a job that is claimed is running")
	e.finishWell(outcome(c, store.Failed))
	is(store.StateFailed, true, "a job that failed has failed")
	e.want(e.changeOne(store.DeleteJobs, job), store.Changed, "the job is deleted")
	is(0, false, "a job that was deleted is not kept")
}

// slotsNewest lists the newest records of several schedules.
func slotsNewest(e *env) {
	for _, name := range []string{"s", "t", "u", "v"} {
		e.put(name, "1")
	}
	e.account("s", missed(0, 9), missed(10, 10), missed(20, 29))
	e.account("t", missed(5, 5))
	e.account("v", missed(7, 7), missed(8, 8))
	var got []string
	id := func(name string) int64 { return e.schedule(name).ID }
	for _, s := range e.slots(store.ListRequest{IDs: []int64{id("v"), id("u"), id("s"), 1 << 40}, Limit: 2}) {
		got = append(got, fmt.Sprint(s.ScheduleName, int(s.Slot.Sub(epoch)/time.Minute)))
	}
	e.want(got, []string{"v8", "v7", "s20", "s10"}, "of each schedule the newest records, in the order of the request")
}

// account records slots of a schedule, from one time to another.
func (e *env) account(name string, records ...store.SlotRecord) {
	e.t.Helper()
	f := firing(e.schedule(name), e.now, e.now)
	f.Slots = records
	if res := e.fire(f); len(res.Slots) != len(records) {
		e.t.Fatalf("records must be recorded: %+v", res)
	}
}

// missed returns a record of the slots between two minutes after the epoch.
func missed(from, to int) store.SlotRecord {
	at := func(m int) time.Time { return epoch.Add(time.Duration(m) * time.Minute) }
	return store.SlotRecord{Slot: at(from), Last: at(to), Count: int64(to - from + 1), Outcome: store.SlotMissed, Reason: "m"}
}

func slotsRange(e *env) {
	e.put("s", "1")
	e.put("t", "1")
	e.account("s", missed(0, 9), missed(10, 10), missed(20, 29))
	e.account("t", missed(5, 5))
	at := func(m int) time.Time { return epoch.Add(time.Duration(m) * time.Minute) }
	for _, c := range []struct {
		req  store.ListRequest
		want []int
	}{
		{store.ListRequest{}, []int{20, 10, 5, 0}},
		{store.ListRequest{Names: []string{"s"}}, []int{20, 10, 0}},
		{store.ListRequest{Names: []string{"nobody"}}, nil},
		{store.ListRequest{Names: []string{"s"}, From: at(9)}, []int{20, 10, 0}},
		{store.ListRequest{Names: []string{"s"}, From: at(9).Add(time.Microsecond)}, []int{20, 10}},
		{store.ListRequest{From: at(29)}, []int{20}},
		{store.ListRequest{From: at(29).Add(time.Microsecond)}, nil},
		{store.ListRequest{To: at(20)}, []int{10, 5, 0}},
		{store.ListRequest{To: at(20).Add(time.Microsecond)}, []int{20, 10, 5, 0}},
		{store.ListRequest{From: at(6), To: at(15)}, []int{10, 0}},
		{store.ListRequest{Limit: 2}, []int{20, 10}},
	} {
		var got []int
		for _, s := range e.slots(c.req) {
			got = append(got, int(s.Slot.Sub(epoch)/time.Minute))
		}
		e.want(got, c.want, "records that end at or after From and begin before To, newest first: "+show(c.req))
	}
}

func slotsPages(e *env) {
	for i := range 4 {
		name := fmt.Sprint("s", i)
		e.put(name, "1")
		e.account(name, missed(0, 0), missed(1, 1), missed(2, 2))
	}
	all := e.slots(store.ListRequest{})
	e.want(len(all), 12, "all records are listed")
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		e.ok(a.Slot.After(b.Slot) || a.Slot.Equal(b.Slot) && a.ID > b.ID, "records must be listed by slot, then number, both descending", a, b)
	}
	for _, size := range []int{1, 3, 5, 12} {
		var got []store.SlotInfo
		var cursor store.Cursor
		for {
			page := e.slots(store.ListRequest{Before: cursor, Limit: size})
			if len(page) == 0 || len(got) > len(all) {
				break
			}
			got = append(got, page...)
			last := page[len(page)-1]
			cursor = last.Cursor()
		}
		e.want(got, all, "pages must give every record once, in order, also where many have the same slot")
	}
}

func slotsDeleted(e *env) {
	e.put("s", "1")
	e.account("s", missed(0, 0))
	e.changeSchedules(store.DeleteSchedules, "s")
	got := e.slots(store.ListRequest{Names: []string{"s"}})
	e.want([]any{len(got), got[0].ScheduleName}, []any{1, "s"}, "records of a deleted schedule must stay, under its name")
}
