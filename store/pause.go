package store

import (
	"cmp"
	"fmt"
	"time"
)

// PauseSubject is what a pause concerns. Drivers store these numbers.
type PauseSubject int16

// The subjects.
const (
	SubjectGroup PauseSubject = 0 // the schedules and the jobs of a group
	SubjectQueue PauseSubject = 1 // the jobs of a queue, and of its places (InQueue)
	SubjectKind  PauseSubject = 2 // the jobs of a kind
	SubjectKey   PauseSubject = 3 // the jobs with a key (JobSpec.Key)
)

// subjectWords are the words for subjects, in the order of their numbers.
var subjectWords = []string{"group", "queue", "kind", "key"}

// String returns the word for the subject.
func (s PauseSubject) String() string { return subjectWords[s] }

// Pause is a stored pause. While it is active, no claim takes a job that it concerns,
// also a job that is inserted, retried or made ready later. The schedules of a paused
// group have the pause, also schedules that are put later; slots of other schedules fire, and
// their jobs wait. Jobs that run go on.
type Pause struct {
	Subject PauseSubject
	Name    string    // of the group, the queue or the kind, or the key
	At      time.Time // since when
	Until   time.Time // when it ends by itself; zero: never
	Reason  string    // in words; may be empty
	Actor   string    // who paused; may be empty
}

// Active reports whether the pause is in effect.
func (p Pause) Active(now time.Time) bool {
	return !p.At.IsZero() && (p.Until.IsZero() || now.Before(p.Until))
}

// Concerns reports whether no claim takes the job while the pause is active.
func (p Pause) Concerns(job JobSpec) bool {
	if p.Subject == SubjectQueue {
		return InQueue(job.Queue, p.Name)
	}
	return p.Name == [...]string{job.Group, "", job.Kind, job.Key}[p.Subject]
}

// PauseRequest pauses a subject.
//
// A subject that is paused already keeps At and gets the other values of the request.
// The call refuses with ErrUnsettled if a schedule of the group is unsettled, as
// PutSchedules does. No claim that returns after the call has returned has a job of
// the subject, no BeginJobs that is called after it lets such a job begin, and no firing of
// the group's schedules that was decided before the pause is accepted. Nodes are woken by
// WakeCancels after the last claim of such a job, to hand back jobs that have not begun.
type PauseRequest struct {
	Now     time.Time
	Subject PauseSubject
	Name    string
	Until   time.Time // zero: until ResumeSubject
	Reason  string    // at most 1 KiB of UTF-8 without NUL
	Actor   string    // at most 200 bytes
	By      Actor     // recorded in the audit
	// CancelRunning means that the caller then cancels the running jobs of the subject, which the audit records with the pause.
	CancelRunning bool
}

// CancelReason is the reason of the jobs that are cancelled because of the pause: what was paused, who paused it, and why.
func (r PauseRequest) CancelReason() string {
	text := fmt.Sprintf("%v %s was paused", r.Subject, r.Name)
	if actor := cmp.Or(r.Actor, r.By.Name); actor != "" {
		text += " by " + actor
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// Pause returns the pause of a request. old is the pause that the store has of the
// subject, or zero.
func (r PauseRequest) Pause(old Pause, now time.Time) Pause {
	p := Pause{Subject: r.Subject, Name: r.Name, At: now, Until: r.Until.UTC().Truncate(time.Microsecond), Reason: r.Reason, Actor: r.Actor}
	if r.Until.IsZero() {
		p.Until = time.Time{}
	}
	if old.Active(now) {
		p.At = old.At
	}
	return p
}

// ResumeRequest ends the pause of a subject. It refuses with ErrUnsettled as
// PauseRequest does.
type ResumeRequest struct {
	Now     time.Time
	Subject PauseSubject
	Name    string
	By      Actor // recorded in the audit
}

// ResumeResult is the result of ResumeSubject.
type ResumeResult struct {
	Resumed bool // the subject was paused
}

// FollowPause gives s the pause of its group, if the pause is active.
func (s *Schedule) FollowPause(p Pause, now time.Time) {
	s.GroupPausedAt, s.GroupPausedUntil = time.Time{}, time.Time{}
	if p.Active(now) {
		s.GroupPausedAt, s.GroupPausedUntil = p.At, p.Until
	}
}
