package access

import (
	"errors"
	"net/http"
	"strings"
)

// MaxBody is how many bytes the body of a request may have by default: a few jobs
// with the largest arguments.
const MaxBody = 8 << 20

// Options are the rules of Protect.
type Options struct {
	// Authorize decides who the caller is. Nil: the identity that an outer
	// Protect has found or, without an outer Protect, a viewer without a name.
	Authorize Authorize
	// Refuse answers a request that is refused. Nil: with the text of the error.
	Refuse func(w http.ResponseWriter, r *http.Request, refused *RefusedError)
	// MaxBody is how many bytes the body of a request may have; 0: MaxBody.
	MaxBody int64
}

// policy is the content security policy: nothing is loaded from other places, no
// code stands in a page, and no other page may show this page in a frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Protect passes on requests whose sender is known, with the identity in the
// context (see FromContext), and refuses all others. It refuses requests that
// change something and that a browser sends for a page of another origin, bounds
// the body, and sets the headers that keep an answer from being cached, framed or
// misread.
func Protect(next http.Handler, o Options) http.Handler {
	if o.Refuse == nil {
		o.Refuse = refuseText
	}
	if o.MaxBody == 0 {
		o.MaxBody = MaxBody
	}
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		SetHeaders(w)
		id, err := o.identify(r)
		var refused *RefusedError
		switch {
		case errors.As(err, &refused):
		case err != nil: // the error may have details that are not for the caller
			refused = &RefusedError{
				Status: http.StatusServiceUnavailable, Problem: "the caller could not be recognised",
				Remedy: "try again later; the log of the server has the reason",
			}
		case id.Role < Viewer:
			refused = &RefusedError{Status: http.StatusForbidden, Problem: "the caller has no role", Remedy: "the role viewer is needed"}
		case origins.Check(r) != nil:
			refused = &RefusedError{
				Status: http.StatusForbidden, Problem: "the request comes from a page of another origin",
				Remedy: "send it from a page of this server, or from a program",
			}
		default:
			if id.Address == "" {
				id.Address = senderOf(r)
			}
			r = r.WithContext(NewContext(r.Context(), id))
			r.Body = http.MaxBytesReader(w, r.Body, o.MaxBody)
			next.ServeHTTP(w, r)
			return
		}
		if refused.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="hourbell"`)
		}
		o.Refuse(w, r, refused)
	})
}

// identify returns who sent the request.
func (o Options) identify(r *http.Request) (Identity, error) {
	if o.Authorize != nil {
		return o.Authorize(r)
	}
	if id, ok := FromContext(r.Context()); ok {
		return id, nil
	}
	return Identity{Role: Viewer}, nil
}

// SetHeaders sets the headers that Protect sets.
func SetHeaders(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func refuseText(w http.ResponseWriter, _ *http.Request, refused *RefusedError) {
	text := strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, refused.Error())
	http.Error(w, text, refused.Status)
}
