package crontab

import (
	"fmt"
	"regexp"
	"strings"
)

var fieldNames = [...]string{"minute", "hour", "day of month", "month", "day of week"}

// sixthField matches a word that can only be another time field, not a program.
var sixthField = regexp.MustCompile(`^([*?]|[0-9]+|(SUN|MON|TUE|WED|THU|FRI|SAT)\b)[-0-9*,/?#LWA-Z]*$`)

var (
	// stepOfOne matches a step after a single value.
	stepOfOne = regexp.MustCompile(`(^|,)[0-9A-Za-z]+/`)
	// quartz matches the syntax of other dialects.
	quartz = regexp.MustCompile(`[?#~]|(^|[^A-Za-z])(L|W|LW|H)([^A-Za-z]|$)|[0-9][LW]`)
)

// checkFields refuses rules that recur may accept and cron does not, and rules
// that crons interpret differently. recur checks the rest of the grammar.
func (s *scan) checkFields(fields []string) bool {
	for i, field := range fields {
		title := fmt.Sprintf("time fields: %s %q", fieldNames[i], shown(field))
		switch {
		case strings.Contains(field, "="):
			s.add(title, "is no time; it looks like a setting", "write NAME=value alone in a line, without export; or put the five time fields before the command")
		case strings.Contains(field, "~"):
			s.add(title, "asks for a random time, which each node would choose for itself", "write a time")
		case quartz.MatchString(field):
			s.add(title, "is not in cron's words", "write numbers, names, *, ranges, lists and steps; schedule files (YAML) take more")
		case stepOfOne.MatchString(field):
			s.add(title, "has a step after a single value, which crons read in different ways", "write a range before the step, as in 5-59/10, or the value alone")
		default:
			continue
		}
		return false
	}
	return true
}
