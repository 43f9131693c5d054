package findings

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// compareZones returns how many time zones living nodes use, and for each zone whose data differ, which nodes have the same data. This
// machine counts as a node.
func compareZones(nodes []store.NodeInfo, now time.Time) (n int, differing []string) {
	have := map[string]map[string][]string{} // by zone and fingerprint, the nodes
	for _, node := range slices.Backward(nodes) {
		if !node.Alive(now) {
			continue
		}
		for _, text := range node.Zones {
			zone, fingerprint := store.CutZonePrint(text)
			if have[zone] == nil {
				have[zone] = map[string][]string{}
			}
			have[zone][fingerprint] = append(have[zone][fingerprint], node.Name)
		}
	}
	from, until := plan.ZoneSpan(now)
	for _, zone := range slices.Sorted(maps.Keys(have)) {
		if loc, err := (*recur.Zones)(nil).Load(zone); err == nil {
			fingerprint := recur.Fingerprint(loc, from, until)
			have[zone][fingerprint] = append(have[zone][fingerprint], "this machine")
		}
		if len(have[zone]) == 1 {
			continue
		}
		var groups []string
		for _, names := range have[zone] {
			groups = append(groups, strings.Join(names, ", "))
		}
		slices.Sort(groups)
		differing = append(differing, fmt.Sprintf("%s has other data on %s", zone, strings.Join(groups, " than on ")))
	}
	return len(have), differing
}
