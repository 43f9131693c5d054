// Package access decides who a caller of the HTTP API or of the pages is, and what
// the caller may do.
//
//	guard, err := access.OpenFile("users.json")
//	…
//	mux.Handle("/api/", api.Handler(client, api.Options{Authorize: guard.Authorize}))
//
// A program with users of its own passes a function instead, which must not trust
// anything that a caller can choose:
//
//	func(r *http.Request) (access.Identity, error) {
//		user := sessions.User(r)
//		if user == nil {
//			return access.Identity{}, access.ErrUnknownCaller
//		}
//		return access.Identity{Name: user.Email, Role: access.Operator, Source: "session"}, nil
//	}
//
// All functions and methods may be called concurrently.
package access

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/hourbell/hourbell/check"
)

// Role is what a caller may do. A greater role includes the smaller roles. The zero
// value is no role: it may do nothing.
type Role int

// The roles.
const (
	// Viewer reads. Values that may be secrets are hidden.
	Viewer Role = iota + 1
	// Operator also enqueues, and changes jobs, schedules and calendars, except
	// work that runs commands, HTTP calls or SQL statements.
	Operator
	// Admin also reads values that may be secrets and, where the node allows it,
	// makes such work.
	Admin
)

// Roles returns all roles, the smallest first.
func Roles() []Role { return []Role{Viewer, Operator, Admin} }

// String returns viewer, operator or admin; for other values it returns none.
func (r Role) String() string {
	switch r {
	case Viewer:
		return "viewer"
	case Operator:
		return "operator"
	case Admin:
		return "admin"
	}
	return "none"
}

// ParseRole returns the role with that name. The error is a *check.FieldError.
func ParseRole(text string) (Role, error) {
	for _, role := range Roles() {
		if text == role.String() {
			return role, nil
		}
	}
	return 0, &check.FieldError{Field: "role", Value: check.Shorten(text), Problem: "is unknown", Remedy: "use viewer, operator or admin"}
}

// MarshalText returns the name of the role.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the name of a role. The error is a *check.FieldError.
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRole(string(text))
	return err
}

// Identity is who a caller is.
type Identity struct {
	Name string // empty: not known
	Role Role
	// Source is how the caller was recognised: SourceLocal, SourceSession,
	// SourceToken, SourceProxy, or a word of the program's own Authorize.
	Source string
	// Address is from where the request came. Empty: Protect sets the address that sent the
	// request, which is the address of a proxy if there is one.
	Address string
}

// Who returns the name of the caller or, if it is not known, how the caller was recognised.
func (id Identity) Who() string { return cmp.Or(id.Name, id.Source, "unknown") }

// The values of Identity.Source.
const (
	SourceLocal   = "local"   // the caller uses this computer
	SourceSession = "session" // the caller has logged in with a password
	SourceToken   = "token"   // the caller sent an API token
	SourceProxy   = "proxy"   // a trusted proxy named the caller
)

// Authorize returns who sent a request. If that is not known the error is ErrUnknownCaller;
// any other error refuses the request too. Concurrent calls must be allowed.
type Authorize func(r *http.Request) (Identity, error)

// RefusedError is a refused request: the HTTP status, the problem and the remedy.
type RefusedError struct {
	Status  int
	Problem string
	Remedy  string
}

// Error returns the problem and the remedy in one line.
func (e *RefusedError) Error() string { return e.Problem + "; " + e.Remedy }

// ErrUnknownCaller means that a request does not show who sent it.
var ErrUnknownCaller = &RefusedError{
	Status: http.StatusUnauthorized, Problem: "the caller is not known",
	Remedy: "log in, or send the header Authorization: Bearer TOKEN",
}

type identityKey struct{}

// NewContext returns a context with the identity of the caller.
func NewContext(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// FromContext returns the identity of the caller, which Protect has put into the
// context of the request. ok is false if the request has not passed Protect.
func FromContext(ctx context.Context) (id Identity, ok bool) {
	id, ok = ctx.Value(identityKey{}).(Identity)
	return id, ok
}

// Require returns nil if the caller has the role or a greater role, otherwise a
// *RefusedError. what is what the caller wants to do, such as "cancel jobs".
func Require(ctx context.Context, role Role, what string) error {
	id, _ := FromContext(ctx)
	if id.Role >= role {
		return nil
	}
	return &RefusedError{
		Status:  http.StatusForbidden,
		Problem: fmt.Sprintf("a caller with the role %v may not %s", id.Role, what),
		Remedy:  fmt.Sprintf("the role %v is needed", role),
	}
}

// bearer returns the token that a request sends in its header Authorization; given
// reports whether it has the scheme Bearer.
func bearer(r *http.Request) (token string, given bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}
