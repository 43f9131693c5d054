package recur

import (
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
