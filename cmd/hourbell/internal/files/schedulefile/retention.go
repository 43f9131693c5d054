package schedulefile

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/internal/declared"
)

// keepOfKinds reads how long finished jobs of each kind are kept.
func (e *entry) keepOfKinds() map[string]hourbell.Keep {
	const remedy = "write the name of each kind and how long its jobs are kept, as in http: {keep: {completed: none, failed: 30d}}"
	f := e.find("kinds")
	switch {
	case f == nil:
		return nil
	case f.Value.Sort != yamltree.Mapping:
		e.add("kinds", "is "+f.Value.Sort.String(), remedy)
		return nil
	}
	keep := map[string]hourbell.Keep{}
	for _, k := range f.Value.Fields {
		one := &entry{reader: e.reader, node: k.Value, label: fmt.Sprintf("kinds %q", declared.Label(k.Key, 60))}
		one.addFields(check.Name("kind", k.Key))
		if !one.isMapping("", "write keep: with completed and failed") {
			continue
		}
		one.checkKeys(kindKeys)
		if times := one.find("keep"); times != nil {
			in := &entry{reader: e.reader, node: times.Value, label: one.label + ": keep"}
			if in.isMapping("", "write completed and failed as keys") {
				in.checkKeys(keepKeys)
				keep[k.Key] = hourbell.Keep{Completed: in.keepTime("completed", true), Failed: in.keepTime("failed", false)}
			}
		}
	}
	return keep
}

// keepTime reads a duration; 0 if the key is not given. none reports whether the
// value can be none.
func (e *entry) keepTime(key string, none bool) time.Duration {
	remedy := "write a number with its unit, like 30d, 12h or 1h30m"
	if none {
		remedy += ", or none"
	}
	f := e.find(key)
	switch {
	case f == nil:
		return 0
	case f.Value.Sort != yamltree.Scalar:
		e.add(key, "is "+f.Value.Sort.String(), remedy)
		return 0
	case f.Value.Text == "none" && none:
		return hourbell.KeepNone
	}
	d, ok := parseKeepTime(f.Value.Text)
	if !ok {
		e.add(key, fmt.Sprintf("%q is not a positive duration", declared.Label(f.Value.Text, 60)), remedy)
	}
	return d
}

// mostDays is the greatest number of days that fits a time.Duration.
const mostDays = int64(1<<63-1) / int64(24*time.Hour)

// parseKeepTime reads a positive duration, or a number of days such as 30d.
func parseKeepTime(text string) (time.Duration, bool) {
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, err := strconv.ParseInt(days, 10, 64)
		return time.Duration(n) * 24 * time.Hour, err == nil && n > 0 && n <= mostDays
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0
}
