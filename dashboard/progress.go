package dashboard

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

const (
	patience  = time.Second      // for so long the answer to a form waits for the end of its change
	bulkKept  = time.Hour        // for so long after its end a change can be looked at
	mostBulks = 100              // changes that go on or can be looked at
	bulkTime  = 10 * time.Minute // without a batch, after which a change is given up
)

// bulk is a change of the jobs that a filter selects, which goes on in the background if it takes long. It ends with the process.
type bulk struct {
	verb  verb
	back  string // the address of the list of the jobs
	about hourbell.JobEstimate
	stop  context.CancelCauseFunc
	over  chan struct{} // closed when the change has ended

	mu      sync.Mutex
	count   int // jobs that were looked at, changed or not
	changes hourbell.JobChanges
	err     error
	endedAt time.Time // zero: it goes on
}

// errStopped ends a change on request, and errStuck when no batch of it has ended for bulkTime.
var (
	errStopped = &access.RefusedError{Status: http.StatusConflict, Problem: "it was stopped"}
	errStuck   = &access.RefusedError{Status: http.StatusServiceUnavailable, Problem: "the store has not changed a job for " + plain.Brief(bulkTime)}
)

// begin begins to change the jobs that a filter selects. The change goes on when ctx ends.
func (p *pages) begin(ctx context.Context, v verb, f hourbell.JobFilter, value, back string) (*bulk, error) {
	about, err := p.client.Jobs.Estimate(ctx, view.Changeable(f, v.action))
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	b := &bulk{verb: v, back: back, about: about, stop: stop, over: make(chan struct{})}
	go func() {
		defer stop(nil)
		stuck := time.AfterFunc(bulkTime, func() { stop(errStuck) })
		changes, err := v.do(ctx, p.client.Jobs, f, value, hourbell.EachBatch(func(jobs []store.JobChange) error {
			stuck.Reset(bulkTime)
			b.mu.Lock()
			b.count += len(jobs)
			b.mu.Unlock()
			return nil
		}))
		stuck.Stop()
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		b.mu.Lock()
		b.changes, b.err, b.endedAt = changes, err, time.Now()
		b.mu.Unlock()
		close(b.over)
		p.summary.forget()
		p.changes.wake()
	}()
	return b, nil
}

// bulks are the changes that go on, or have ended lately, by keys that cannot be guessed.
type bulks struct {
	mu  sync.Mutex
	all map[string]*bulk
}

// add keeps a change, and returns its key. It fails if there are too many.
func (s *bulks) add(b *bulk) (key string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, old := range s.all {
		old.mu.Lock()
		if !old.endedAt.IsZero() && (time.Since(old.endedAt) > bulkKept || len(s.all) >= mostBulks) {
			delete(s.all, key)
		}
		old.mu.Unlock()
	}
	if len(s.all) >= mostBulks {
		return "", &access.RefusedError{Status: http.StatusServiceUnavailable, Problem: "too many changes of jobs go on", Remedy: "try again when one has ended"}
	}
	if s.all == nil {
		s.all = map[string]*bulk{}
	}
	key = rand.Text()
	s.all[key] = b
	return key, nil
}

// find returns the change with a key.
func (s *bulks) find(key string) (*bulk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.all[key]; b != nil {
		return b, nil
	}
	return nil, &access.RefusedError{
		Status: http.StatusNotFound, Problem: "this process knows no such change of jobs",
		Remedy: "look at the jobs: what was changed stays changed, also if the process ended in between",
	}
}

// progressData is what the page of a change shows.
type progressData struct {
	Key, Verb, Said, Back string
	Part                  float64 // 0 … 1
	Ended, Failed         bool
}

// progress shows how far a change has come.
func (p *pages) progress(ctx context.Context, r *http.Request) (*page, error) {
	if err := access.Require(ctx, access.Operator, "look at changes"); err != nil {
		return nil, err
	}
	key := r.URL.Query().Get("key")
	b, err := p.bulks.find(key)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d := progressData{Key: key, Verb: b.verb.Text, Back: b.back, Part: min(float64(b.count)/float64(max(b.about.Jobs, 1)), 1), Ended: !b.endedAt.IsZero()}
	about := "about "
	if b.about.Exact {
		about = ""
	}
	switch {
	case !d.Ended:
		d.Said = fmt.Sprintf("%d of %s%s so far.", b.count, about, plain.Plural(int(b.about.Jobs), "job"))
	case b.err == nil:
		d.Said, d.Part = b.verb.saying(b.changes, false), 1
	default:
		d.Said, d.Failed = b.verb.saying(b.changes, false)+" Then the change ended: "+p.problemOf(b.err).Problem+".", true
	}
	return &page{Title: b.verb.Text, Template: "progress", Live: true, Data: d}, nil
}

// stopChange stops a change after its present batch.
func (p *pages) stopChange(_ context.Context, form url.Values) (done, next string, err error) {
	key := form.Get("key")
	b, err := p.bulks.find(key)
	if err != nil {
		return "", "", err
	}
	b.stop(errStopped)
	return "The change stops. What was changed stays changed.", link("progress", "key", key), nil
}
