package declared

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// CheckAfter calls add for each mistake in which schedules of a file follow which: a name that
// the file does not declare, and a circle.
func CheckAfter(entries []Entry, add func(entry Entry, problem, remedy string)) {
	edges := map[string][]string{}
	for _, entry := range entries {
		edges[entry.Name] = nil
		for _, e := range entry.After {
			edges[entry.Name] = append(edges[entry.Name], e.Schedule)
		}
	}
	inCycle := map[string]bool{}
	for _, entry := range entries {
		for _, name := range edges[entry.Name] {
			if _, known := edges[name]; !known {
				names := make([]string, 0, len(edges))
				for other := range edges {
					names = append(names, other)
				}
				slices.Sort(names)
				add(entry, fmt.Sprintf("%q is not a schedule of this file%s", Label(name, 60), Suggest(name, names)),
					"write the name of a schedule of this file; schedules put --after takes any name")
			}
		}
		var cycle *check.FieldError
		if err := store.CheckCycle(edges, []string{entry.Name}); errors.As(err, &cycle) && !inCycle[cycle.Value] {
			inCycle[cycle.Value] = true
			add(entry, fmt.Sprintf("%q %s", Label(cycle.Value, 200), cycle.Problem), cycle.Remedy)
			return
		}
	}
}
