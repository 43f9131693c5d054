package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Audit stores who changed something: the transaction of a change stores its entry, so that
// an entry exists if and only if its change was committed.
//
// Each request that changes jobs, schedules or calendars by hand has the field By. A request
// whose By has no name, and a request that changes nothing, stores no entry. What nodes do by
// themselves, enqueues and outcomes store none.
type Audit interface {
	// RecordAudit stores an entry about a change outside of this store, such as the release
	// of a lock. A repetition stores another entry.
	RecordAudit(ctx context.Context, req RecordAuditRequest) error
}

// Actor is who makes a change, and from where. The zero value: the change is not recorded.
type Actor struct {
	Name   string // of a user or a program; at most MaxAuditText bytes
	Source string // an address, the name of a file, "cli", "program"; at most MaxAuditText bytes
}

// The words of AuditEntry.Action: the object and the verb of the change.
const (
	AuditJobsCancel        = "jobs cancel"
	AuditJobsRetry         = "jobs retry"
	AuditJobsDelete        = "jobs delete"
	AuditJobsMove          = "jobs move"
	AuditJobsReprioritise  = "jobs reprioritise"
	AuditJobsSignal        = "jobs signal"
	AuditSchedulesPut      = "schedules put"
	AuditSchedulesSync     = "schedules sync"
	AuditSchedulesPause    = "schedules pause"
	AuditSchedulesResume   = "schedules resume"
	AuditSchedulesDelete   = "schedules delete"
	AuditSchedulesReset    = "schedules reset"
	AuditSchedulesTrigger  = "schedules trigger"
	AuditSchedulesBackfill = "schedules backfill"
	AuditCalendarsPut      = "calendars put"
	AuditCalendarsDelete   = "calendars delete"
	AuditHandlersPut       = "handlers put"
	AuditHandlersDelete    = "handlers delete"
	AuditLimitsPut         = "limits put"
	AuditLimitsSync        = "limits sync"
	AuditLimitsDelete      = "limits delete"
	AuditGroupsPause       = "groups pause"
	AuditGroupsResume      = "groups resume"
	AuditQueuesPause       = "queues pause"
	AuditQueuesResume      = "queues resume"
	AuditKindsPause        = "kinds pause"
	AuditKindsResume       = "kinds resume"
	AuditKeysPause         = "keys pause"
	AuditKeysResume        = "keys resume"
	AuditEventsKeep        = "events keep"
	AuditHistoryAccept     = "history accept"
	AuditNodesForget       = "nodes forget"
	AuditLocksRelease      = "locks release"
)

// The kinds of subjects.
const (
	AuditJob      = "job" // the name of the subject is the number of the job
	AuditSchedule = "schedule"
	AuditCalendar = "calendar"
	AuditHandler  = "handler"
	AuditLimit    = "limit"
	AuditGroup    = "group"
	AuditQueue    = "queue"
	AuditKind     = "kind"
	AuditKey      = "key"
	AuditLock     = "lock"
)

// AuditKinds returns the kinds of subjects.
func AuditKinds() []string {
	return []string{AuditJob, AuditSchedule, AuditCalendar, AuditHandler, AuditLimit, AuditGroup, AuditQueue, AuditKind, AuditKey, AuditLock}
}

const (
	// MostAuditSubjects is how many subjects an entry has at most.
	MostAuditSubjects = 100
	// MaxAuditDetail is how many characters AuditEntry.Detail has at most.
	MaxAuditDetail = 1000
	// MaxAuditText is the greatest length of a name of an actor, and of a source, in bytes.
	MaxAuditText = 200
	// AuditKeep is how long entries are kept.
	AuditKeep = 90 * 24 * time.Hour
)

// AuditSubject is what a change concerns.
type AuditSubject struct {
	Kind string // one of AuditKinds
	Name string
}

// AuditEntry is the record of a change.
type AuditEntry struct {
	ID int64
	At time.Time // the store's clock when it was stored
	Actor
	Action string
	// Subjects are what was changed, in the order of the request: the first
	// MostAuditSubjects of them.
	Subjects []AuditSubject
	Count    int64 // how many jobs, schedules, … were changed; 0: the change has no subject
	// Detail is what was changed, in words, without arguments of jobs and other values
	// that may be secrets. It may be empty, and is at most MaxAuditDetail characters.
	Detail string
}

// Cursor returns the position of the entry in listings.
func (e AuditEntry) Cursor() Cursor { return Cursor{At: e.At, ID: e.ID} }

// RecordAuditRequest stores an entry.
type RecordAuditRequest struct {
	Now   time.Time
	Entry AuditEntry // ID and At mean nothing
}

// Recorded reports whether changes of the actor are recorded.
func (a Actor) Recorded() bool { return a.Name != "" }

// subjectsOf returns subjects of one kind, as many as an entry has.
func subjectsOf(kind string, names []string) []AuditSubject {
	names = names[:min(len(names), MostAuditSubjects)]
	subjects := make([]AuditSubject, len(names))
	for i, name := range names {
		subjects[i] = AuditSubject{kind, name}
	}
	return subjects
}

// entry returns an entry about subjects of one kind; nil: nothing is to be recorded.
func (a Actor) entry(action, kind string, names []string, detail string) *AuditEntry {
	if !a.Recorded() || len(names) == 0 {
		return nil
	}
	return &AuditEntry{Actor: a, Action: action, Subjects: subjectsOf(kind, names), Count: int64(len(names)), Detail: auditDetail(detail)}
}

// auditDetail returns the part of a text that an entry has.
func auditDetail(text string) string {
	if utf8.RuneCountInString(text) <= MaxAuditDetail {
		return text
	}
	return string([]rune(text)[:MaxAuditDetail-1]) + "…"
}

var jobActions = map[JobAction]string{
	CancelJobs: AuditJobsCancel, RetryJobs: AuditJobsRetry, DeleteJobs: AuditJobsDelete, MoveJobs: AuditJobsMove, ReprioritiseJobs: AuditJobsReprioritise,
}

// Entry returns the entry about a change of jobs; nil: nothing is to be recorded.
func (r ChangeJobsRequest) Entry(changes []JobChange) *AuditEntry {
	if !r.By.Recorded() {
		return nil
	}
	var names []string
	seen := map[int64]bool{}
	for _, c := range changes {
		if (c.Change == Changed || c.Change == Requested) && !seen[c.ID] {
			seen[c.ID] = true
			names = append(names, strconv.FormatInt(c.ID, 10))
		}
	}
	e := r.By.entry(jobActions[r.Action], AuditJob, names, r.detail())
	if e != nil && r.Schedule != "" {
		e.Subjects = slices.Insert(e.Subjects, 0, AuditSubject{AuditSchedule, r.Schedule})
		e.Subjects = e.Subjects[:min(len(e.Subjects), MostAuditSubjects)]
	}
	return e
}

// Entry returns the entry about a signal; nil: nothing is to be recorded.
func (r *SaveStepRequest) Entry(changed bool) *AuditEntry {
	if !changed || r.Token != 0 || r.Step.Sort != StepSignal {
		return nil
	}
	return r.By.entry(AuditJobsSignal, AuditJob, []string{strconv.FormatInt(r.Step.Job, 10)}, fmt.Sprintf("signal %q", r.Step.Name))
}

// detail returns the detail of the entry.
func (r ChangeJobsRequest) detail() string {
	var parts []string
	switch r.Action {
	case MoveJobs:
		parts = append(parts, fmt.Sprintf("to queue %q", r.Queue))
	case RetryJobs:
		if r.FromStep != "" {
			parts = append(parts, fmt.Sprintf("from step %q", r.FromStep))
		}
	case ReprioritiseJobs:
		parts = append(parts, fmt.Sprintf("priority %d", r.Priority))
	}
	if r.Schedule != "" {
		parts = append(parts, fmt.Sprintf("all jobs of schedule %q", r.Schedule))
	}
	if words := r.Match.words(); words != "" {
		parts = append(parts, "selected by "+words)
	}
	return strings.Join(parts, "; ")
}

// ScheduleEdit is what a put changes of one schedule.
type ScheduleEdit struct {
	Name          string
	Before, After []byte // definitions; nil: there was none, there is none any more
	From, To      int64  // revisions; 0: there was none, or the schedule is deleted
}

// Edit returns what a put is about to change of s, which is nil for a name that was never
// put, without the new revision.
func (s *Schedule) Edit(put PutSchedule) ScheduleEdit {
	edit := ScheduleEdit{Name: put.Name, After: put.Definition}
	if s.living() {
		edit.Before, edit.From = s.Definition, s.Revision
	}
	return edit
}

// Entry returns the entry about a put of schedules; nil: nothing is to be recorded.
func (r PutSchedulesRequest) Entry(edits []ScheduleEdit) *AuditEntry {
	if !r.By.Recorded() || len(edits) == 0 {
		return nil
	}
	action := AuditSchedulesPut
	if r.Sync {
		action = AuditSchedulesSync
	}
	sortEdits(edits)
	names, parts := make([]string, len(edits)), []string{}
	for i, edit := range edits {
		names[i] = edit.Name
		if i >= MostAuditSubjects {
			continue
		}
		text := edit.words(r.Fields)
		if len(edits) > 1 {
			text = edit.Name + ": " + text
		}
		parts = append(parts, text)
	}
	detail := strings.Join(parts, "; ")
	if r.Owner != "" {
		detail = fmt.Sprintf("owner %q; ", r.Owner) + detail
	}
	return r.By.entry(action, AuditSchedule, names, detail)
}

// sortEdits puts deleted schedules last, by their names, because a driver may find them in any order.
func sortEdits(edits []ScheduleEdit) {
	slices.SortStableFunc(edits, func(a, b ScheduleEdit) int {
		switch {
		case a.After == nil && b.After == nil:
			return strings.Compare(a.Name, b.Name)
		case a.After == nil:
			return 1
		case b.After == nil:
			return -1
		}
		return 0
	})
}

// words returns what was changed in words.
func (e ScheduleEdit) words(fields func(before, after []byte) []string) string {
	switch {
	case e.After == nil:
		return "deleted"
	case e.Before == nil:
		return fmt.Sprintf("created, revision %d", e.To)
	}
	text := fmt.Sprintf("revision %d to %d", e.From, e.To)
	if fields == nil {
		return text
	}
	if changed := fields(e.Before, e.After); len(changed) > 0 {
		text = "changed " + strings.Join(changed, ", ") + ", " + text
	}
	return text
}

var scheduleActions = map[ScheduleAction]string{
	PauseSchedules: AuditSchedulesPause, ResumeSchedules: AuditSchedulesResume, DeleteSchedules: AuditSchedulesDelete, ResetSchedules: AuditSchedulesReset,
}

// Entry returns the entry about the schedules that a request changes; nil: nothing is to be
// recorded.
func (r ChangeSchedulesRequest) Entry(changed []string) *AuditEntry {
	return r.By.entry(scheduleActions[r.Action], AuditSchedule, changed, untilWords(r.Until))
}

// untilWords returns the end of a pause in words.
func untilWords(until time.Time) string {
	if until.IsZero() {
		return ""
	}
	return "until " + until.UTC().Format(time.RFC3339)
}

// CalendarsEntry returns the entry about calendars that a put creates or changes, which may be given in any
// order; nil: nothing is to be recorded.
func (r PutRequest) CalendarsEntry(changed []string, revised int) *AuditEntry {
	detail := ""
	if revised > 0 {
		detail = fmt.Sprintf("schedules that name it: %d", revised)
	}
	names := slices.DeleteFunc(CalendarNames(r.Calendars), func(name string) bool { return !slices.Contains(changed, name) })
	return r.By.entry(AuditCalendarsPut, AuditCalendar, names, detail)
}

// deletions are what deleted definitions are called, and the actions that delete them.
var deletions = map[Subject]struct{ action, kind string }{
	OfCalendars: {AuditCalendarsDelete, AuditCalendar}, OfHandlers: {AuditHandlersDelete, AuditHandler}, OfLimits: {AuditLimitsDelete, AuditLimit},
}

// Entry returns the entry about deleted definitions; nil: nothing is to be recorded.
func (r DeleteRequest) Entry() *AuditEntry {
	switch {
	case r.Of == OfPauses:
		return r.By.entry(pauseActions[r.Subject][1], r.Subject.String(), r.Names, "")
	case r.Of == OfNodes && r.By.Recorded() && len(r.Names) > 0:
		return &AuditEntry{Actor: r.By, Action: AuditNodesForget, Detail: auditDetail("host " + strings.Join(r.Names, ", "))}
	}
	return r.By.entry(deletions[r.Of].action, deletions[r.Of].kind, r.Names, "")
}

// HandlerEntry returns the entry about a handler that is created or changed; nil: nothing is to be
// recorded.
func (r PutRequest) HandlerEntry(h Handler) *AuditEntry {
	return r.By.entry(AuditHandlersPut, AuditHandler, []string{h.Name}, "on "+strings.Join(h.On.Names(), ", "))
}

// LimitsEntry returns the entry about limits that a put creates or changes; nil: nothing is to be
// recorded.
func (r PutRequest) LimitsEntry(change LimitChange) *AuditEntry {
	return r.By.limitsEntry(AuditLimitsPut, change)
}

// LimitsEntry returns the entry about limits that a put of schedules changes; nil: nothing is to
// be recorded.
func (r PutSchedulesRequest) LimitsEntry(change LimitChange) *AuditEntry {
	if r.Sync {
		return r.By.limitsEntry(AuditLimitsSync, change)
	}
	return r.By.limitsEntry(AuditLimitsPut, change)
}

func (a Actor) limitsEntry(action string, change LimitChange) *AuditEntry {
	var parts []string
	for i := range change.Write {
		parts = append(parts, change.Write[i].Name+": "+change.Write[i].Words())
	}
	deleted := change.Deleted()
	for _, name := range deleted {
		parts = append(parts, name+": deleted")
	}
	return a.entry(action, AuditLimit, append(LimitNames(change.Write), deleted...), strings.Join(parts, "; "))
}

// pauseActions are the actions that pause a subject, and that resume it.
var pauseActions = map[PauseSubject][2]string{
	SubjectGroup: {AuditGroupsPause, AuditGroupsResume}, SubjectQueue: {AuditQueuesPause, AuditQueuesResume}, SubjectKind: {AuditKindsPause, AuditKindsResume},
	SubjectKey: {AuditKeysPause, AuditKeysResume},
}

// PauseEntry returns the entry about a pause; nil: nothing is to be recorded.
func (r PutRequest) PauseEntry(p PutPause) *AuditEntry {
	cancels := ""
	if p.CancelRunning {
		cancels = "running jobs are cancelled"
	}
	parts := slices.DeleteFunc([]string{untilWords(p.Until), cancels, p.Reason}, func(part string) bool { return part == "" })
	return r.By.entry(pauseActions[p.Subject][0], p.Subject.String(), []string{p.Name}, strings.Join(parts, "; "))
}

// FeedEntry returns the entry about the setting of the feed; nil: nothing is to be recorded.
func (r PutRequest) FeedEntry() *AuditEntry {
	if !r.By.Recorded() {
		return nil
	}
	detail := "off"
	if r.Feed.Keep > 0 {
		detail = r.Feed.Keep.String()
	}
	return &AuditEntry{Actor: r.By, Action: AuditEventsKeep, Detail: detail}
}

// Entry returns the entry about the acceptance; nil: nothing is to be recorded.
func (r AcceptLossRequest) Entry() *AuditEntry {
	if !r.By.Recorded() {
		return nil
	}
	return &AuditEntry{Actor: r.By, Action: AuditHistoryAccept}
}

// Entry returns the entry about jobs that were made for a schedule by hand; nil: nothing is
// to be recorded.
func (r InsertRequest) Entry(inserted []Inserted) *AuditEntry {
	if !r.By.Recorded() || len(inserted) == 0 {
		return nil
	}
	action, detail := AuditSchedulesTrigger, ""
	if first := r.Jobs[0]; first.Origin.Backfills() {
		action = AuditSchedulesBackfill
		detail = fmt.Sprintf("slots from %s to %s", first.Slot.UTC().Format(time.RFC3339), r.Jobs[len(r.Jobs)-1].Slot.UTC().Format(time.RFC3339))
		if first.Origin.SetsOff() {
			detail += ", with dependents"
		}
	}
	names := make([]string, len(inserted))
	for i, job := range inserted {
		names[i] = strconv.FormatInt(job.ID, 10)
	}
	e := r.By.entry(action, AuditJob, names, detail)
	e.Subjects = append([]AuditSubject{{AuditSchedule, r.Of}}, e.Subjects...)
	e.Subjects = e.Subjects[:min(len(e.Subjects), MostAuditSubjects)]
	return e
}

// Bounded returns the entry within its bounds.
func (r RecordAuditRequest) Bounded() AuditEntry {
	e := r.Entry
	e.Detail = auditDetail(e.Detail)
	e.Subjects = e.Subjects[:min(len(e.Subjects), MostAuditSubjects)]
	return e
}
