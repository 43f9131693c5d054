package hourbell

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Pause describes a pause of a group, a queue, a kind or a key.
type Pause struct {
	// Until is when the pause ends by itself, by the store's clock; zero: at Resume.
	Until  time.Time
	Reason string // in words, at most 1,024 bytes of UTF-8 without NUL; may be empty
	Actor  string // who pauses, at most 200 bytes; may be empty
	// CancelRunning cancels the jobs that run when the pause has begun; see JobService.Cancel. A job
	// that a node has claimed and not begun counts as running. If that fails, the subject is paused.
	CancelRunning bool
}

// maxPauseReason is the greatest length of Pause.Reason in bytes.
const maxPauseReason = 1024

// pausing pauses and resumes subjects of one sort.
type pausing struct {
	client  *Client
	subject store.PauseSubject
}

// pause pauses a subject. change makes the given call of the store, which may answer that slots have
// to be accounted for first.
func (s pausing) pause(ctx context.Context, name string, pause Pause, change func(call func() error) error) error {
	if err := s.check(ctx, name, pause); err != nil {
		return fmt.Errorf("pause %v: %w", s.subject, err)
	}
	put := store.PutPause{
		Subject: s.subject, Name: name, Until: pause.Until, Reason: pause.Reason, Actor: pause.Actor, CancelRunning: pause.CancelRunning,
	}
	by := s.client.actor(ctx)
	err := change(func() error {
		_, err := s.client.backend.Put(ctx, store.PutRequest{Pauses: []store.PutPause{put}, By: by})
		return err
	})
	if err == nil && pause.CancelRunning {
		err = s.cancelRunning(ctx, name, put.CancelReason(by))
	}
	if err != nil {
		return fmt.Errorf("pause %v %q: %w", s.subject, name, err)
	}
	return nil
}

// cancelRunning cancels the running jobs of a subject for a reason; of a queue, also of the places within it.
func (s pausing) cancelRunning(ctx context.Context, name, reason string) error {
	names := []string{name}
	if s.subject == store.SubjectQueue {
		nodes, err := store.List[store.NodeInfo](ctx, s.client.backend, store.ListRequest{})
		if err != nil {
			return err
		}
		names = append(names, placesWithin(nodes, name)...)
	}
	for _, name := range names {
		running := s.jobs(name)
		running.States = []store.State{store.StateRunning}
		if _, err := s.client.Jobs.cancel(ctx, running, reason, EachBatch(func([]store.JobChange) error { return nil })); err != nil {
			return err
		}
	}
	return nil
}

// placesWithin returns the queues of places within a queue that nodes serve.
func placesWithin(nodes []store.NodeInfo, name string) []string {
	found := map[string]bool{}
	for _, node := range nodes {
		for _, queue := range node.Queues {
			found[queue] = true
			for _, place := range plan.PlacesOf(node.Host, node.Labels) {
				found[place.Queue(queue)] = true
			}
		}
	}
	maps.DeleteFunc(found, func(queue string, _ bool) bool { return queue == name || !store.InQueue(queue, name) })
	return slices.Sorted(maps.Keys(found))
}

// jobs selects the jobs of a subject, of a queue without places.
func (s pausing) jobs(name string) JobFilter {
	switch s.subject {
	case store.SubjectQueue:
		return JobFilter{Queue: name}
	case store.SubjectKind:
		return JobFilter{Kind: name}
	case store.SubjectKey:
		return JobFilter{Key: name}
	default:
		return JobFilter{Group: name}
	}
}

// check returns what is wrong with a pause.
func (s pausing) check(ctx context.Context, name string, pause Pause) error {
	err := check.Join(check.Name(s.subject.String(), name), checkTime("until", pause.Until), checkIfGiven("actor", pause.Actor))
	switch {
	case len(pause.Reason) > maxPauseReason:
		err = check.Join(err, &check.FieldError{
			Field: "reason", Value: check.Shorten(pause.Reason),
			Problem: fmt.Sprintf("has %d bytes", len(pause.Reason)), Remedy: fmt.Sprintf("use at most %d bytes", maxPauseReason),
		})
	case !utf8.ValidString(pause.Reason) || strings.ContainsRune(pause.Reason, 0):
		err = check.Join(err, &check.FieldError{Field: "reason", Value: check.Shorten(pause.Reason), Problem: "is not UTF-8 without NUL", Remedy: "use another text"})
	}
	if err != nil || pause.Until.IsZero() {
		return err
	}
	now, err := s.client.Now(ctx)
	if err == nil && !pause.Until.After(now) {
		err = &check.FieldError{
			Field: "until", Value: pause.Until.Format(time.RFC3339), Problem: "is not in the future",
			Remedy: fmt.Sprintf("give an instant after %s, the store's clock", now.Format(time.RFC3339)),
		}
	}
	return err
}

// resume ends a pause, and reports whether there was a pause. change is as in pause.
func (s pausing) resume(ctx context.Context, name string, change func(call func() error) error) (bool, error) {
	if err := check.StoredName(s.subject.String(), name); err != nil {
		return false, fmt.Errorf("resume %v: %w", s.subject, err)
	}
	req := store.DeleteRequest{Of: store.OfPauses, Subject: s.subject, Names: []string{name}, By: s.client.actor(ctx)}
	err := change(func() error { return s.client.backend.Delete(ctx, req) })
	switch {
	case errors.Is(err, ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("resume %v %q: %w", s.subject, name, err)
	}
	return true, nil
}

// atOnce makes a call of the store for which no slots have to be accounted for.
func atOnce(call func() error) error { return call() }

// list returns the active pauses of the subjects, by name.
func (s pausing) list(ctx context.Context) (map[string]store.Pause, error) {
	rows, err := store.List[store.Pause](ctx, s.client.backend, store.ListRequest{})
	pauses := map[string]store.Pause{}
	for _, row := range rows {
		if row.Subject == s.subject {
			pauses[row.Name] = row
		}
	}
	return pauses, err
}

// withPauses adds their pauses to counted rows, and rows for names that are only paused, and sorts
// all by name. join makes an element of a row, or of a name without a row, and its pause.
func withPauses[Row, Info any](rows []Row, pauses map[string]store.Pause, nameOf func(Row) string,
	join func(row Row, name string, pause store.Pause) Info,
) (all []Info) {
	byName := make(map[string]Row, len(rows))
	for _, row := range rows {
		byName[nameOf(row)] = row
	}
	names := maps.Clone(byName)
	for name := range pauses {
		names[name] = byName[name]
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, join(byName[name], name, pauses[name]))
	}
	return all
}

// exists returns ErrNotFound if a queue, kind or key is in no job that is kept, and no node has it.
func (s pausing) exists(ctx context.Context, name string, ofNode func(store.NodeInfo) []string) error {
	f := s.jobs(name)
	f.Limit = 1
	jobs, err := s.client.Jobs.List(ctx, f)
	if err != nil || len(jobs) > 0 {
		return err
	}
	nodes, err := s.client.Nodes.List(ctx)
	if err == nil && !slices.ContainsFunc(nodes, func(n store.NodeInfo) bool { return slices.Contains(ofNode(n), name) }) {
		err = fmt.Errorf("%w; no job and no node has it", ErrNotFound)
	}
	return err
}

// KeyService pauses and resumes the jobs that have a key (the option Key): Client.Keys. Concurrent
// calls are allowed.
type KeyService struct{ client *Client }

// List returns the pauses of keys, by key in byte order.
func (s *KeyService) List(ctx context.Context) ([]store.Pause, error) {
	pauses, err := store.List[store.Pause](ctx, s.client.backend, store.ListRequest{})
	return slices.DeleteFunc(pauses, func(p store.Pause) bool { return p.Subject != store.SubjectKey }), err
}

// Get returns the pause of a key; its At is zero if the key is not paused. ErrNotFound: the key is
// not paused, and no job that is kept has it.
func (s *KeyService) Get(ctx context.Context, key string) (store.Pause, error) {
	if err := check.StoredName("key", key); err != nil {
		return store.Pause{}, err
	}
	pauses, err := s.pausing().list(ctx)
	if err != nil {
		return store.Pause{}, fmt.Errorf("read key %q: %w", key, err)
	}
	if pause, found := pauses[key]; found {
		return pause, nil
	}
	if err := s.pausing().exists(ctx, key, func(store.NodeInfo) []string { return nil }); err != nil {
		return store.Pause{}, fmt.Errorf("key %q: %w", key, err)
	}
	return store.Pause{Subject: store.SubjectKey, Name: key}, nil
}

// Pause pauses the jobs with a key in all queues, as QueueService.Pause pauses a queue.
func (s *KeyService) Pause(ctx context.Context, key string, pause Pause) error {
	return s.pausing().pause(ctx, key, pause, atOnce)
}

// Resume ends the pause of a key, as QueueService.Resume ends the pause of a queue.
func (s *KeyService) Resume(ctx context.Context, key string) (bool, error) {
	return s.pausing().resume(ctx, key, atOnce)
}

func (s *KeyService) pausing() pausing { return pausing{s.client, store.SubjectKey} }
