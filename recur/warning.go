package recur

import (
	"fmt"
	"strings"
)

// Warnings returns the parts of the rule that are valid in cron but probably a
// mistake, each with a remedy. A Spec that is not valid has no warnings;
// [Spec.Validate] returns its error.
//
// There is one kind of warning at present: a step beyond its field. */90
// minutes rings at minute 0 of each hour.
func (s Spec) Warnings() (warnings []*Error) {
	if s.Validate() != nil {
		return nil
	}
	for _, one := range s.Any {
		warnings = append(warnings, one.Warnings()...)
	}
	text := s.Cron
	if namesZone(text) {
		_, text = cutWord(text)
	}
	words := strings.Fields(text)
	if len(words) == 0 || words[0][0] == '@' || s.Dialect == Quartz { // Quartz refuses such steps
		return warnings
	}
	if words, err := standard.arrange(words); err == nil {
		for at, word := range words {
			warnings = append(warnings, standard.kinds[at].warnSteps(s.Cron, word)...)
		}
	}
	return warnings
}

// warnSteps returns warnings about steps beyond the field in a valid field of
// the rule cron.
func (k fieldKind) warnSteps(cron, text string) (warnings []*Error) {
	for item := range strings.SplitSeq(text, ",") {
		low, _, step, err := k.parseSpan(item)
		if err != nil || step <= k.max {
			continue // an item that is not a span, such as 15W, has no step
		}
		remedy := "write the value without a step"
		if k.every != "" {
			remedy = fmt.Sprintf("write every: %d%s in place of cron, or the value without a step if it is meant", step, k.every)
		}
		warnings = append(warnings, newError("cron", cron,
			fmt.Sprintf("%s %s has a step beyond the field, which leaves the value %d alone", k.name, quote(item), low), remedy))
	}
	return warnings
}
