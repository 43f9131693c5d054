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

// PutPause pauses a subject.
type PutPause struct {
	Subject PauseSubject
	Name    string
	Until   time.Time // zero: until it is deleted
	Reason  string    // at most 1 KiB of UTF-8 without NUL
	Actor   string    // at most 200 bytes
	// CancelRunning means that the caller then cancels the running jobs of the subject, which the audit records with the pause.
	CancelRunning bool
}

// Parks reports whether the subject is a group or a key. Most stores move only due jobs of these out of the way of claims, because
// claims can leave out a queue or a kind.
func (r PutPause) Parks() bool { return r.Subject == SubjectGroup || r.Subject == SubjectKey }

// CancelReason is the reason of the jobs that are cancelled because of the pause: what was paused, who paused it, and why. by makes
// the put.
func (r PutPause) CancelReason(by Actor) string {
	text := fmt.Sprintf("%v %s was paused", r.Subject, r.Name)
	if actor := cmp.Or(r.Actor, by.Name); actor != "" {
		text += " by " + actor
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// Pause returns the pause of a put. old is the pause that the store has of the
// subject, or zero.
func (r PutPause) Pause(old Pause, now time.Time) Pause {
	p := Pause{Subject: r.Subject, Name: r.Name, At: now, Until: r.Until.UTC().Truncate(time.Microsecond), Reason: r.Reason, Actor: r.Actor}
	if r.Until.IsZero() {
		p.Until = time.Time{}
	}
	if old.Active(now) {
		p.At = old.At
	}
	return p
}

// CheckPaused returns why the pause of a subject cannot be ended, or nil. p is the pause that the store has of it, or zero.
func CheckPaused(subject PauseSubject, name string, p Pause, now time.Time) error {
	if !p.Active(now) {
		return fmt.Errorf("the pause of %v %q: %w", subject, name, ErrNotFound)
	}
	return nil
}

// FollowPause gives s the pause of its group, if the pause is active.
func (s *Schedule) FollowPause(p Pause, now time.Time) {
	s.GroupPausedAt, s.GroupPausedUntil = time.Time{}, time.Time{}
	if p.Active(now) {
		s.GroupPausedAt, s.GroupPausedUntil = p.At, p.Until
	}
}
