package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
)

const (
	// MaxLimits is how many limits a store has at most, because jobs are compared with all of
	// them. A limit by key counts once, whatever the number of its keys.
	MaxLimits = 200
	// MaxWeights is how many keys a limit has weights for at most.
	MaxWeights = 1000
)

// Limit is a bound on jobs of a scope. A limit bounds how many jobs of its scope run at a time in the whole
// cluster, and how many start per interval. The right of one job to run under a limit is a permit.
//
// A limit of a whole queue (Limit.WholeQueue) moves no rows: nodes hold its permits. For any other
// limit, jobs hold permits, and a job that finds none waits in the lane of its limit and key,
// where claims do not see it.
type Limit struct {
	ID    int64  // of the row; a change of the scope makes a new row
	Name  string // 1 to 200 bytes
	Owner string // as of a schedule; empty: none
	// Revision changes with the definition, and always to a greater number, also after the
	// name was deleted.
	Revision int64
	// Queue, Kind and ByKey are the scope: jobs of this queue and of its places, if it is not empty, of this kind, if it is
	// not empty, and with ByKey only jobs that have a key, each key for itself. At least one is given.
	Queue, Kind string
	ByKey       bool
	// Concurrency is how many jobs run at a time, of each key with ByKey; 0: no bound.
	Concurrency int
	// Rate is how many jobs start within Per, of each key with ByKey; 0: no bound. Burst, at least 1
	// with a Rate, is how many of them start at once after a rest.
	Rate  int
	Per   time.Duration
	Burst int
	// Weights multiply Concurrency for some keys, by key; each is at least 1. Other keys have the
	// weight 1.
	Weights map[string]int
	// Strict lets a job that waits for its next attempt keep its permit, so that no later job of
	// its key overtakes it.
	Strict               bool
	CreatedAt, UpdatedAt time.Time
}

// WholeQueue reports whether the limit concerns all jobs of its queue together, so that nodes
// hold its permits.
func (l *Limit) WholeQueue() bool { return l.Kind == "" && !l.ByKey }

// Matches reports whether the limit concerns a job.
func (l *Limit) Matches(job *JobSpec) bool {
	return (l.Queue == "" || InQueue(job.Queue, l.Queue)) && (l.Kind == "" || l.Kind == job.Kind) && (!l.ByKey || job.Key != "")
}

// Lane returns the key of the lane in which a job that the limit concerns gets its permit.
func (l *Limit) Lane(job *JobSpec) string {
	if l.ByKey {
		return job.Key
	}
	return ""
}

// Width returns how many permits a lane has; 0: no bound.
func (l *Limit) Width(key string) int {
	if weight := l.Weights[key]; weight > 0 {
		return l.Concurrency * weight
	}
	return l.Concurrency
}

// SameScope reports whether two limits concern the same jobs, with the same lanes.
func (l *Limit) SameScope(other *Limit) bool {
	return l.Queue == other.Queue && l.Kind == other.Kind && l.ByKey == other.ByKey
}

// Same reports whether a put changes nothing of l, which is nil for a name that does not exist.
func (l *Limit) Same(put *Limit) bool {
	return l != nil && l.Owner == put.Owner && l.SameScope(put) && l.Concurrency == put.Concurrency && l.Rate == put.Rate && l.Per == put.Per &&
		l.Burst == put.Burst && maps.Equal(l.Weights, put.Weights) && l.Strict == put.Strict
}

// CheckPut returns why a put must be refused, or nil; l is nil for a name that does not exist.
func (l *Limit) CheckPut(put *PutLimit) error {
	var revision int64
	if l != nil {
		revision = l.Revision
	}
	switch err := CheckRevision(put.IfRevision, revision); {
	case errors.Is(err, ErrExists):
		return fmt.Errorf("limit %q: %w", put.Limit.Name, err)
	case err != nil:
		conflict := &LimitConflictError{Name: put.Limit.Name, Missing: l == nil}
		if l != nil {
			conflict.Owner, conflict.PutOwner = l.Owner, l.Owner
		}
		return conflict
	case l != nil && l.Owner != put.Limit.Owner:
		return &LimitConflictError{Name: put.Limit.Name, Owner: l.Owner, PutOwner: put.Limit.Owner}
	}
	return nil
}

// LimitConflictError is why the put of a limit was refused. errors.Is finds ErrConflict.
type LimitConflictError struct {
	Name string
	// Missing reports that no limit has the name, though the put asked for a revision. Otherwise the limit has another
	// owner than the put or, if Owner and PutOwner are equal, another revision than the put asked for.
	Missing         bool
	Owner, PutOwner string // of the limit that has the name, and of the put; empty: no owner
}

// Error returns the cause in words.
func (e *LimitConflictError) Error() string {
	switch {
	case e.Missing:
		return fmt.Sprintf("limit %q does not exist", e.Name)
	case e.Owner == e.PutOwner:
		return fmt.Sprintf("limit %q: %v", e.Name, ErrConflict)
	case e.Owner == "":
		return fmt.Sprintf("limit %q exists already and belongs to no owner", e.Name)
	default:
		return fmt.Sprintf("limit %q belongs to owner %q", e.Name, e.Owner)
	}
}

// Unwrap returns ErrConflict.
func (e *LimitConflictError) Unwrap() error { return ErrConflict }

// definition returns a text that is the same for limits with the same name and definition.
func (l *Limit) definition() string {
	return fmt.Sprintf("%d %s %d %s %d %s %t %d %d %d %d %t %s", len(l.Name), l.Name, len(l.Queue), l.Queue, len(l.Kind), l.Kind,
		l.ByKey, l.Concurrency, l.Rate, l.Per, l.Burst, l.Strict, l.EncodeWeights())
}

// EncodeWeights returns Weights as drivers store them.
func (l *Limit) EncodeWeights() string {
	if len(l.Weights) == 0 {
		return ""
	}
	text, err := json.Marshal(l.Weights)
	if err != nil { // texts and numbers can always be encoded
		panic(err)
	}
	return string(text)
}

// DecodeWeights is the inverse of EncodeWeights.
func (l *Limit) DecodeWeights(text string) error {
	l.Weights = nil
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &l.Weights); err != nil {
		return fmt.Errorf("the weights of limit %q: %w", l.Name, err)
	}
	return nil
}

// Limits are the limits of a store, by name.
type Limits []Limit

// Named returns the limit with that name; nil: there is none.
func (l Limits) Named(name string) *Limit {
	i := slices.IndexFunc(l, func(limit Limit) bool { return limit.Name == name })
	if i < 0 {
		return nil
	}
	return &l[i]
}

// LimitNames returns the names of limits.
func LimitNames(limits []Limit) []string {
	names := make([]string, len(limits))
	for i, limit := range limits {
		names[i] = limit.Name
	}
	return names
}

// AddTo returns waits that have the numbers of limits with the limits and Until, without waits for limits that have ended. lanes are
// the lanes of the waits, in their places.
func (l Limits) AddTo(waits []LimitWait, lanes []Lane, now time.Time) (known []LimitWait) {
	for i, w := range waits {
		if limit := l.ByID(w.Limit.ID); limit != nil {
			w.Limit, w.Until = *limit, NewRoom(lanes[i], limit, now).NextStart()
			known = append(known, w)
		}
	}
	return known
}

// PutLimit is one limit to be created or changed.
type PutLimit struct {
	Limit Limit // without ID, Revision, CreatedAt and UpdatedAt
	// IfRevision, if not 0, must equal the row's revision (ErrConflict). OnlyNew: no limit may have the name.
	IfRevision int64
}

// CloseLanesRequest names jobs whose workers have asked that nothing like them starts.
type CloseLanesRequest struct {
	Now  time.Time
	Jobs []LimitedJob
	// AtOnce is as in PutRequest.
	AtOnce int
}

// LimitedJob is a job whose worker has asked that nothing starts under its limits.
type LimitedJob struct {
	JobSpec               // limits compare its Queue, Kind and Key
	For     time.Duration // from the store's now
}

// MostCounted is how many waiting jobs of a limit are counted; more are reported as that many.
const MostCounted = 10_000

// LimitWait is what a job waits for under a limit, or may wait for under a limit of its whole queue.
type LimitWait struct {
	Job   int64
	Limit Limit
	Key   string // of the lane
	InUse int64  // permits of the lane or, of a limit of a whole queue, of nodes
	// Before is how many jobs wait in the lane before the job, at most MostCounted.
	Before int64
	Until  time.Time // nothing starts in the lane before; zero: no such instant
}

// Full reports whether no permit is free.
func (w LimitWait) Full() bool {
	width := w.Limit.Width(w.Key)
	return width > 0 && w.InUse >= int64(width)
}

// LimitInfo is a limit with what it holds at present. The counts are a snapshot.
type LimitInfo struct {
	Limit
	InUse   int64 // permits that jobs, or nodes, hold
	Waiting int64 // jobs that wait for a permit, at most MostCounted
	Keys    int64 // lanes with permits in use or waiting jobs
	Lanes   []LaneInfo
}

// LaneInfo is what one lane holds at present.
type LaneInfo struct {
	Key     string
	InUse   int64
	Waiting int64     // at most MostCounted
	Until   time.Time // nothing starts before; zero: no such instant
}

// LaneInfo returns what a lane of the limit holds.
func (l *Limit) LaneInfo(lane Lane, waiting int64, now time.Time) LaneInfo {
	info := LaneInfo{Key: lane.Key, InUse: int64(lane.Used), Waiting: waiting}
	if room := NewRoom(lane, l, now); waiting > 0 {
		info.Until = room.NextStart()
	} else if lane.NotBefore.After(now) {
		info.Until = lane.NotBefore
	}
	return info
}

// LimitChange is what puts and deletions change.
type LimitChange struct {
	Write []Limit // rows with an ID are updated, the others are inserted
	End   []Limit // rows that end; a row whose scope changes ends, and another row has its name
}

// EndIDs returns the numbers of the rows that end.
func (c LimitChange) EndIDs() []int64 {
	ids := make([]int64, len(c.End))
	for i, row := range c.End {
		ids[i] = row.ID
	}
	return ids
}

// Deleted returns the names of the limits that no row has any more.
func (c LimitChange) Deleted() (names []string) {
	for _, row := range c.End {
		if Limits(c.Write).Named(row.Name) == nil {
			names = append(names, row.Name)
		}
	}
	return names
}

// Counts returns how many limits are created or changed, and how many are deleted.
func (c LimitChange) Counts() (changed, deleted int) { return len(c.Write), len(c.Deleted()) }

// PlanLimits returns what puts change. all are the limits of the store; no other transaction adds to them. If owner is
// not empty, the puts are the whole set of that owner, and its other limits end.
func PlanLimits(all Limits, puts []PutLimit, owner string) (change LimitChange, err error) {
	named := map[string]bool{}
	total := len(all)
	for i := range puts {
		next, row := puts[i].Limit, all.Named(puts[i].Limit.Name)
		named[next.Name] = true
		if err := row.CheckPut(&puts[i]); err != nil {
			return LimitChange{}, err
		}
		next.ID, next.CreatedAt = 0, time.Time{}
		switch {
		case row == nil:
			total++
		case row.Same(&next):
			continue
		default:
			next.CreatedAt = row.CreatedAt
			if row.SameScope(&next) {
				next.ID = row.ID
			} else {
				change.End = append(change.End, *row)
			}
		}
		change.Write = append(change.Write, next)
	}
	gone := all.ofOwnerBut(owner, named)
	change.End = append(change.End, gone...)
	total -= len(gone)
	if total > len(all) && total > MaxLimits {
		return LimitChange{}, &check.FieldError{
			Field: "limits", Problem: fmt.Sprintf("would be %d; a store has at most %d", total, MaxLimits),
			Remedy: "delete others first, or let a limit by key replace the limits of single customers; its weights give some keys more",
		}
	}
	return change, nil
}

// ofOwnerBut returns the limits of an owner except the limits of some names; without an owner, none.
func (l Limits) ofOwnerBut(owner string, names map[string]bool) (out []Limit) {
	for _, row := range l {
		if owner != "" && row.Owner == owner && !names[row.Name] {
			out = append(out, row)
		}
	}
	return out
}

// Words describes the scope and the bound of the limit, such as "queue api, each key: 3 at a time, strict, 10/s burst 20, weights gold=3".
func (l *Limit) Words() string {
	var parts []string
	if l.Concurrency > 0 {
		parts = append(parts, fmt.Sprintf("%d at a time", l.Concurrency))
	}
	if l.Strict {
		parts = append(parts, "strict")
	}
	if l.Rate > 0 {
		rate := RateText(l.Rate, l.Per)
		if l.Burst > 1 {
			rate += fmt.Sprintf(" burst %d", l.Burst)
		}
		parts = append(parts, rate)
	}
	if len(l.Weights) > 0 {
		parts = append(parts, "weights "+l.weightWords())
	}
	return l.ScopeWords() + ": " + strings.Join(parts, ", ")
}

// ScopeWords describes which jobs the limit concerns, such as "queue api, each key".
func (l *Limit) ScopeWords() string {
	var parts []string
	if l.Queue != "" {
		parts = append(parts, "queue "+l.Queue)
	}
	if l.Kind != "" {
		parts = append(parts, "kind "+l.Kind)
	}
	if l.ByKey {
		parts = append(parts, "each key")
	}
	return strings.Join(parts, ", ")
}

// mostNamedWeights bounds how many weights a text names.
const mostNamedWeights = 5

// weightWords describes the weights, by key.
func (l *Limit) weightWords() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(l.Weights)) {
		if len(parts) == mostNamedWeights {
			parts = append(parts, fmt.Sprintf("and %d more", len(l.Weights)-mostNamedWeights))
			break
		}
		parts = append(parts, fmt.Sprintf("%s=%d", key, l.Weights[key]))
	}
	return strings.Join(parts, " ")
}

// RateText returns a rate as people write it: 10/s, 100/m, 5000/24h.
func RateText(jobs int, per time.Duration) string {
	return strconv.Itoa(jobs) + "/" + shortDuration(per)
}

// shortDuration leaves out the minutes and seconds of a duration that are zero, and the number of one unit: 24h, not 24h0m0s, and s,
// not 1s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	if unit := strings.TrimPrefix(text, "1"); !strings.ContainsAny(unit, "0123456789") {
		return unit
	}
	return text
}
