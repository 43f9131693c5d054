package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/store"
)

const problemType = "application/problem+json"

// Problem is the body of an answer that refuses a request, as in RFC 9457.
type Problem struct { //nolint:errname // the word of RFC 9457
	Title  string         `json:"title" doc:"The meaning of the status."`
	Status int            `json:"status" doc:"The status of the answer."`
	Detail string         `json:"detail" doc:"What is wrong, and the remedy."`
	Errors []FieldProblem `json:"errors,omitempty" nullable:"false" doc:"Each mistake in the request."`
}

// FieldProblem is a mistake in a field of a request.
type FieldProblem struct {
	Field   string `json:"field" doc:"The field, parameter or header."`
	Value   string `json:"value,omitempty" doc:"The given value, shortened."`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus returns the status of the answer.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType returns the type of the body.
func (p *Problem) ContentType(string) string { return problemType }

func newProblem(status int, detail string) *Problem {
	return &Problem{Title: http.StatusText(status), Status: status, Detail: detail}
}

// refusals has the status for errors of the library that callers can cause, and the
// remedy.
var refusals = []struct {
	err    error
	status int
	remedy string
}{
	{hourbell.ErrNotFound, http.StatusNotFound, "list what exists"},
	{hourbell.ErrConflict, http.StatusConflict, "read it again, and repeat the change with the present revision"},
	{hourbell.ErrAnswered, http.StatusConflict, "read the job: the signal that came first counts"},
	{hourbell.ErrNoCallback, http.StatusNotFound, "use the URL as it was given"},
	{hourbell.ErrExpired, http.StatusGone, "ask for a new URL"},
	{hourbell.ErrJobEnded, http.StatusConflict, "send signals to jobs that have not ended"},
	{hourbell.ErrStale, http.StatusConflict, "read it again"},
	{hourbell.ErrDuplicate, http.StatusConflict, "use another key, or another on_conflict"},
	{store.ErrInUse, http.StatusConflict, "change the schedules that name it first"},
	{hourbell.ErrTxRequired, http.StatusConflict, "let the program enqueue: its client makes jobs in transactions only"},
	{hourbell.ErrRejected, http.StatusUnprocessableEntity, "send a value that the database accepts"},
	{hourbell.ErrUnknown, http.StatusGatewayTimeout, "read the state, or repeat the request with the same Idempotency-Key"},
	{store.ErrSlow, http.StatusServiceUnavailable, "give more conditions, such as the state or the time, or try again later"},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, "give more conditions, such as the state or the time, or try again later"},
}

// problem returns the problem for an error. Errors that callers do not cause may have
// details that are not for callers, such as the address of the store: they are logged.
func (h *handler) problem(r *http.Request, err error) *Problem {
	var (
		done    *Problem
		refused *access.RefusedError
	)
	switch {
	case errors.As(err, &done):
		return done
	case errors.As(err, &refused):
		return newProblem(refused.Status, refused.Error())
	}
	if fields := fieldProblems(err); len(fields) > 0 && !errors.Is(err, hourbell.ErrNotFound) {
		return invalid(fields)
	}
	for _, known := range refusals {
		if errors.Is(err, known.err) {
			detail := err.Error()
			if known.status >= http.StatusInternalServerError {
				detail = known.err.Error()
			}
			return newProblem(known.status, detail+"; "+known.remedy)
		}
	}
	if r.Context().Err() == nil {
		h.o.Logger.Error("a request of the API failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return newProblem(http.StatusServiceUnavailable, "the store did not answer as it should; try again later: the log of the server has the reason")
}

// invalid returns the problem for mistakes in fields.
func invalid(fields []FieldProblem) *Problem {
	p := newProblem(http.StatusUnprocessableEntity, "")
	p.Errors = fields
	var texts []string
	for _, f := range fields {
		text := check.Sentence(f.Field, f.Value, f.Problem)
		if f.Remedy != "" {
			text += "; " + f.Remedy
		}
		texts = append(texts, text)
	}
	p.Detail = strings.Join(texts, "\n")
	return p
}

// fieldProblems returns the mistakes in fields that an error consists of; nil: the
// error is of another type. The names of flags become the names of fields; names of headers
// begin with a capital letter.
func fieldProblems(err error) []FieldProblem {
	var problems []FieldProblem
	for _, f := range declared.Fields(err) {
		if f.Name == "" {
			return nil
		}
		name := f.Name
		if name == strings.ToLower(name) {
			name = strings.ReplaceAll(name, "-", "_")
		}
		problems = append(problems, FieldProblem{Field: name, Value: strings.ToValidUTF8(f.Value, "\uFFFD"), Problem: f.Problem, Remedy: f.Remedy})
	}
	return problems
}

// fieldError returns the error for a field.
func fieldError(field, value, problem, remedy string) error {
	return &check.FieldError{Field: field, Value: check.Shorten(value), Problem: problem, Remedy: remedy}
}

// transformProblem replaces the problems of huma, which have no remedy and repeat the
// whole value, which may be large.
func transformProblem(_ huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	if len(model.Errors) == 0 {
		return newProblem(model.Status, model.Detail), nil
	}
	var fields []FieldProblem
	for _, e := range model.Errors {
		if e == nil {
			continue
		}
		place := e.Location
		for _, prefix := range []string{"body.", "query.", "path.", "header."} {
			place = strings.TrimPrefix(place, prefix)
		}
		if place == "" {
			place = "body"
		}
		fields = append(fields, FieldProblem{Field: check.Shorten(place), Problem: e.Message, Remedy: "/api/openapi.json describes the request"})
	}
	p := invalid(fields)
	p.Status, p.Title = model.Status, http.StatusText(model.Status)
	return p, nil
}

// writeProblem answers with a problem.
func writeProblem(w http.ResponseWriter, p *Problem) {
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	json.NewEncoder(w).Encode(p) //nolint:errcheck,errchkjson // the reader has gone
}
