package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

func (h *handler) addLocks() {
	const one = "/api/v1/locks/{name}"
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/locks", "list-locks", "Lists locks by name, held or not", "locks", 0, 0}, h.listLocks)
	add(h, route{access.Viewer, http.MethodGet, one, "get-lock", "Returns a lock: its holder and until when, its token, its last slot", "locks", 0, 0}, h.getLock)
	add(h, route{access.Operator, http.MethodPost, one + "/release", "release-lock", "Frees a lock, whatever its holder", "locks", 0, 0}, h.releaseLock)
}

// locks reads locks. The tables of locks are made with the first lock.
func (h *handler) locks(ctx context.Context, req lock.LocksRequest) ([]lock.Info, error) {
	if h.o.Locks == nil {
		return nil, newProblem(http.StatusNotFound, "this server has no locks; `hourbell locks list` lists the locks of a store")
	}
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	found, err := h.o.Locks.Locks(ctx, req)
	if errors.Is(err, store.ErrSchema) {
		return nil, nil
	}
	return found, err
}

func (h *handler) listLocks(ctx context.Context, in *struct{ Paging }) (*listed[view.LockRecord], error) {
	after, err := decodeCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	if after != "" {
		if err := check.StoredName("cursor", after); err != nil {
			return nil, badCursor(in.Cursor)
		}
	}
	found, err := h.locks(ctx, lock.LocksRequest{After: after, Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	return newPage(in.Limit, found, func(i lock.Info) string { return i.Name }, view.NewLockRecord), nil
}

type lockOutput struct{ Body view.LockRecord }

func (h *handler) getLock(ctx context.Context, in *Named) (*lockOutput, error) {
	if err := check.StoredName("name", in.Name); err != nil {
		return nil, err
	}
	found, err := h.locks(ctx, lock.LocksRequest{Names: []string{in.Name}, Limit: 1})
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, noLock(in.Name)
	}
	return &lockOutput{view.NewLockRecord(found[0])}, nil
}

func noLock(name string) error {
	return newProblem(http.StatusNotFound, "lock "+check.Shorten(name)+": not found; list what exists")
}

// releaseLock frees a lock whose holder is gone. As in the program, the caller confirms
// that the holder does not work any more.
func (h *handler) releaseLock(ctx context.Context, in *struct {
	Named
	Body struct {
		Force bool `json:"force" doc:"Must be true. The holder of the lock finds out at its next renewal, seconds later, and may work until then: stop it first."`
	}
},
) (*lockOutput, error) {
	if !in.Body.Force {
		return nil, fieldError("force", "false", "is not true: the holder may still be working", "make sure that it is not, then give true")
	}
	if _, err := h.getLock(ctx, &in.Named); err != nil {
		return nil, err
	}
	if err := h.client.Audit.RecordRelease(ctx, in.Name); err != nil {
		return nil, err
	}
	if err := h.o.Locks.ForceRelease(ctx, lock.ForceReleaseRequest{Name: in.Name}); errors.Is(err, lock.ErrNotFound) {
		return nil, noLock(in.Name)
	} else if err != nil {
		return nil, err
	}
	return h.getLock(ctx, &in.Named)
}
