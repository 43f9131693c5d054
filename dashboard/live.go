package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
)

const (
	// mostStreams is how many open pages are kept up to date at the same time.
	mostStreams = 200
	// streamTime is how long a stream lives. The browser then connects again, so that
	// the caller is recognised again.
	streamTime = time.Minute
	// lookEvery is how often a stream looks at the store, if nothing happens in this
	// process; lookAgain is the least time between two looks.
	lookEvery = 2 * time.Second
	lookAgain = 300 * time.Millisecond
	// restFactor bounds what an open page costs: after a look that took t, the next
	// look is restFactor·t later at the earliest.
	restFactor = 20
	writeTime  = 10 * time.Second // in which a browser must take a change
)

var errStreams = errors.New("too many pages are open")

// stream sends the main part of a page whenever it changes, as server-sent events: main when it has changed, fresh when it has
// not, and problem when the store does not answer.
func (p *pages) stream(w http.ResponseWriter, r *http.Request, show shower) {
	select {
	case p.streams <- struct{}{}:
		defer func() { <-p.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, errStreams.Error(), http.StatusServiceUnavailable)
		return
	}
	changed, forget := p.changes.listen()
	defer forget()
	events, unsubscribe := p.client.Events.Subscribe(64)
	defer unsubscribe()

	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	out := writer{w, http.NewResponseController(w)}
	if out.send("retry: 2000\n\n") != nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), streamTime)
	defer cancel()
	last := ""
	for {
		began := time.Now()
		text, err := p.look(r.WithContext(ctx), show)
		if ctx.Err() != nil {
			return
		}
		switch {
		case err != nil:
			err = out.event("problem", p.problemOf(err).Problem)
		case text != last:
			last = text
			err = out.event("main", text)
		default:
			err = out.event("fresh", "") // the page is up to date; this also finds out whether the browser is still there
		}
		if err != nil {
			return
		}
		if !rest(ctx, max(lookAgain, restFactor*time.Since(began)), changed, events) {
			return
		}
	}
}

// look returns the main part of a page as it is now.
func (p *pages) look(r *http.Request, show shower) (string, error) {
	shown, err := p.read(r, show)
	if err != nil {
		return "", err
	}
	return shown.main()
}

// rest waits for the time least, and then until something happens, or until lookEvery
// has passed. It reports whether the stream goes on.
func rest(ctx context.Context, least time.Duration, changed <-chan struct{}, events <-chan event.Event) bool {
	happened := false
	enough := time.After(least)
	look := time.After(max(least, lookEvery))
	for {
		select {
		case <-ctx.Done():
			return false
		case <-look:
			return true
		case <-enough:
			if enough = nil; happened {
				return true
			}
		case <-changed:
			happened = true
		case <-events:
			happened = true
		}
		if happened && enough == nil {
			return true
		}
	}
}

// writer writes a stream to a browser.
type writer struct {
	to      io.Writer
	control *http.ResponseController
}

// event sends an event whose data may have several lines.
func (w writer) event(name, data string) error {
	return w.send(fmt.Sprintf("event: %s\ndata: %s\n\n", name, strings.NewReplacer("\r\n", "\ndata: ", "\r", "\ndata: ", "\n", "\ndata: ").Replace(data)))
}

func (w writer) send(text string) error {
	if err := w.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := io.WriteString(w.to, text); err != nil {
		return err
	}
	return w.control.Flush()
}

// broadcast wakes listeners. Concurrent calls are allowed; the zero value is ready.
type broadcast struct {
	mu        sync.Mutex
	listeners map[chan struct{}]bool
}

// listen returns a channel that gets a value after each wake, until forget is called.
func (b *broadcast) listen() (woken <-chan struct{}, forget func()) {
	c := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[chan struct{}]bool{}
	}
	b.listeners[c] = true
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, c)
	}
}

func (b *broadcast) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.listeners {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
