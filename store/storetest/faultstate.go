package storetest

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

// everything returns a text of all that the store lists, and a text of this and of an answer. Two stores in which the same has happened
// have the same texts: numbers that a store gives are replaced by their ranks.
func (e *env) everything(answer any) (stored, whole string) {
	e.t.Helper()
	type lists struct {
		Jobs      []store.JobInfo
		Links     []store.Link
		Batches   []store.Batch
		Schedules []store.Schedule
		Ends      []store.ScheduleEnd
		Owners    []store.Owner
		Slots     []store.SlotInfo
		Calendars []store.Calendar
		Groups    []store.GroupInfo
		Pauses    []store.Pause
		Handlers  []store.Handler
		Limits    []store.LimitInfo
		Waits     []store.LimitWait
		Nodes     []store.NodeInfo
		Claims    []nodeClaims
		Queues    []store.QueueInfo
		Kinds     []store.KindInfo
		Output    []store.JobOutput
		Accepted  int64
		LostAt    time.Time
		Kept      time.Duration
		Events    []store.Event
		Audit     []store.AuditEntry
		Stats     [][]store.StatsRow
		Steps     []store.Step
	}
	var all lists
	var err error
	read := func(errOf error) { e.t.Helper(); e.must(errOf) }
	all.Jobs = e.list(store.ListJobsRequest{Attempts: true, Limit: 10_000})
	var ids []int64
	for _, j := range all.Jobs {
		ids = append(ids, j.ID)
		if j.State == store.StateRunning {
			output, err := e.b.ReadOutput(e.ctx, store.ReadOutputRequest{ID: j.ID})
			read(err)
			all.Output = append(all.Output, output)
		}
	}
	if len(ids) > 0 {
		all.Links, err = store.List[store.Link](e.ctx, e.b, store.ListRequest{IDs: ids, Limit: 10_000})
		read(err)
		all.Steps, err = store.List[store.Step](e.ctx, e.b, store.ListRequest{IDs: ids})
		read(err)
		all.Waits, err = store.List[store.LimitWait](e.ctx, e.b, store.ListRequest{Now: e.now, IDs: ids})
		read(err)
	}
	all.Batches, err = store.List[store.Batch](e.ctx, e.b, store.ListRequest{Limit: 1000})
	read(err)
	all.Schedules = e.schedules(store.ListRequest{Deleted: true})
	var scheduled []int64
	for i, row := range all.Schedules {
		scheduled = append(scheduled, row.ID)
		all.Schedules[i] = withoutRemains(row)
	}
	if len(scheduled) > 0 {
		all.Ends, err = store.List[store.ScheduleEnd](e.ctx, e.b, store.ListRequest{IDs: scheduled, Limit: 1000})
		read(err)
	}
	all.Owners, err = store.List[store.Owner](e.ctx, e.b, store.ListRequest{Limit: 1000})
	read(err)
	all.Slots = e.slots(store.ListRequest{})
	all.Calendars = e.calendars(store.ListRequest{})
	all.Groups = e.groups("")
	all.Pauses, err = store.List[store.Pause](e.ctx, e.b, store.ListRequest{Now: e.now})
	read(err)
	all.Handlers, err = store.List[store.Handler](e.ctx, e.b, store.ListRequest{})
	read(err)
	all.Limits, err = store.List[store.LimitInfo](e.ctx, e.b, store.ListRequest{Now: e.now, Lanes: 100})
	read(err)
	all.Nodes, err = store.List[store.NodeInfo](e.ctx, e.b, store.ListRequest{})
	read(err)
	for _, node := range all.Nodes {
		for _, req := range []store.ClaimsRequest{{}, {Cancelled: true}, {Paused: true}} {
			req.Now, req.Node = e.now, node.ID
			refs, err := e.b.Claims(e.ctx, req)
			read(err)
			all.Claims = append(all.Claims, nodeClaims{node.ID, req.Cancelled, req.Paused, refs})
		}
	}
	all.Queues, err = store.List[store.QueueInfo](e.ctx, e.b, store.ListRequest{Now: e.now})
	read(err)
	all.Kinds, err = store.List[store.KindInfo](e.ctx, e.b, store.ListRequest{Now: e.now})
	read(err)
	position := e.position()
	all.Accepted, all.LostAt = position.Accepted, position.LostAt
	kept, err := e.b.ListEvents(e.ctx, store.ListEventsRequest{Limit: 1})
	read(err)
	all.Kept = kept.Keep
	all.Events = e.feed()
	all.Audit = e.audit(store.ListRequest{})
	for _, span := range store.StatsSpans() {
		all.Stats = append(all.Stats, e.stats(span.Span, e.now.AddDate(-1, 0, 0), e.now.AddDate(1, 0, 0)))
	}
	return ranked(all), ranked(all, answer)
}

// nodeClaims are what Claims returns for a node.
type nodeClaims struct {
	Node              int64
	Cancelled, Paused bool
	Refs              []store.ClaimRef
}

// numbered are the fields with numbers that a store gives, by type and name, and what they number. An empty text leaves the field out,
// because the field differs from store to store, or counts a repetition, as the heartbeats of a node do.
var numbered = map[string]string{
	"JobInfo.ID": "job", "Inserted.ID": "job", "Claimed.ID": "job", "ClaimRef.ID": "job", "Edge.Job": "job", "Link.Dependent": "job",
	"Batch.Finally": "job", "FiredSlot.Job": "job", "SlotInfo.Job": "job", "SlotInfo.After": "job", "Event.Job": "job", "RescuedJob.ID": "job",
	"JobChange.ID": "job", "JobChange.Holder": "job", "LimitWait.Job": "job", "Ended.ID": "job", "FireResult.Superseded": "job",
	"FireResult.Asked": "job", "BeginResult.Paused": "job", "DuplicateError.ID": "job", "Step.Job": "job",
	"JobInfo.Token": "token", "Attempt.Token": "token", "ClaimRef.Token": "token", "Claimed.Token": "token", "RescuedJob.Token": "token",
	"JobOutput.Token": "", "JobOutput.Last": "", "JobInfo.Schedule": "schedule", "Claimed.Schedule": "schedule",
	"Schedule.ID": "schedule", "FiredSlot.Schedule": "schedule",
	"SkippedSlot.Schedule": "schedule", "SlotInfo.Schedule": "schedule", "Event.Schedule": "schedule", "ScheduleEnd.Schedule": "schedule",
	"FireResult.Lost": "schedule", "FireResult.Busy": "schedule",
	"Schedule.Revision": "revision", "Calendar.Revision": "revision", "Limit.Revision": "revision", "PutSchedulesResult.Revisions": "revision",
	"PutResult.Revisions": "revision", "ClaimResult.LimitRevision": "revision",
	"QueuePermits.Revision": "revision",
	"NodeInfo.Beats":        "",
	"NodeInfo.ID":           "node", "RegisterResult.Node": "node", "RescuedJob.Node": "node", "nodeClaims.Node": "node",
	"JobSpec.Batch": "batch", "Batch.ID": "batch", "InsertResult.Batch": "batch",
	"SlotInfo.ID": "", "Limit.ID": "", "AuditEntry.ID": "", "ChangeJobsResult.EntryID": "",
	"ClaimResult.Batch": "", "ClaimResult.StartsFrom": "", "Event.Cursor": "", "ListEventsResult.Next": "", "ListEventsResult.Held": "",
	"RegisterResult.Position": "", "HeartbeatResult.Position": "", "Position.Store": "", "Position.Token": "", "Position.Node": "",
}

// numbersInTexts are the numbers of jobs in reasons and headers, of batches in steps, and of revisions in entries of the audit.
var numbersInTexts = []struct {
	sort  string
	found *regexp.Regexp // the number is what follows the first group
}{
	{"job", regexp.MustCompile(`(\bjob |\\?"job\\?":)\d+`)},
	{"batch", regexp.MustCompile(`(\\?"batch\\?":)\d+`)},
	{"revision", regexp.MustCompile(`(\brevision )\d+`)},
	{"revision", regexp.MustCompile(`(\brevision #\d+ to )\d+`)},
}

// ranked returns a text of values in which each number that a store gives is its rank among the numbers of its sort, and in which
// the elements of lists are sorted.
func ranked(values ...any) string {
	r := &ranks{numbers: map[string][]int64{}}
	for range 2 { // at first for the numbers
		r.text.Reset()
		for _, value := range values {
			r.text.WriteString(r.value(reflect.ValueOf(value), "", "top"))
			r.text.WriteString("\n")
		}
		for _, list := range r.numbers {
			slices.Sort(list)
		}
		r.known = true
	}
	return r.text.String()
}

type ranks struct {
	numbers map[string][]int64 // by sort
	known   bool               // the numbers have been collected
	job     int64              // whose token is next
	text    strings.Builder
}

// rank returns the rank of a number.
func (r *ranks) rank(sort string, number int64) string {
	if number == 0 {
		return "0"
	}
	if sort == "token" { // tokens grow for each job
		sort = fmt.Sprint("token of job ", r.job)
	}
	at, found := slices.BinarySearch(r.numbers[sort], number)
	if !r.known {
		if !slices.Contains(r.numbers[sort], number) {
			r.numbers[sort] = append(r.numbers[sort], number)
		}
		return "#0"
	}
	if !found {
		return fmt.Sprint("unknown ", sort)
	}
	return fmt.Sprint("#", at+1)
}

func (r *ranks) value(v reflect.Value, sort, at string) string {
	if !v.IsValid() {
		return "none"
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "none"
		}
		return r.value(v.Elem(), sort, at)
	case reflect.Struct:
		return r.structure(v, at)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return r.named(string(v.Bytes()))
		}
		var parts []string
		for i := range v.Len() {
			parts = append(parts, r.value(v.Index(i), sort, "in "+at))
		}
		slices.Sort(parts)
		if strings.HasPrefix(at, "of ") {
			return strings.Join(parts, "\n")
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Map:
		var parts []string
		for _, key := range v.MapKeys() {
			parts = append(parts, fmt.Sprint(key, ":", r.value(v.MapIndex(key), "", "in "+at)))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, " ") + "}"
	case reflect.String:
		return r.named(v.String())
	case reflect.Int64:
		if sort != "" {
			return r.rank(sort, v.Int())
		}
	}
	return fmt.Sprint(v.Interface())
}

// named replaces the numbers in a text.
func (r *ranks) named(text string) string {
	for _, numbers := range numbersInTexts {
		text = numbers.found.ReplaceAllStringFunc(text, func(found string) string {
			before := numbers.found.FindStringSubmatch(found)[1]
			number, err := strconv.ParseInt(found[len(before):], 10, 64)
			if err != nil {
				return found
			}
			return before + r.rank(numbers.sort, number)
		})
	}
	return strconv.Quote(text)
}

// structure returns the fields of a struct that are not zero. Each element of a list of the store has a line of its own.
func (r *ranks) structure(v reflect.Value, at string) string {
	if instant, ok := v.Interface().(time.Time); ok {
		return instant.UTC().Format(time.RFC3339Nano)
	}
	if subject, ok := v.Interface().(store.AuditSubject); ok {
		return r.subject(subject)
	}
	name := v.Type().Name()
	if id := v.FieldByName("ID"); id.IsValid() && numbered[name+".ID"] == "job" {
		r.job = id.Int()
	}
	var parts []string
	for i := range v.NumField() {
		field := v.Type().Field(i)
		sort, known := numbered[name+"."+field.Name]
		if v.Field(i).IsZero() || known && sort == "" {
			continue
		}
		inside := "field"
		if at == "top" {
			inside = "of " + field.Name
		}
		if text := r.value(v.Field(i), sort, inside); at != "top" {
			parts = append(parts, field.Name+":"+text)
		} else {
			parts = append(parts, field.Name+": "+strings.ReplaceAll(text, "\n", "\n"+field.Name+": "))
		}
	}
	if at == "top" {
		return strings.Join(parts, "\n")
	}
	return cmp.Or(name, "struct") + "{" + strings.Join(parts, " ") + "}"
}

// subject returns the subject of an entry of the audit.
func (r *ranks) subject(s store.AuditSubject) string {
	if number, err := strconv.ParseInt(s.Name, 10, 64); err == nil {
		return s.Kind + " " + r.rank(s.Kind, number)
	}
	return s.Kind + " " + s.Name
}
