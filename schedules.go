package hourbell

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/fire"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// ScheduleService keeps schedules: Client.Schedules. Concurrent calls are
// allowed.
//
// Calls that change schedules take InTx. An edit in a transaction counts from the
// instant of the transaction's first edit. It is in effect on every node within a
// second after the commit; a slot of the old definition that has fired ahead may
// still begin in that second.
type ScheduleService struct{ client *Client }

// Put creates or replaces one schedule. The schedule that it returns has the new revision. It
// is in effect on every node within a second: when Put returns, no slot of the
// old definition is still to come. With a Revision the call is refused
// (ErrConflict) if the schedule was changed after that revision was read, and
// with the revision OnlyNew if a schedule has the name. An edit keeps the schedule's anchor and never fires a slot twice. Slots that are
// due already are accounted for under the old definition first. What of its rule is
// probably a mistake (recur.Spec.Warnings) is logged, as the event ScheduleDoubtful. The
// options are InTx and RunOnStart.
func (s *ScheduleService) Put(ctx context.Context, schedule Schedule, options ...Option) (saved Saved[Schedule], err error) {
	onStart, err := s.onStart(options)
	if err != nil {
		return saved, fmt.Errorf("put schedule %q: %w", check.Shorten(schedule.Name), err)
	}
	res, err := s.put(ctx, options, putOneOptions, store.PutSchedulesRequest{Owner: schedule.Owner}, []Schedule{schedule})
	if err != nil {
		return saved, puttingOne("schedule", schedule.Name, err)
	}
	if onStart {
		if err := s.runOnStart(ctx, schedule.Name); err != nil {
			return saved, fmt.Errorf("run schedule %q on start: %w", check.Shorten(schedule.Name), err)
		}
	}
	for _, w := range schedule.Rule.Warnings() {
		s.client.relay.send(event.Event{Kind: event.ScheduleDoubtful, Time: time.Now(), Schedule: schedule.Name, Detail: w.Error()})
	}
	schedule, _ = schedule.withKind() // which put has checked
	schedule = schedule.withDefaults()
	schedule.Revision = res.Revisions[0]
	return Saved[Schedule]{schedule, schedule.Revision, res.Changed > 0}, nil
}

// calling returns the error of a call with the name of the call before it, unless the error begins with the name already, or, of a
// call for several rows, with the same call for one row: a store names its calls, too.
func calling(call string, err error) error {
	if text := err.Error(); strings.HasPrefix(text, call+": ") || strings.HasPrefix(text, strings.TrimSuffix(call, "s")+` "`) {
		return err
	}
	return fmt.Errorf("%s: %w", call, err)
}

// puttingOne returns the error of a put of one row with a name, as calling does. A store that names a put of several rows and the
// row is taken to say the same.
func puttingOne(what, name string, err error) error {
	call, text := fmt.Sprintf("put %s %q", what, check.Shorten(name)), err.Error()
	for _, said := range []string{call, fmt.Sprintf("put %ss", what), fmt.Sprintf("%s %q", what, name)} {
		text = strings.TrimPrefix(text, said+": ")
	}
	return &textError{call + ": " + text, err}
}

// withoutCall returns the error of a store without the name of the call that it begins with, where the caller names another call.
func withoutCall(call string, err error) error {
	if text, named := strings.CutPrefix(err.Error(), call+": "); named {
		return &textError{text, err}
	}
	return err
}

// textError is an error of a store with another text.
type textError struct {
	text string
	err  error
}

func (e *textError) Error() string { return e.text }
func (e *textError) Unwrap() error { return e.err }

// PutAll creates or replaces any number of schedules of one owner, all or none.
// Other schedules of that owner do not change. A revision other than 0 is
// compared and stored as by Sync.
func (s *ScheduleService) PutAll(ctx context.Context, owner string, revision int64, schedules []Schedule, options ...Option) (SyncResult, error) {
	res, err := s.put(ctx, options, putOptions, store.PutSchedulesRequest{Owner: owner, SyncRevision: revision}, schedules)
	if err != nil {
		return SyncResult{}, calling("put schedules", err)
	}
	return syncResult(res, len(schedules)), nil
}

// SyncResult counts the changes of a Sync.
type SyncResult struct {
	Changed   int // created or changed
	Unchanged int
	Deleted   int
	// Limits counts the limits of the option Limits.
	Limits struct{ Changed, Deleted int }
}

func syncResult(res store.PutSchedulesResult, schedules int) SyncResult {
	out := SyncResult{Changed: res.Changed, Unchanged: schedules - res.Changed, Deleted: res.Deleted}
	out.Limits.Changed, out.Limits.Deleted = res.LimitsChanged, res.LimitsDeleted
	return out
}

// Sync makes an owner's set of schedules equal to the given set, in one
// transaction: missing schedules are deleted, and unchanged schedules keep
// their row, anchor and mark. A revision less than the revision of the owner's
// last Sync is refused (ErrStale), so that an old deployment never undoes a
// newer deployment; always use 0 if the order does not matter. With the option Limits the
// owner's limits are part of the set.
func (s *ScheduleService) Sync(ctx context.Context, owner string, revision int64, schedules []Schedule, options ...Option) (SyncResult, error) {
	if err := checkOwner(owner); err != nil {
		return SyncResult{}, fmt.Errorf("sync schedules: %w", err)
	}
	res, err := s.put(ctx, options, putOptions, store.PutSchedulesRequest{Owner: owner, Sync: true, SyncRevision: revision}, schedules)
	if err != nil {
		return SyncResult{}, fmt.Errorf("sync schedules of %q: %w", owner, err)
	}
	return syncResult(res, len(schedules)), nil
}

// put validates, encodes and stores schedules of the request's owner.
func (s *ScheduleService) put(ctx context.Context, options []Option, takes optionSet, req store.PutSchedulesRequest,
	schedules []Schedule,
) (store.PutSchedulesResult, error) {
	tx, limits, err := puts(options, takes)
	if err != nil {
		return store.PutSchedulesResult{}, err
	}
	if limits != nil {
		if req.Limits, err = limitRows(limits); err != nil {
			return store.PutSchedulesResult{}, err
		}
	}
	req.Tx, req.By, req.Fields = tx, s.client.actor(ctx), plan.ChangedFields
	req.Schedules = make([]store.PutSchedule, len(schedules))
	names, definitions := make([]string, len(schedules)), make([]plan.Definition, len(schedules))
	seen, every := make(map[string]bool, len(schedules)), map[string]bool{}
	var errs []error
	for i, schedule := range schedules {
		schedule.Owner = req.Owner
		definition, err := schedule.encode()
		if err != nil {
			if takes != putOneOptions { // Put names its schedule itself
				err = fmt.Errorf("schedule %q: %w", check.Shorten(schedule.Name), err)
			}
			errs = append(errs, err)
			continue
		}
		if seen[schedule.Name] {
			errs = append(errs, &check.FieldError{
				Field: "name", Value: check.Shorten(schedule.Name), Problem: "is given twice",
				Remedy: "give each schedule a name of its own",
			})
			continue
		}
		seen[schedule.Name] = true
		names[i], definitions[i] = schedule.Name, definition
		req.Schedules[i] = store.PutSchedule{
			Name: schedule.Name, Calendars: definition.StoredNames(), After: definition.Predecessors(), IfRevision: schedule.Revision, Paused: schedule.Paused,
		}
		if definition.On.Every { // the schedules of its hosts follow, and it has no jobs
			every[schedule.Name], req.Schedules[i].After = true, nil
		}
	}
	if err := check.Join(errs...); err != nil {
		return store.PutSchedulesResult{}, err
	}
	if slices.ContainsFunc(definitions, plan.Definition.Follows) {
		if err := s.checkCircle(ctx, tx, names, definitions); err != nil {
			return store.PutSchedulesResult{}, err
		}
	}
	var res store.PutSchedulesResult
	err = s.client.definitionsThrough(ctx, names, definitions, func(ctx context.Context) (err error) {
		for i, definition := range definitions {
			req.Schedules[i].Group = definition.Group
			if req.Schedules[i].Definition, err = definition.Encode(); err != nil {
				return err
			}
		}
		err = s.client.settler(tx).Change(ctx, names, func() (edited []string, err error) {
			res, err = s.client.backend.PutSchedules(ctx, req)
			return res.Edited, err
		})
		if err != nil {
			return err
		}
		return s.spread(ctx, tx, res.Edited, func(name string) bool { return every[name] })
	})
	if errors.Is(err, store.ErrNotFound) {
		err = cmp.Or(s.client.Calendars.missing(ctx, schedules), err)
	}
	return res, err
}

// ScheduleFilter selects schedules. The zero value selects all.
type ScheduleFilter struct {
	Names    []string // only schedules with these names; empty: all
	Owner    *string  // nil: any owner
	Calendar string   // only schedules that exclude the store's calendar with this name; empty: all
	Group    string   // only schedules of this group; empty: all
	After    string   // only names after this name, in byte order: the last name of the previous page
	Limit    int      // rows of a page; default 100
	Deleted  bool     // includes deleted schedules
}

const defaultPage = 100

// List returns schedules by name, a page at a time.
func (s *ScheduleService) List(ctx context.Context, f ScheduleFilter) ([]ScheduleInfo, error) {
	err := check.Join(checkIfGiven("after", f.After), checkIfGiven("calendar", f.Calendar), checkIfGiven("group", f.Group))
	for _, name := range f.Names {
		err = check.Join(err, check.StoredName("name", name))
	}
	if f.Owner != nil {
		err = check.Join(err, checkIfGiven("owner", *f.Owner))
	}
	if err != nil {
		return nil, fmt.Errorf("list schedules: %w", err)
	}
	return s.list(ctx, store.ListRequest{
		Names: f.Names, Owner: f.Owner, Calendar: f.Calendar, Group: f.Group, After: f.After, Limit: pageSize(f.Limit), Deleted: f.Deleted,
	})
}

// Get returns the schedule with that name, or ErrNotFound.
func (s *ScheduleService) Get(ctx context.Context, name string) (ScheduleInfo, error) {
	if err := check.StoredName("name", name); err != nil {
		return ScheduleInfo{}, fmt.Errorf("read schedule: %w", err)
	}
	found, err := s.list(ctx, store.ListRequest{Names: []string{name}, Limit: 1})
	if err != nil {
		return ScheduleInfo{}, err
	}
	if len(found) == 0 {
		return ScheduleInfo{}, fmt.Errorf("schedule %q: %w", name, ErrNotFound)
	}
	return found[0], nil
}

func (s *ScheduleService) list(ctx context.Context, req store.ListRequest) ([]ScheduleInfo, error) {
	rows, err := store.List[store.Schedule](ctx, s.client.backend, req)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	infos, _, err := s.infos(ctx, rows)
	return infos, err
}

// infos returns what is known of schedules that were read as rows, and the time of the store's clock.
func (s *ScheduleService) infos(ctx context.Context, rows []store.Schedule) ([]ScheduleInfo, time.Time, error) {
	calendars, err := fire.CalendarsOf(ctx, s.client.backend, rows)
	if err != nil {
		return nil, time.Time{}, err
	}
	now, err := s.client.Now(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	infos := make([]ScheduleInfo, len(rows))
	for i, row := range rows {
		infos[i] = newScheduleInfo(row, calendars, now)
	}
	return infos, now, errors.Join(s.addWaitsFor(ctx, infos), s.addWaits(ctx, rows, infos))
}

// addWaits adds why no living node fires the slots of schedules, which were read as rows.
func (s *ScheduleService) addWaits(ctx context.Context, rows []store.Schedule, infos []ScheduleInfo) error {
	if !slices.ContainsFunc(infos, func(info ScheduleInfo) bool { return info.left || info.On.Every }) {
		return nil
	}
	nodes, err := s.client.Nodes.List(ctx)
	if err != nil {
		return err
	}
	files, err := fire.FilesOf(ctx, s.client.backend, overdueOf(rows, infos))
	if err != nil {
		return err
	}
	for i := range infos {
		switch info := &infos[i]; {
		case info.State() != "active":
		case info.On.Every:
			info.Waits = plan.Place(info.On).NoHost(nodes)
		case info.left:
			info.Waits = plan.NoTaker(plan.Place(info.On).Queue(info.Queue), info.Job.Kind(), nodes, func() string {
				return plan.DeclaredButLeft(store.HostOf(info.Name, info.Owner), files[rows[i].ID], nodes)
			})
		}
	}
	return nil
}

// overdueOf returns the rows of active schedules whose slots no node fires.
func overdueOf(rows []store.Schedule, infos []ScheduleInfo) (overdue []store.Schedule) {
	for i, info := range infos {
		if info.left && info.State() == "active" {
			overdue = append(overdue, rows[i])
		}
	}
	return overdue
}

// Pause pauses schedules, all or none: after it has returned, their slots are
// recorded as skipped. Jobs that exist already are not changed.
func (s *ScheduleService) Pause(ctx context.Context, names []string, options ...Option) error {
	return s.change(ctx, "pause", options, store.ChangeSchedulesRequest{Action: store.PauseSchedules, Names: names})
}

// PauseUntil pauses schedules until an instant of the store's clock, at which
// they resume by themselves: slots before this instant are skipped, a slot at
// this instant fires.
func (s *ScheduleService) PauseUntil(ctx context.Context, until time.Time, names []string, options ...Option) error {
	now, err := s.client.Now(ctx)
	if err != nil {
		return fmt.Errorf("pause schedules: %w", err)
	}
	if !until.After(now) || until.Year() > maxYear {
		return fmt.Errorf("pause schedules: %w", &check.FieldError{
			Field: "until", Value: until.Format(time.RFC3339), Problem: "is not in the future",
			Remedy: fmt.Sprintf("give an instant after %s, the store's clock, and before the year 10000", now.Format(time.RFC3339)),
		})
	}
	return s.change(ctx, "pause", options, store.ChangeSchedulesRequest{Action: store.PauseSchedules, Names: names, Until: until})
}

const maxYear = 9999

// Resume ends a pause, also the pause of a schedule whose jobs failed, and
// counts failures from 0 again.
func (s *ScheduleService) Resume(ctx context.Context, names []string, options ...Option) error {
	return s.change(ctx, "resume", options, store.ChangeSchedulesRequest{Action: store.ResumeSchedules, Names: names})
}

// Delete deletes schedules, all or none. Name and mark are kept: a schedule
// that is put again under this name never fires a slot a second time.
func (s *ScheduleService) Delete(ctx context.Context, names []string, options ...Option) error {
	return s.change(ctx, "delete", options, store.ChangeSchedulesRequest{Action: store.DeleteSchedules, Names: names})
}

// DeleteIf is Delete of one schedule, if its definition still has a revision (ScheduleInfo.Revision); ErrConflict otherwise. 0: any revision.
func (s *ScheduleService) DeleteIf(ctx context.Context, name string, revision int64, options ...Option) error {
	req := store.ChangeSchedulesRequest{Action: store.DeleteSchedules, Names: []string{name}, IfRevision: revision}
	return s.change(ctx, "delete", options, req)
}

// Reset sets the marks of schedules to the present time of the store's clock:
// the remedy for a mark in the future, after the clock was wrong. Slots that
// are due otherwise are accounted for first.
func (s *ScheduleService) Reset(ctx context.Context, names []string, options ...Option) error {
	return s.change(ctx, "reset", options, store.ChangeSchedulesRequest{Action: store.ResetSchedules, Names: names})
}

// ResetAhead resets all schedules whose marks are ahead of the store's clock (ScheduleInfo.Ahead), as Reset does, and returns
// them as they were, by name: the remedy for a whole store after its clock was wrong. With DryRun it changes nothing. It takes no
// other option. The schedules are reset a page at a time, so that after an error the first pages are reset; the call can be
// repeated.
func (s *ScheduleService) ResetAhead(ctx context.Context, options ...Option) (reset []ScheduleInfo, err error) {
	given, err := givenOptions(options, optDryRun)
	if err != nil {
		return nil, fmt.Errorf("reset schedules: %w", err)
	}
	now, err := s.client.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("reset schedules: %w", err)
	}
	for page := (store.ListRequest{MarkAfter: now.Add(plan.MaxAhead), Limit: maxPage}); ; {
		rows, err := s.list(ctx, page)
		if err != nil || len(rows) == 0 {
			return reset, err
		}
		page.After = rows[len(rows)-1].Name
		ahead := slices.DeleteFunc(rows, func(row ScheduleInfo) bool { return !row.Ahead })
		if len(ahead) > 0 && (given.changing == nil || !given.changing.dryRun) {
			if err := s.Reset(ctx, converted(ahead, func(row ScheduleInfo) string { return row.Name })); err != nil {
				return reset, err
			}
		}
		reset = append(reset, ahead...)
	}
}

func (s *ScheduleService) change(ctx context.Context, what string, options []Option, req store.ChangeSchedulesRequest) error {
	tx, err := onlyTx(options)
	if err != nil {
		return fmt.Errorf("%s schedules: %w", what, err)
	}
	req.Tx, req.By = tx, s.client.actor(ctx)
	for _, name := range req.Names {
		if err := check.StoredName("name", name); err != nil {
			return fmt.Errorf("%s schedule: %w", what, err)
		}
	}
	named := req.Names
	var every []string
	if req.Names, every, err = s.withHosts(ctx, tx, req.Action, named); err != nil {
		return fmt.Errorf("%s schedules: %w", what, err)
	}
	settler := s.client.settler(tx)
	err = settler.Change(ctx, req.Names, func() (edited []string, err error) {
		return req.Names, s.client.backend.ChangeSchedules(ctx, req)
	})
	if err == nil && tx == nil && len(every) > 0 {
		err = s.spreadNow(ctx, settler, every) // a host may have joined
	}
	if err != nil {
		return fmt.Errorf("%s schedules: %w", what, withoutCall("change schedules", err))
	}
	return nil
}

// Trigger makes a job as the schedule's next slot would, to run now, or right
// after a slot that is less than a second away. The job has the origin
// "trigger" and no slot, and changes no slot. A paused schedule can be
// triggered; if its group is paused, the job waits for the end of that pause. With InTx a slot that fires while the transaction is open does not
// see the job, as if it had been made after the slot.
func (s *ScheduleService) Trigger(ctx context.Context, name string, options ...Option) (int64, error) {
	tx, err := onlyTx(options)
	if err != nil {
		return 0, fmt.Errorf("trigger: %w", err)
	}
	if err := s.client.checkTx(tx); err != nil {
		return 0, fmt.Errorf("trigger schedule %q: %w", check.Shorten(name), err)
	}
	id, definition, err := s.triggered(ctx, tx, name)
	if err != nil {
		return 0, err
	}
	if definition.On.Every {
		return 0, fmt.Errorf("trigger: %w", Schedule{Name: name}.onEveryHost("use TriggerAll, or trigger the schedule of a host, NAME@HOST"))
	}
	req := insertRequest(tx, []store.NewJob{definition.Job(id, store.OriginTrigger)})
	req.By, req.Of = s.client.actor(ctx), name
	inserted, err := s.client.insert(ctx, req)
	if err != nil {
		return 0, fmt.Errorf("trigger schedule %q: %w", name, err)
	}
	return inserted.Jobs[0].ID, nil
}

// RunOnStart is an option of ScheduleService.Put for programs that put their schedules
// when they start: besides the slots of the schedule, there is a job at once, as by
// Trigger. Programs that start together, such as all replicas of a deployment, make one
// such job: there is no second job while the first waits or runs, nor within a minute. A
// schedule that is paused or has ended makes no such job, and a schedule on every host
// neither. InTx excludes RunOnStart. If Put fails with ErrUnknown, or after it has put the
// schedule, it can be repeated.
func RunOnStart() Option { return func(e *enqueuing) { e.given |= optRunOnStart } }

// startsApart is how far apart two jobs of RunOnStart are at least.
const startsApart = time.Minute

// onStart reports whether RunOnStart is among the options of a Put.
func (s *ScheduleService) onStart(options []Option) (bool, error) {
	given, err := givenOptions(options, putOneOptions)
	switch {
	case err != nil || given.given&optRunOnStart == 0:
		return false, err
	case given.tx != nil:
		return false, &check.FieldError{Field: "options", Value: "RunOnStart", Problem: "is given together with InTx", Remedy: "leave one of them out"}
	}
	return true, s.client.checkTx(nil)
}

// runOnStart makes the job of RunOnStart.
func (s *ScheduleService) runOnStart(ctx context.Context, name string) error {
	info, err := s.Get(ctx, name)
	if err != nil || info.State() != "active" || info.On.Every {
		return err
	}
	job := info.stored.Job(info.ID, store.OriginTrigger)
	job.Unique, job.UniqueFor = keyOfStart(name), startsApart
	req := insertRequest(nil, []store.NewJob{job})
	req.By, req.Of = s.client.actor(ctx), name
	_, err = s.client.insert(ctx, req)
	return err
}

// keyOfStart returns the key of the job of RunOnStart.
func keyOfStart(name string) string {
	sum := sha256.Sum256([]byte(name))
	return reservedKeys + "start:" + hex.EncodeToString(sum[:])
}

// triggered returns the number and the definition of a schedule that is to be triggered. In a
// caller's transaction it uses no other connection: the program's pool may have none left.
func (s *ScheduleService) triggered(ctx context.Context, tx store.Tx, name string) (int64, plan.Definition, error) {
	if tx == nil {
		info, err := s.Get(ctx, name)
		if err != nil {
			return 0, plan.Definition{}, fmt.Errorf("trigger: %w", err)
		}
		if info.Problem != "" {
			return 0, plan.Definition{}, fmt.Errorf("trigger schedule %q: %s", name, info.Problem)
		}
		return info.ID, info.stored, nil
	}
	if err := check.StoredName("name", name); err != nil {
		return 0, plan.Definition{}, fmt.Errorf("trigger: %w", err)
	}
	rows, err := store.List[store.Schedule](ctx, s.client.backend, store.ListRequest{Tx: tx, Names: []string{name}, Limit: 1})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("schedule %q: %w", name, ErrNotFound)
	}
	if err != nil {
		return 0, plan.Definition{}, fmt.Errorf("trigger: %w", err)
	}
	definition, err := plan.DecodeDefinition(rows[0].Definition)
	if err != nil {
		return 0, plan.Definition{}, fmt.Errorf("trigger schedule %q: %w", name, err)
	}
	return rows[0].ID, definition, nil
}

// CancelJobs cancels every job that was made for a schedule and has not
// finished. Of a schedule on every host these are the jobs of all hosts, one host
// after the other: after an error the changes that it returns stay.
func (s *ScheduleService) CancelJobs(ctx context.Context, name string, options ...Option) ([]store.JobChange, error) {
	if err := check.StoredName("schedule", name); err != nil {
		return nil, fmt.Errorf("cancel jobs: %w", err)
	}
	tx, err := onlyTx(options)
	if err != nil {
		return nil, fmt.Errorf("cancel jobs: %w", err)
	}
	names, _, err := s.withHosts(ctx, tx, store.PauseSchedules, []string{name})
	if err != nil {
		return nil, fmt.Errorf("cancel jobs: %w", err)
	}
	var changes []store.JobChange
	for _, one := range names {
		res, err := s.client.backend.ChangeJobs(ctx, store.ChangeJobsRequest{
			Action: store.CancelJobs, Schedule: one, Tx: tx,
			Reason: "cancelled on request", By: s.client.actor(ctx),
		})
		if err != nil {
			return changes, fmt.Errorf("cancel jobs: %w", err)
		}
		changes = append(changes, res.Changes...)
	}
	return changes, nil
}

// RunOnce makes a job as a slot of the schedule would, due now, for a schedule
// that is not stored. Its rule does not matter, nor do Overlap, Paused and all
// hooks except OnFailure. The job has the origin "enqueue". The options are InTx, and
// Unique and UniqueFor, with which the job is made once for a key.
func (s *ScheduleService) RunOnce(ctx context.Context, schedule Schedule, options ...Option) (Enqueued, error) {
	key, err := givenOptions(options, runOnceOptions)
	if err == nil {
		err = key.checkKey()
	}
	if err != nil {
		return Enqueued{}, fmt.Errorf("run %q once: %w", check.Shorten(schedule.Name), err)
	}
	schedule.Rule, schedule.After = recur.Cron("@yearly"), nil // any valid rule
	definition, err := schedule.encode()
	if err == nil && schedule.On.Every {
		err = schedule.onEveryHost("give one host, or enqueue a job for each host")
	}
	if err != nil {
		return Enqueued{}, fmt.Errorf("run %q once: %w", check.Shorten(schedule.Name), err)
	}
	definitions := []plan.Definition{definition}
	var inserted store.InsertResult
	err = s.client.definitionsThrough(ctx, []string{schedule.Name}, definitions, func(ctx context.Context) (err error) {
		definitions[0].Hooks.Name = schedule.Name
		job := definitions[0].Job(0, store.OriginEnqueue)
		job.Unique, job.UniqueFor = key.Unique, key.UniqueFor
		inserted, err = s.client.insert(ctx, insertRequest(key.tx, []store.NewJob{job}))
		return err
	})
	if err != nil {
		return Enqueued{}, fmt.Errorf("run %q once: %w", schedule.Name, err)
	}
	return Enqueued(inserted.Jobs[0]), nil
}

// newScheduleInfo decodes a row; now is the time of the store's clock.
func newScheduleInfo(row store.Schedule, calendars plan.StoredCalendars, now time.Time) ScheduleInfo {
	info := ScheduleInfo{
		Schedule: Schedule{Name: row.Name, Owner: row.Owner, Revision: row.Revision},
		ID:       row.ID, Anchor: row.Anchor, Mark: row.Mark, Fired: row.Fired,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, DeletedAt: row.DeletedAt,
		FailingSince: row.FailingSince, Failures: row.Failures,
	}
	info.Job = RawArgs{}
	if row.PausedFor(now) {
		info.PausedAt, info.PausedUntil = row.PausedAt, row.PausedUntil
	}
	if row.GroupPausedFor(now) {
		info.GroupPausedAt, info.GroupPausedUntil = row.GroupPausedAt, row.GroupPausedUntil
	}
	d, err := plan.DecodeDefinition(row.Definition)
	if err != nil {
		info.Problem = err.Error()
		return info
	}
	info.stored = d
	info.Schedule.setDefinition(&d, calendars)
	info.Anchor, info.MadeFrom = d.AnchorOf(row), store.EveryOf(row.Owner)
	p, err := plan.New(row, calendars)
	if err != nil {
		info.Problem = err.Error()
		return info
	}
	if row.DeletedAt.IsZero() {
		info.NextAt, info.ended = p.NextOpen(row, now), p.Ended(row, now)
		info.Ahead = row.Mark.Sub(now) > plan.MaxAhead
		// A change makes the schedule due at once, so that a node looks at it.
		info.Overdue.Since, info.Overdue.Slots = p.Overdue(row, now)
		info.left = !row.NextAt.IsZero() && !d.On.Every && (!row.NextAt.After(row.UpdatedAt) || !p.OverdueAt(row).After(now))
	}
	return info
}

func pageSize(limit int) int {
	if limit <= 0 {
		return defaultPage
	}
	return limit
}
