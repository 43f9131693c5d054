// Package intercept passes every call of a store through one function: a backend over a backend, with its
// abilities. What concerns all calls, such as their times and their bounds, is such a function, and writes no method
// again. The methods are generated: after a change of the contract, go generate writes them.
package intercept

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

//go:generate go run ./generate

// Call is a call of a store.
type Call struct {
	Operation string // the name of the method in lower case, as in list_jobs; of List, Put and Delete, with the sort of rows
	// Request points to the request, which may be changed before the call is made; of a call without
	// a request, to an empty struct. Result points to where its result will be.
	Request, Result any
}

// Func makes a call: it calls next, usually once, and returns the error of the call, or an error of its own.
// Concurrent calls are allowed.
type Func func(ctx context.Context, c Call, next func(context.Context) error) error

// New returns a backend whose calls each makes, over next. The backend has the abilities of next, as store.Able
// finds them. Three groups of calls do not pass each: calls of abilities that do no work in the database, migrations,
// and Listen, which does not return.
func New(next store.Backend, each Func) store.Backend { return pass(next, each) }

// call makes a call through each.
func call[Request, Result any](
	ctx context.Context, each Func, operation string, do func(context.Context, Request) (Result, error), req Request,
) (Result, error) {
	m := &made[Request, Result]{do: do, req: req}
	err := each(ctx, Call{operation, &m.req, &m.res}, m.next)
	return m.res, err
}

// made is a call that is made. It is one value because each of its parts would be allocated alone.
type made[Request, Result any] struct {
	do  func(context.Context, Request) (Result, error)
	req Request
	res Result
}

func (m *made[Request, Result]) next(ctx context.Context) (err error) {
	m.res, err = m.do(ctx, m.req)
	return err
}

// silent is a call without a result.
func silent[Request any](do func(context.Context, Request) error) func(context.Context, Request) (struct{}, error) {
	return func(ctx context.Context, req Request) (struct{}, error) { return struct{}{}, do(ctx, req) }
}

// plain is a call without a request.
func plain[Result any](do func(context.Context) (Result, error)) func(context.Context, struct{}) (Result, error) {
	return func(ctx context.Context, _ struct{}) (Result, error) { return do(ctx) }
}
