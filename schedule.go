package hourbell

import (
	"time"

	"github.com/hourbell/hourbell/internal/engine"
	"github.com/hourbell/hourbell/recur"
)

// Schedule is the definition of a schedule: when to ring, and what to run.
type Schedule struct {
	// Name is the schedule's identity: 1–200 bytes of UTF-8 without control
	// characters or surrounding space.
	Name string
	// Owner is the file or program whose set this belongs to; empty for
	// schedules put by people. Only its owner may change it.
	Owner string
	// Revision, if not 0, is the one that was read: a Put is refused with
	// ErrConflict when the schedule has been changed since.
	Revision int64
	// Rule says when.
	Rule recur.Spec
	// Kind and Args say what; Args is JSON, kept byte for byte; empty: null.
	Kind string
	Args []byte
	// Queue defaults to "default".
	Queue string
	// Priority is 1 (first) … 9 (last); 0 means 5.
	Priority int
	// MaxAttempts is 1 … 1000; 0 means 25.
	MaxAttempts int
	OnLoss      OnLoss
	// Timeout of one attempt; 0 means the worker's own.
	Timeout time.Duration
	// Overlap says what a slot does while a job of this schedule runs.
	Overlap Overlap
	// Misfire says what becomes of slots that are found later than Grace, which
	// 0 makes a minute; it is at most MaxGrace.
	Misfire Misfire
	Grace   time.Duration
	// MisfireCap is how many slots MisfireAll makes up for at a time, 1 … 1000;
	// 0 means 100.
	MisfireCap int
	// Window bounds Misfire: what is older is not made up for. 0: no bound.
	Window time.Duration
	// Count is how many slots may fire; after that the schedule has ended. 0: no
	// bound. Slots that do not fire do not count, and neither do triggered jobs.
	Count int64
	// Jitter delays each slot's job by a time of its own, always the same one,
	// from 0 up to it, so that not all start at once; at most MaxJitter.
	Jitter time.Duration
	// PauseAfterFailures, if not 0, pauses the schedule when so many of its jobs
	// in a row have failed (1 … 1000), until somebody resumes it.
	PauseAfterFailures int
	// Exclude are calendars: a slot that one of them excludes is skipped. At most
	// 10, each with a name of its own, which the reason names. They are part of the
	// schedule, or calendars of the store that many share; see StoredCalendar.
	Exclude []Calendar
	// Group is a label for people.
	Group string
	// Hooks are jobs that failures, missed slots and recoveries make.
	Hooks Hooks
	// Paused is whether it is paused by its definition. That takes effect when
	// the schedule is created or comes back, and when it differs from what was
	// put before; otherwise a pause or resume by hand stays.
	Paused bool
}

// Overlap says what a slot does while a job of its schedule runs.
type Overlap = engine.Overlap

// The choices of Overlap. The zero value can also be written Overlap("skip").
const (
	// OverlapSkip skips the slot while a job of the schedule is running, and
	// supersedes one that awaits a retry (default).
	OverlapSkip = engine.OverlapSkip
	// OverlapAllow fires every slot.
	OverlapAllow = engine.OverlapAllow
	// OverlapQueue lets one slot's job wait until the running one has ended;
	// further slots are skipped.
	OverlapQueue = engine.OverlapQueue
	// OverlapReplace asks the running job to cancel; the slot's job starts when
	// that one has ended, unless a newer slot takes its place before.
	OverlapReplace = engine.OverlapReplace
)

// Misfire says what becomes of slots that nobody was there to fire in time.
type Misfire = engine.Misfire

// The choices of Misfire. What is not made up for is recorded as missed. The zero
// value can also be written Misfire("skip").
const (
	// MisfireSkip makes up for none (default).
	MisfireSkip = engine.MisfireSkip
	// MisfireOnce makes up for the newest.
	MisfireOnce = engine.MisfireOnce
	// MisfireAll makes up for all, or the newest MisfireCap of them; their jobs
	// run one after the other, oldest first, or side by side with OverlapAllow.
	MisfireAll = engine.MisfireAll
)

// Calendar is a named set of times at which slots do not fire: dates, days of the
// week, and instants of other rules. One that is Stored is the store's of that
// name: of a schedule that is put its name alone counts, and in what is read the
// rest is what it excluded at that time.
type Calendar = engine.Calendar

// Bounds of a schedule's durations.
const (
	MaxGrace  = 24 * time.Hour
	MaxJitter = 24 * time.Hour
)

// ScheduleInfo is a schedule and where it stands.
type ScheduleInfo struct {
	Schedule
	ID int64
	// Anchor is where intervals count from.
	Anchor time.Time
	// Mark says how far its slots are accounted for, up to a second ahead of the
	// store's clock.
	Mark time.Time
	// NextAt is its next slot that no calendar excludes; zero when it has ended or
	// is deleted.
	NextAt time.Time
	// Fired counts the slots that made a job.
	Fired int64
	// PausedAt and PausedUntil tell of a pause that is on; zero: it is not, and it
	// does not end by itself.
	PausedAt    time.Time
	PausedUntil time.Time
	// Failures counts the jobs that failed in a row, if PauseAfterFailures is set.
	Failures  int64
	CreatedAt time.Time
	UpdatedAt time.Time // of the definition
	DeletedAt time.Time // zero: not deleted
	// Ahead says that Mark lies ahead of the store's clock, which must have been
	// wrong then: no slot fires until the clock gets there. ResetSchedules mends it.
	Ahead bool
	// FailingSince is when the schedule began to fail: a job of it failed, or a
	// slot was missed, and none has completed since. Zero: it does not, or has
	// neither Hooks nor PauseAfterFailures; without them nobody keeps count.
	FailingSince time.Time
	// Problem says why the definition cannot be used by this release, or is empty.
	Problem string
}

// State is "active", "paused" (by hand, or since too many jobs failed), "ended",
// "deleted", "broken" (see Problem) or "ahead" (see Ahead).
func (s ScheduleInfo) State() string {
	switch {
	case !s.DeletedAt.IsZero():
		return "deleted"
	case s.Problem != "":
		return "broken"
	case s.Ahead:
		return "ahead"
	case s.NextAt.IsZero():
		return "ended"
	case !s.PausedAt.IsZero(), s.PauseAfterFailures > 0 && s.Failures >= int64(s.PauseAfterFailures):
		return "paused"
	}
	return "active"
}
