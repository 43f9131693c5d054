package plan

import (
	"slices"
	"strings"

	"github.com/hourbell/hourbell/store"
)

// misfire begins the reasons of slots that no node fired in time.
const misfire = "misfire: "

// MissedBecause gives the slots of a firing that no node fired in time another reason.
func (p Plan) MissedBecause(s store.Schedule, f store.Firing, why string) store.Firing {
	f.Slots = slices.Clone(f.Slots)
	for i, r := range f.Slots {
		if r.Outcome == store.SlotMissed && strings.HasPrefix(r.Reason, misfire) {
			f.Slots[i].Reason = misfire + why
		}
	}
	p.addEvents(s, &f)
	return f
}
