package plan

import (
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Cache caches plans by schedule and revision, and the calendars that they name. One goroutine uses
// it.
type Cache struct {
	plans     map[int64]cachedPlan
	calendars StoredCalendars
	zones     *recur.Zones
}

// NewCache returns an empty cache whose plans share zones. When zones have got other data, the plans are out of date.
func NewCache(zones *recur.Zones) Cache {
	return Cache{plans: map[int64]cachedPlan{}, calendars: StoredCalendars{}, zones: zones}
}

type cachedPlan struct {
	revision int64
	anchor   time.Time
	plan     Plan
	err      error // why there is no plan
}

// maxPlans is the greatest number of cached plans; a full cache is cleared.
const maxPlans = 100_000

// Missing returns the names of the stored calendars that schedules without a cached plan name. The
// caller reads these calendars, and passes them to SetCalendars. A cached plan has the right
// calendars, because a change of a calendar changes the revision of each schedule that names it.
func (c Cache) Missing(schedules []store.Schedule) []string {
	var unknown []store.Schedule
	for _, s := range schedules {
		if _, ok := c.find(s); !ok {
			unknown = append(unknown, s)
		}
	}
	return CalendarNames(unknown)
}

// SetCalendars stores the calendars that were read for names. A name without a row has no calendar.
func (c Cache) SetCalendars(names []string, rows []store.Calendar) {
	c.calendars.update(names, rows, c.zones)
}

func (c Cache) find(s store.Schedule) (cachedPlan, bool) {
	cached, ok := c.plans[s.ID]
	return cached, ok && cached.revision == s.Revision && cached.anchor.Equal(s.Anchor)
}

// Get returns the plan of a schedule, or why there is no plan; again: the same answer was returned
// before.
func (c Cache) Get(s store.Schedule) (plan Plan, again bool, err error) {
	if cached, ok := c.find(s); ok {
		return cached.plan, true, cached.err
	}
	plan, err = newPlan(s, c.calendars, c.zones)
	if len(c.plans) >= maxPlans {
		clear(c.plans)
	}
	c.plans[s.ID] = cachedPlan{revision: s.Revision, anchor: s.Anchor, plan: plan, err: err}
	return plan, false, err
}
