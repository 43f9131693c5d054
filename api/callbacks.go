package api

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"path"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
)

// mostCallbacks is how many callbacks are answered at a time.
const mostCallbacks = 64

// Callbacks returns the handler of callback URLs (hourbell.JobRow.CallbackURL), whose last segment is the token:
//
//	mux.Handle("POST /callbacks/{token}", api.Callbacks(client, slog.Default()))
//
// The token is the permission: callers need no log-in, so mount the handler outside of access.Protect. A request answers by POST
// only. Its body, of at most 64 KiB, is the value of the signal: JSON, or a form, whose fields become an object of texts; without a
// body null. The status is 204, 404 for a URL that was not made here, 409 if the job was answered or has ended, 410 for a URL that
// has expired. log receives a line for each answer, without the token; nil: slog.Default().
func Callbacks(client *hourbell.Client, log *slog.Logger) http.Handler {
	if log == nil {
		log = slog.Default()
	}
	c := &callbacks{handler{client: client, o: Options{Logger: log}}, make(chan struct{}, mostCallbacks)}
	return http.MaxBytesHandler(c, check.MaxResult)
}

// callbacks answers callback URLs.
type callbacks struct {
	handler handler
	places  chan struct{}
}

// ServeHTTP answers a callback. Errors and lines of the log have no token.
func (c *callbacks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeProblem(w, newProblem(http.StatusMethodNotAllowed, "a callback is answered with POST"))
		return
	}
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	default:
		w.Header().Set("Retry-After", "1")
		writeProblem(w, newProblem(http.StatusServiceUnavailable, "too many callbacks come at a time; send it again"))
		return
	}
	value, p := readValue(w, r)
	if p == nil {
		p = c.answer(r, value)
	}
	if p != nil {
		writeProblem(w, p)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// answer sends the signal of a callback; nil: it was sent.
func (c *callbacks) answer(r *http.Request, value json.RawMessage) *Problem {
	address := r.RemoteAddr
	if sender, err := netip.ParseAddrPort(address); err == nil {
		address = sender.Addr().Unmap().String()
	}
	ctx := hourbell.WithActor(r.Context(), hourbell.Actor{Name: "callback", Source: address})
	token := path.Base(r.URL.Path)
	r = r.Clone(r.Context())
	r.URL = &url.URL{Path: "a callback"}
	if err := c.handler.client.Signals.Answer(ctx, token, value); err != nil {
		return c.handler.problem(r, err)
	}
	c.handler.o.Logger.Info("a callback was answered", "from", address)
	return nil
}

// readValue reads the value of a signal.
func readValue(w http.ResponseWriter, r *http.Request) (json.RawMessage, *Problem) {
	if p := readBody(w, r); p != nil {
		return nil, p
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, newProblem(http.StatusBadRequest, "the body could not be read; send it again")
	}
	given, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case len(text) == 0:
		return json.RawMessage("null"), nil
	case given == "application/x-www-form-urlencoded":
		fields, err := url.ParseQuery(string(text))
		if err != nil {
			return nil, newProblem(http.StatusBadRequest, "the body is no form; send name=value pairs with & between them")
		}
		texts := map[string]string{}
		for name := range fields {
			texts[name] = fields.Get(name)
		}
		text, err = json.Marshal(texts)
		if err != nil {
			return nil, newProblem(http.StatusBadRequest, fmt.Sprint("the form cannot be kept: ", err))
		}
		return text, nil
	case given != "" && given != "application/json":
		return nil, newProblem(http.StatusUnsupportedMediaType, "the body is neither JSON nor a form; send Content-Type: application/json")
	case !json.Valid(text):
		return nil, newProblem(http.StatusBadRequest, "the body is not JSON; send a JSON value, or nothing")
	}
	return text, nil
}
