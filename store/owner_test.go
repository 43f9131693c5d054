package store

import (
	"errors"
	"testing"
	"time"
)

// TestOwnerSync has the rule by which the copies of hosts come into force; the suite of
// drivers has what is stored of it.
func TestOwnerSync(t *testing.T) {
	t.Parallel()
	set := func(name string) []PutSchedule { return []PutSchedule{{Name: name, Definition: []byte("{}")}} }
	digest := func(name string) string { return PutSchedulesRequest{Schedules: set(name)}.Digest() }
	at, now := time.Unix(1, 0), time.Unix(2, 0)
	const revision = 5
	for _, c := range []struct {
		name     string
		last     string // what the host declared last; empty: nothing
		inForce  string
		from     string // the host of the version in force; empty: a caller
		declares string // what another host declares; empty: there is none
		copy     string
		revision int64
		takes    bool
	}{
		{name: "a change", last: "a", inForce: "a", from: "other", declares: "a", copy: "b", revision: revision, takes: true},
		{name: "a change over a version of the host itself", last: "a", inForce: "a", from: "me", copy: "b", revision: revision, takes: true},
		{name: "a change of a copy that was kept out", last: "b", inForce: "a", from: "other", declares: "a", copy: "c", revision: revision, takes: true},
		{name: "no change", last: "b", inForce: "a", from: "other", declares: "a", copy: "b", revision: revision},
		{name: "no change, and the version came from a caller", last: "b", inForce: "a", copy: "b", revision: revision},
		{name: "no change, and the other host is forgotten", last: "b", inForce: "a", from: "other", copy: "b", revision: revision, takes: true},
		{name: "no change, and the others differ too", last: "b", inForce: "a", from: "other", declares: "c", copy: "b", revision: revision, takes: true},
		{name: "equal to the version in force", last: "b", inForce: "a", from: "other", declares: "a", copy: "a", revision: revision, takes: true},
		{name: "equal, with a smaller revision", last: "b", inForce: "a", from: "other", declares: "a", copy: "a", revision: 1, takes: true},
		{name: "a first copy", inForce: "a", from: "other", declares: "a", copy: "b", revision: revision},
		{name: "a first copy over a version that no host declares", inForce: "a", from: "other", copy: "b", revision: revision, takes: true},
		{name: "a first copy over a caller's version", inForce: "a", copy: "b", revision: revision, takes: true},
		{name: "a first copy of a version that is not known", inForce: "", copy: "b", revision: revision, takes: true},
		{name: "a version that is not known has a greater revision", inForce: "", copy: "b", revision: 1},
		{name: "a change with a smaller revision", last: "a", inForce: "a", from: "other", copy: "b", revision: 1},
		{name: "a first copy with a greater revision", inForce: "a", from: "other", declares: "a", copy: "b", revision: 6, takes: true},
		{name: "a greater revision of the same content", last: "b", inForce: "a", from: "other", declares: "a", copy: "b", revision: 6, takes: true},
	} {
		o := &Owner{Name: "o", Revision: revision}
		if c.inForce != "" {
			o.Version = Version{Digest: digest(c.inForce), Host: c.from, At: at}
		}
		for host, content := range map[string]string{"me": c.last, "other": c.declares} {
			if content != "" {
				o.Copies = append(o.Copies, Copy{Host: host, Digest: digest(content), Revision: revision, ChangedAt: at})
			}
		}
		sync, err := o.Sync(PutSchedulesRequest{Owner: "o", Sync: true, SyncRevision: c.revision, Schedules: set(c.copy), Host: "me", Path: "p"}, now)
		if err != nil || sync.Kept == c.takes {
			t.Errorf("%s: kept out: %v, %v", c.name, sync.Kept, err)
		}
		want := *o
		want.Copies = nil
		if c.takes {
			want.Revision = max(want.Revision, c.revision)
			if c.copy != c.inForce {
				want.Version = Version{Digest: digest(c.copy), Host: "me", At: now}
			}
		}
		if got := sync.Owner; got.Revision != want.Revision || got.Version != want.Version {
			t.Errorf("%s: the owner becomes %+v, want %+v", c.name, got, want)
		}
		changed := now
		if c.last == c.copy && c.revision == revision {
			changed = at
		}
		if sync.Copy != (Copy{Host: "me", Path: "p", Digest: digest(c.copy), Revision: c.revision, ChangedAt: changed}) {
			t.Errorf("%s: the copy becomes %+v", c.name, sync.Copy)
		}
	}
	var none *Owner
	if sync, err := none.Sync(PutSchedulesRequest{Owner: "o", Sync: true, SyncRevision: -1}, now); err != nil || sync.Owner.Revision != -1 {
		t.Errorf("the first sync of an owner: %+v, %v", sync, err)
	}
	if _, err := (&Owner{Revision: revision}).Sync(PutSchedulesRequest{Sync: true, SyncRevision: 4}, now); !errors.Is(err, ErrStale) {
		t.Errorf("a smaller revision without a host: %v", err)
	}
}

func TestDigestOfSchedules(t *testing.T) {
	t.Parallel()
	digest := func(puts ...PutSchedule) string { return PutSchedulesRequest{Schedules: puts}.Digest() }
	a, b := PutSchedule{Name: "a", Definition: []byte("1")}, PutSchedule{Name: "b", Definition: []byte("2")}
	if digest(a, b) != digest(b, a) {
		t.Error("the order matters")
	}
	revised := a
	revised.IfRevision = 7
	if digest(a) != digest(revised) {
		t.Error("the revision of a schedule matters")
	}
	seen := map[string]bool{}
	for _, one := range []string{
		digest(), digest(a), digest(b), digest(a, b), digest(PutSchedule{Name: "a", Definition: []byte("2")}),
		digest(PutSchedule{Name: "a 1 1 1 b", Definition: []byte("2")}), digest(PutSchedule{Name: "a", Definition: []byte("1 1 b 1 2")}),
	} {
		if seen[one] {
			t.Errorf("two sets have the digest %s", one)
		}
		seen[one] = true
	}
}
