package recur

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"
)

// Zones finds zones by their IANA name and caches them, so that all rules made
// with it share one [time.Location] per zone. The data of a zone takes some
// kilobytes of memory and about ten microseconds to load, which is too much for
// each of a hundred thousand schedules. The cache is never emptied; there are
// about six hundred names.
//
// The zero value is ready for use, and concurrent calls are allowed. A nil
// *Zones is valid too and loads the zone on each call.
type Zones struct {
	mu    sync.Mutex
	found map[string]*time.Location
}

// Load returns the zone of an IANA name such as Europe/Prague. It searches
// where [time.LoadLocation] searches: in the data of the system, or in the data
// of a program that imports time/tzdata. The error is an [*Error] of the field
// "tz".
func (z *Zones) Load(name string) (*time.Location, error) {
	if z == nil {
		return loadZone(name)
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if loc, ok := z.found[name]; ok {
		return loc, nil
	}
	loc, err := loadZone(name)
	if err != nil {
		return nil, err
	}
	if z.found == nil {
		z.found = map[string]*time.Location{}
	}
	z.found[loc.String()] = loc
	return loc, nil
}

// Names returns the names of the zones that Load has found, except UTC, in byte order.
func (z *Zones) Names() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	names := slices.Sorted(maps.Keys(z.found))
	return slices.DeleteFunc(names, func(name string) bool { return z.found[name] == time.UTC })
}

// Reload reads the data of all zones again that Load has found, and returns the
// names of the zones whose [Fingerprint] has changed, in byte order. From then
// on Load returns the new data of these zones; rules that were made before keep
// the old data. A zone that cannot be read keeps its data.
func (z *Zones) Reload(from, until time.Time) (changed []string) {
	for _, name := range z.Names() {
		loc, err := loadZone(name)
		if err != nil {
			continue
		}
		z.mu.Lock()
		if Fingerprint(loc, from, until) != Fingerprint(z.found[name], from, until) {
			z.found[name] = loc
			changed = append(changed, name)
		}
		z.mu.Unlock()
	}
	return changed
}

// Fingerprint identifies what the clock of a zone shows from the first instant
// up to the second. It is equal for data with the same offsets from UTC, also if
// their files differ in form or in what they say of other times.
func Fingerprint(loc *time.Location, from, until time.Time) string {
	hash, shown := fnv.New64a(), int64(never)
	z := zone{loc}
	for at, last := from.Unix(), until.Unix(); at < last; {
		offset, end := z.stretch(at)
		if offset != shown {
			_ = binary.Write(hash, binary.BigEndian, [2]int64{at, offset}) // never fails
			shown = offset
		}
		at = end
	}
	return fmt.Sprintf("%016x", hash.Sum64())
}
