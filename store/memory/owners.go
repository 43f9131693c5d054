package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

func (s *Store) listOwners(req store.ListRequest) (out []store.Owner) {
	for name, owner := range s.owners {
		if name > req.After && (len(req.Names) == 0 || slices.Contains(req.Names, name)) {
			owner.Copies = append([]store.Copy(nil), owner.Copies...) // nil if there are none
			out = append(out, owner)
		}
	}
	slices.SortFunc(out, func(a, b store.Owner) int { return cmp.Compare(a.Name, b.Name) })
	return out[:min(len(out), req.Limit)]
}

// takes reports whether the copy of a request is or comes in force, or ends the set.
func takes(owner store.Owner, req store.PutSchedulesRequest) bool {
	if req.Gone {
		return endsSet(owner, req.Host)
	}
	digest := req.Digest()
	switch {
	case digest == owner.Version.Digest:
		return true
	case req.SyncRevision != owner.Revision:
		return req.SyncRevision > owner.Revision
	case owner.Version == store.Version{}:
		return true
	}
	last, known := owner.CopyOf(req.Host)
	switch {
	case !known:
		return inForceElsewhere(owner, req.Host) == 0
	case last.Digest == digest && last.Revision == req.SyncRevision: // it is repeated
		return inForceElsewhere(owner, req.Host) == 0 && owner.Version.Host != ""
	}
	return true
}

// endsSet reports whether the set of an owner ends with the copy of a host.
func endsSet(owner store.Owner, host string) bool {
	return len(owner.Copies) == 1 && owner.Copies[0].Host == host &&
		(owner.Version.Host != "" || owner.Copies[0].Digest == owner.Version.Digest)
}

// inForceElsewhere counts the copies of other hosts that equal the version in force.
func inForceElsewhere(owner store.Owner, host string) (n int) {
	for _, c := range owner.Copies {
		if c.Host != host && c.Digest == owner.Version.Digest {
			n++
		}
	}
	return n
}

// syncOwner stores what a sync that changes schedules leaves behind.
func (s *Store) syncOwner(req store.PutSchedulesRequest, now time.Time) {
	if !req.Ordered() {
		return
	}
	owner, known := s.owners[req.Owner]
	if owner.Name = req.Owner; !known || req.SyncRevision > owner.Revision {
		owner.Revision = req.SyncRevision
	}
	if digest := req.Digest(); req.Sync && digest != owner.Version.Digest {
		owner.Version = store.Version{Digest: digest, Host: req.Host, At: now}
	}
	s.owners[req.Owner] = owner
	if req.Host != "" {
		s.storeCopy(req, now)
	}
}

// storeCopy stores the copy that a host declares, or deletes it, and returns the owner.
func (s *Store) storeCopy(req store.PutSchedulesRequest, now time.Time) store.Owner {
	owner, known := s.owners[req.Owner]
	if !known {
		owner = store.Owner{Name: req.Owner, Revision: req.SyncRevision}
	}
	c := store.Copy{Host: req.Host, Path: req.Path, Digest: req.Digest(), Revision: req.SyncRevision, ChangedAt: now}
	var copies []store.Copy
	for _, other := range owner.Copies {
		switch {
		case other.Host != req.Host:
			copies = append(copies, other)
		case other.Digest == c.Digest && other.Revision == c.Revision:
			c.ChangedAt = other.ChangedAt
		}
	}
	if !req.Gone {
		copies = append(copies, c)
	}
	slices.SortFunc(copies, func(a, b store.Copy) int { return cmp.Compare(a.Host, b.Host) })
	owner.Copies = copies
	s.owners[req.Owner] = owner
	return owner
}
