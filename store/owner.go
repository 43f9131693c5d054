package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Owner is an owner of schedules as its syncs left it: the version of its set that is in
// force, and the copies of it that hosts have.
type Owner struct {
	Name string
	// Revision is the greatest SyncRevision that was in force.
	Revision int64
	Version  Version // zero: the owner was never synced
	Copies   []Copy  // by host
}

// Version is a set of schedules of an owner.
type Version struct {
	Digest string    // PutSchedulesRequest.Digest of the set
	Host   string    // the host whose copy brought it; empty: a caller without a host
	At     time.Time // when it came into force, by the store's clock
}

// Copy is what a host declared last for an owner.
type Copy struct {
	Host     string
	Path     string // of the file, on the host
	Digest   string // as in Version
	Revision int64  // PutSchedulesRequest.SyncRevision
	// ChangedAt is when the host declared this content, with this revision, first.
	ChangedAt time.Time
}

// same reports whether a host declares again what it declared last.
func (c Copy) same(last Copy) bool { return c.Digest == last.Digest && c.Revision == last.Revision }

// InForce reports whether a copy equals the version in force.
func (o Owner) InForce(c Copy) bool { return c.Digest == o.Version.Digest }

// CopyOf returns the copy of a host.
func (o Owner) CopyOf(host string) (Copy, bool) {
	i := slices.IndexFunc(o.Copies, func(c Copy) bool { return c.Host == host })
	if i < 0 {
		return Copy{}, false
	}
	return o.Copies[i], true
}

// Declaring returns the hosts whose copies equal the version in force.
func (o Owner) Declaring() (hosts []string) {
	for _, c := range o.Copies {
		if o.InForce(c) {
			hosts = append(hosts, c.Host)
		}
	}
	return hosts
}

// Differing returns the copies that do not equal the version in force.
func (o Owner) Differing() (copies []Copy) {
	for _, c := range o.Copies {
		if !o.InForce(c) {
			copies = append(copies, c)
		}
	}
	return copies
}

// AddOwner adds a row of a listing of owners by name, which is an owner with at most one of
// its copies.
func AddOwner(list []Owner, row Owner) []Owner {
	if n := len(list); n > 0 && list[n-1].Name == row.Name {
		list[n-1].Copies = append(list[n-1].Copies, row.Copies...)
		return list
	}
	return append(list, row)
}

// Digest returns a text that is the same for the same set of schedules and limits, in any order.
func (r PutSchedulesRequest) Digest() string {
	puts := slices.SortedFunc(slices.Values(r.Schedules), func(a, b PutSchedule) int { return cmp.Compare(a.Name, b.Name) })
	sum := sha256.New()
	for _, put := range puts {
		fmt.Fprintf(sum, "%d %s %d %s ", len(put.Name), put.Name, len(put.Definition), put.Definition)
	}
	for _, limit := range slices.SortedFunc(slices.Values(r.PutLimits()), func(a, b PutLimit) int { return cmp.Compare(a.Limit.Name, b.Limit.Name) }) {
		fmt.Fprintf(sum, "limit %s ", limit.Limit.definition())
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// OwnerSync is the decision about a request that is Ordered.
type OwnerSync struct {
	Owner Owner // as it will be, without copies
	Copy  Copy  // to be stored, or deleted if the request has Gone, if the request has a host
	// Kept reports that the schedules stay as they are, because the copy of the host is not
	// in force: only Copy is stored.
	Kept bool
}

// Sync decides about a request that is Ordered; see PutSchedulesRequest.Host. o is the owner
// with its copies, nil for a name that was never synced.
func (o *Owner) Sync(r PutSchedulesRequest, now time.Time) (OwnerSync, error) {
	if o == nil {
		o = &Owner{Revision: r.SyncRevision}
	}
	out := OwnerSync{Owner: Owner{Name: r.Owner, Revision: max(o.Revision, r.SyncRevision), Version: o.Version}}
	digest := ""
	if r.Sync {
		digest = r.Digest()
	}
	switch {
	case r.Host == "" && r.SyncRevision < o.Revision:
		return out, fmt.Errorf("owner %q, revision %d after %d: %w", r.Owner, r.SyncRevision, o.Revision, ErrStale)
	case r.Gone:
		out.Copy, out.Kept = Copy{Host: r.Host}, !o.endsWith(r.Host)
	case r.Host != "":
		next := Copy{Host: r.Host, Path: r.Path, Digest: digest, Revision: r.SyncRevision, ChangedAt: now}
		out.Copy, out.Kept = o.syncCopy(next)
	}
	if out.Kept {
		out.Owner.Revision = o.Revision
		return out, nil
	}
	if r.Sync && digest != o.Version.Digest {
		out.Owner.Version = Version{Digest: digest, Host: r.Host, At: now}
	}
	return out, nil
}

// syncCopy returns the copy of a host as it is to be stored; a copy that is the same as before keeps the instant of its change.
// kept: the copy is not in force.
func (o *Owner) syncCopy(next Copy) (_ Copy, kept bool) {
	last, known := o.CopyOf(next.Host)
	if known && next.same(last) {
		next.ChangedAt = last.ChangedAt
	}
	return next, !o.takes(next, last, known)
}

// takes reports whether a copy is, or comes, in force. last is the last copy of its host, if
// the host is known.
func (o *Owner) takes(c, last Copy, known bool) bool {
	switch {
	case o.Version.Digest == c.Digest:
		return true
	case c.Revision != o.Revision:
		return c.Revision > o.Revision
	case o.Version.Digest == "":
		return true
	case known && !c.same(last):
		return true
	}
	// The host has not changed its copy. The version in force stays as long as another
	// host declares it, or if it did not come from a host and the copy is older.
	declared := slices.ContainsFunc(o.Copies, func(other Copy) bool { return other.Host != c.Host && o.InForce(other) })
	return !declared && (!known || o.Version.Host != "")
}

// endsWith reports whether the set ends when a host has no copy any more: if it was the last
// host with a copy, unless a caller without a host has put another version into force.
func (o *Owner) endsWith(host string) bool {
	last, known := o.CopyOf(host)
	others := slices.ContainsFunc(o.Copies, func(other Copy) bool { return other.Host != host })
	return known && !others && (o.Version.Host != "" || o.InForce(last))
}
