package recur

import (
	"sync"
	"time"
)

// Zones finds zones by their IANA name and keeps those that it found, so that
// all rules made with it share one [time.Location] a zone: the data of a zone
// take some kilobytes and some ten microseconds to load, which a hundred
// thousand schedules should not each spend. It never forgets, and there are
// some six hundred names.
//
// The zero value is ready for use, by several goroutines at once. A nil *Zones
// is, too, and loads each zone anew.
type Zones struct {
	mu    sync.Mutex
	found map[string]*time.Location
}

// Load returns the zone of an IANA name such as Europe/Prague. It is found
// where [time.LoadLocation] looks: in the data of the system, or in those that
// a program carries along when it imports time/tzdata. The error is an
// [*Error] of the field "tz".
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
