package hourbell

import (
	"time"

	"github.com/hourbell/hourbell/internal/backoff"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Saved is the answer of a put: what is stored now, and whether the put has changed it.
type Saved[T any] struct {
	Now      T     // with the defaults that it was stored with
	Revision int64 // of what is stored; 0 for handlers
	Changed  bool  // created or changed
}

// OnlyNew lets a call only create, if it is given instead of a revision: the call is refused with
// ErrExists if something has the name.
const OnlyNew = store.OnlyNew

// Schedule is the definition of a schedule: a time rule or predecessors, a job and policies.
type Schedule struct {
	// Name is the schedule's identity: 1–200 bytes of UTF-8 without control
	// characters or surrounding space.
	Name string
	// Owner is the file or program to whose set the schedule belongs; empty for
	// schedules put by hand. Only its owner may change it.
	Owner string
	// Revision, if not 0, is the revision that was read: a Put is refused with
	// ErrConflict if the schedule has been changed since. OnlyNew: if a schedule has the name.
	Revision int64
	// Rule is the time rule.
	Rule recur.Spec
	// After are schedules that the schedule follows instead of a rule: each end of a job of one
	// of them makes a job of this schedule, due after the edge's delay, or is recorded as not
	// started. Then Rule has at most Zone, Start and Stop, which bound the ends that count, and
	// the policies for slots of a rule must not be given (Misfire, MisfireCap, Grace, Window,
	// Jitter, Exclude). Schedules that would follow each other in a circle are refused. After
	// excludes InTx.
	After []ScheduleEdge
	// Job is the job that each slot makes: its arguments and, by their type,
	// its kind. In a schedule that was read from the store it is a RawArgs.
	Job Args
	// Queue, Priority, MaxAttempts, OnLoss, Timeout and Backoff default to what the
	// Options of the kind of Job say; see Args. Queue defaults to "default" then.
	Queue string
	// On is where the jobs run; the zero value is any node.
	On Place
	// Priority is 1 (first) … 9 (last); 0 means 5.
	Priority int
	// MaxAttempts is 1 … 1000; 0 means 25.
	MaxAttempts int
	OnLoss      store.OnLoss // RetryOnLoss or FailOnLoss
	// Timeout bounds one attempt; 0 means the worker's own timeout.
	Timeout time.Duration
	// Backoff is the back-off of the jobs (see the option Backoff); empty means
	// the worker's own.
	Backoff string
	// Overlap selects what a slot does while a job of this schedule is live. With After the
	// default is OverlapAllow.
	Overlap Overlap
	// Misfire selects what happens to slots that are found later than Grace. A
	// Grace of 0 means one minute; it is at most MaxGrace.
	Misfire Misfire
	Grace   time.Duration
	// MisfireCap is how many slots MisfireAll makes up for at a time, 1 … 1000;
	// 0 means 100.
	MisfireCap int
	// Window bounds Misfire: older slots are not made up for. 0: no bound.
	Window time.Duration
	// Count is how many slots may fire; after that the schedule has ended. 0:
	// no bound. Slots that do not fire do not count, and triggered jobs do not
	// count.
	Count int64
	// Jitter delays each slot's job by a different time, from 0 up to Jitter,
	// so that not all jobs start at once; the time is always the same for a
	// slot. At most MaxJitter.
	Jitter time.Duration
	// PauseAfterFailures, if not 0, pauses the schedule when this number of its
	// jobs in succession have failed (1 … 1000), until the schedule is resumed.
	PauseAfterFailures int
	// Exclude are calendars: a slot that one of them excludes is skipped. At
	// most 10, each with a name of its own, which is part of the reason. They
	// belong to the schedule, or are calendars of the store that many schedules
	// share; see StoredCalendar.
	Exclude []Calendar
	// Group is a label for users.
	Group string
	// Key is the key of its jobs; see the option Key. Empty: none.
	Key string
	// Hooks are the jobs that are made because of failures, missed slots and
	// recoveries.
	Hooks Hooks
	// Paused pauses the schedule by its definition. It takes effect when the
	// schedule is created or put again after its deletion, and when it differs
	// from the earlier definition; otherwise a pause or resume by hand stays.
	Paused bool
}

// Overlap selects what a slot does while a job of its schedule is live.
type Overlap string

// The values of Overlap.
const (
	// OverlapSkip skips the slot while a job of the schedule is running, or is due and has not
	// started, so that two never run at once (default). It supersedes a job that waits for a
	// retry. It can also be written Overlap("skip").
	OverlapSkip Overlap = ""
	// OverlapAllow fires every slot.
	OverlapAllow Overlap = "allow"
	// OverlapQueue lets one slot's job wait until the running job has ended;
	// further slots are skipped.
	OverlapQueue Overlap = "queue"
	// OverlapReplace asks the running job to cancel; the slot's job starts when
	// the running job has ended, unless the job of a newer slot replaces it
	// before.
	OverlapReplace Overlap = "replace"
)

// Misfire selects what happens to slots that no node fired in time.
type Misfire string

// The values of Misfire. Slots that are not made up for are recorded as missed.
const (
	// MisfireSkip makes up for no slot (default). It can also be written
	// Misfire("skip").
	MisfireSkip Misfire = ""
	// MisfireOnce makes up for the newest slot.
	MisfireOnce Misfire = "once"
	// MisfireAll makes up for all slots, or the newest MisfireCap of them.
	// Their jobs run one after the other, oldest first, or concurrently with
	// OverlapAllow.
	MisfireAll Misfire = "all"
)

// ScheduleInfo is a schedule with its state.
type ScheduleInfo struct {
	Schedule
	ID int64
	// Anchor is the instant from which intervals count.
	Anchor time.Time
	// Mark is the instant up to which its slots are accounted for; up to a
	// second ahead of the store's clock.
	Mark time.Time
	// MadeFrom is the schedule on every host from which this schedule of a host, On.Host, is
	// made; empty: it is not made from another schedule.
	MadeFrom string
	// NextAt is its next slot that no calendar excludes; zero if it has ended
	// or is deleted, or follows other schedules.
	NextAt time.Time
	// Fired counts the slots that made a job.
	Fired int64
	// PausedAt and PausedUntil describe a present pause; zero: there is no
	// pause, and it has no end.
	PausedAt    time.Time
	PausedUntil time.Time
	// GroupPausedAt and GroupPausedUntil describe a present pause of its group; see
	// GroupService.Pause.
	GroupPausedAt    time.Time
	GroupPausedUntil time.Time
	// Failures counts the jobs that failed in succession, if PauseAfterFailures
	// is set.
	Failures  int64
	CreatedAt time.Time
	UpdatedAt time.Time // of the definition
	DeletedAt time.Time // zero: not deleted
	// Ahead reports that Mark is ahead of the store's clock, which must have
	// been wrong then: no slot fires until the clock reaches Mark.
	// ScheduleService.Reset corrects it.
	Ahead bool
	// FailingSince is when the schedule began to fail: a job of it failed, or a
	// slot was missed, and no job has completed since. Zero: it is not failing,
	// or it has neither Hooks nor PauseAfterFailures, without which failures
	// are not recorded.
	FailingSince time.Time
	// WaitsFor are the schedules of After that do not exist now.
	WaitsFor []string
	// Waits is why no living node fires the slots of the schedule, or empty: its
	// kind is Restricted on every node, and no node's own files declare its job; or no
	// node of its place (On) lives; or it is on every host, and no host is known.
	Waits string
	// Overdue has the slots that have passed without a node that fired them.
	Overdue Overdue
	// Problem is the reason why this release cannot use the definition, or
	// empty.
	Problem string

	stored plan.Definition // as it was read
	ended  bool            // a schedule with After makes no job any more
	left   bool            // no node has accounted for the next slot, or for a change, in time
}

// Overdue are slots of a schedule that no node has fired, or accounted for, for some seconds.
type Overdue struct {
	Since time.Time // the first of them; zero: there is none
	Slots int       // how many there are, of at most 1,000 that are counted
}

// State returns "active", "paused" (by hand, with its group, or because too many jobs failed),
// "ended", "deleted", "broken" (see Problem) or "ahead" (see Ahead).
func (s ScheduleInfo) State() string {
	switch {
	case !s.DeletedAt.IsZero():
		return "deleted"
	case s.Problem != "":
		return "broken"
	case s.Ahead:
		return "ahead"
	case s.NextAt.IsZero() && !s.Follows(), s.ended:
		return "ended"
	case !s.PausedAt.IsZero(), !s.GroupPausedAt.IsZero(), s.PauseAfterFailures > 0 && s.Failures >= int64(s.PauseAfterFailures):
		return "paused"
	}
	return "active"
}

// withDefaults sets empty fields to their defaults.
func (s Schedule) withDefaults() Schedule {
	if s.Queue == "" {
		s.Queue = defaultQueue
	}
	if s.Priority == 0 {
		s.Priority = defaultPriority
	}
	if s.MaxAttempts == 0 {
		s.MaxAttempts = defaultAttempts
	}
	if s.Misfire = orSkip(s.Misfire); !s.Follows() {
		s.Overlap = orSkip(s.Overlap)
	} else if s.Overlap == "" {
		s.Overlap = OverlapAllow
	}
	if p, err := backoff.Parse(s.Backoff); err == nil {
		s.Backoff = p.String()
	}
	return s
}

// orSkip returns a choice, or the zero value if the choice is "skip", which is
// the default of each of these choices.
func orSkip[T Overlap | Misfire](choice T) T {
	if choice == "skip" {
		return ""
	}
	return choice
}

// definition returns the definition that the store keeps of a schedule with
// this job and these hooks.
func (s Schedule) definition(job RawArgs, hooks plan.Hooks) plan.Definition {
	s = s.withDefaults()
	return plan.Definition{
		Rule: s.Rule, After: s.edges(), Kind: job.Name, Args: string(job.JSON), Queue: s.Queue,
		Priority: int16(s.Priority), MaxAttempts: int16(s.MaxAttempts), OnLoss: s.OnLoss,
		Timeout: s.Timeout, Backoff: s.Backoff, Overlap: plan.Overlap(orSkip(s.Overlap)), Group: s.Group, Key: s.Key, Paused: s.Paused,
		Hooks: hooks, Misfire: plan.Misfire(s.Misfire), MisfireCap: s.MisfireCap, Grace: s.Grace, Window: s.Window,
		Count: s.Count, Jitter: s.Jitter, PauseAfter: s.PauseAfterFailures, Exclude: excluded(s.Exclude), On: plan.Place(s.On),
	}
}

// setDefinition sets the fields that a stored definition has; it is the inverse of definition.
func (s *Schedule) setDefinition(d *plan.Definition, calendars plan.StoredCalendars) {
	s.Rule, s.After, s.Job, s.Queue = d.Rule, storedEdges(d.After), RawArgs{Name: d.Kind, JSON: []byte(d.Args)}, d.Queue
	s.Priority, s.MaxAttempts, s.OnLoss = int(d.Priority), int(d.MaxAttempts), d.OnLoss
	s.Timeout, s.Backoff, s.Overlap, s.Group, s.Key, s.Paused = d.Timeout, d.Backoff, Overlap(d.Overlap), d.Group, d.Key, d.Paused
	if d.Follows() && d.Overlap == plan.OverlapSkip {
		s.Overlap = "skip" // because the default is another
	}
	s.Hooks, s.Misfire, s.MisfireCap, s.Grace, s.Window = storedHooks(d.Hooks), Misfire(d.Misfire), d.MisfireCap, d.Grace, d.Window
	s.Count, s.Jitter, s.PauseAfterFailures, s.On = d.Count, d.Jitter, d.PauseAfter, Place(d.On)
	s.Exclude = converted(calendars.Fill(d.Exclude), func(c plan.Calendar) Calendar { return Calendar(c) })
}
