package hourbell

import (
	"context"
	"fmt"
	"strings"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// HostCopy is a host's copy of the set of schedules of an owner, such as of a file that
// every host has.
type HostCopy struct {
	Owner    string
	Host     string // the name of the host, as Config.Host
	Path     string // where the host has it; for people
	Revision int64  // orders versions; 0: the file has none

	Schedules []Schedule
	// Gone declares that the host has no copy any more; Schedules must be empty. The
	// set ends with the last copy.
	Gone bool
}

// NotInForceError is the error of a SyncCopy whose copy is not in force. It wraps ErrStale.
type NotInForceError struct {
	Copy  HostCopy
	Owner store.Owner // what is in force, without the copies
}

// Error names the owner and where the version in force came from.
func (e *NotInForceError) Error() string {
	from := "a program or hourbell apply"
	if e.Owner.Version.Host != "" {
		from = "host " + e.Owner.Version.Host
	}
	return fmt.Sprintf("the copy of host %q is not in force: the schedules of owner %q are as %s declared them at %s",
		e.Copy.Host, e.Copy.Owner, from, e.Owner.Version.At.Format("2006-01-02T15:04:05Z07:00"))
}

// Unwrap returns ErrStale.
func (e *NotInForceError) Unwrap() error { return ErrStale }

// SyncCopy declares a host's copy of an owner's set of schedules. It does what Sync does if
// the copy is a change: if it differs from the copy that the host declared last,
// whether the host was running then or not. The newest change is in force, by the store's
// clock. Otherwise SyncCopy changes no schedule: a copy that equals the set in force is
// accepted, and any other copy is refused with a *NotInForceError. The first copy of a host
// is a change only if no other host declares the set in force. A greater Revision is always a
// change, and a smaller Revision is never a change. Owners lists the copies of all hosts.
func (s *ScheduleService) SyncCopy(ctx context.Context, c HostCopy, options ...Option) (SyncResult, error) {
	if err := check.Join(checkOwner(c.Owner), check.Host("host", c.Host)); err != nil {
		return SyncResult{}, fmt.Errorf("sync the copy of a host: %w", err)
	}
	path := strings.Map(func(r rune) rune {
		if r == 0 {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(c.Path, "\uFFFD"))
	if c.Gone && len(c.Schedules) > 0 {
		return SyncResult{}, fmt.Errorf("sync the copy of a host: %w",
			&check.FieldError{Field: "schedules", Problem: "are given for a copy that is gone", Remedy: "leave them out"})
	}
	req := store.PutSchedulesRequest{Owner: c.Owner, Sync: true, SyncRevision: c.Revision, Host: c.Host, Path: path, Gone: c.Gone}
	res, err := s.put(ctx, options, putOptions, req, c.Schedules)
	if err != nil {
		return SyncResult{}, fmt.Errorf("sync schedules of %q: %w", c.Owner, err)
	}
	if res.Kept != nil && !c.Gone {
		return SyncResult{}, &NotInForceError{Copy: c, Owner: *res.Kept}
	}
	return syncResult(res, len(c.Schedules)), nil
}

// OwnerFilter selects owners. The zero value selects all.
type OwnerFilter struct {
	Names []string // only these; empty: all
	After string   // only names after this name, in byte order: the last name of the previous page
	Limit int      // owners of a page; default 100
}

// Owners returns the owners whose sets were synced, with the copies that hosts have declared, by
// name, a page at a time.
func (s *ScheduleService) Owners(ctx context.Context, f OwnerFilter) ([]store.Owner, error) {
	errs := []error{checkIfGiven("after", f.After)}
	for _, name := range f.Names {
		errs = append(errs, check.StoredName("owner", name))
	}
	if err := check.Join(errs...); err != nil {
		return nil, fmt.Errorf("list owners: %w", err)
	}
	return store.List[store.Owner](ctx, s.client.backend, store.ListRequest{Names: f.Names, After: f.After, Limit: pageSize(f.Limit)})
}

// checkOwner returns what is wrong with the owner of schedules that a caller puts.
func checkOwner(owner string) error {
	if store.IsEveryOwner(owner) {
		return &check.FieldError{
			Field: "owner", Value: check.Shorten(owner),
			Problem: "is kept for the schedules of hosts of a schedule on every host",
			Remedy:  "use another name, or change the schedule on every host",
		}
	}
	return check.Name("owner", owner)
}
