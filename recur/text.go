package recur

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Parse reads the text that a rule's String method prints:
//
//	CRON_TZ=Europe/Prague 0 9 * * 1-5
//	0 0 9 ? * FRI#2 dialect quartz
//	every 90s from 2026-01-01T00:00:00Z
//	every 1 month from 2026-01-31T09:00:00Z tz Europe/Prague gap skip
//	at 2026-03-01T09:00:00Z
//	0 9 * * 1-5 until 2027-01-01T00:00:00Z | 0 12 * * 6
//
// A text that starts with neither "every" nor "at" is read as by [ParseCron],
// in UTC unless it names a zone. Fields of a [Spec] may follow, in any order:
// dialect, tz, gap, fold, from (its Start) and until (its Stop). A | separates
// the rules of a union. The error is an [*Error].
func Parse(text string) (Rule, error) {
	return (*Zones)(nil).Parse(text)
}

// Parse is the function [Parse] with zones that are shared.
func (z *Zones) Parse(text string) (Rule, error) {
	parts := strings.Split(text, strings.TrimSpace(unionMark))
	if len(parts) == 1 {
		return z.parseOne(text)
	}
	if len(parts) > MaxAny {
		return nil, newError("any", text, fmt.Sprintf("there are %d rules", len(parts)), fmt.Sprintf("give at most %d", MaxAny))
	}
	var rules union
	for _, part := range parts {
		rule, err := z.parseOne(part)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// parseOne reads a rule that is not a union.
func (z *Zones) parseOne(text string) (Rule, error) {
	s, err := parseSpec(text)
	if err != nil {
		return nil, err
	}
	return z.Rule(s, time.Unix(0, 0))
}

// ParseSpec turns the text of a rule, as [Parse] reads it, into a Spec that is
// written in the same way. The rule may still be invalid; [Spec.Validate]
// reports this. The error is an [*Error].
func ParseSpec(text string) (Spec, error) {
	parts := strings.Split(text, strings.TrimSpace(unionMark))
	if len(parts) == 1 {
		return parseSpec(text)
	}
	var s Spec
	for _, part := range parts {
		one, err := parseSpec(part)
		if err != nil {
			return Spec{}, err
		}
		s.Any = append(s.Any, one)
	}
	return s, nil
}

// parseSpec is ParseSpec for a rule that is not a union.
func parseSpec(text string) (s Spec, err error) {
	rule, err := cutOptions(text, &s)
	if err != nil {
		return Spec{}, err
	}
	switch word, rest := cutWord(rule); word {
	case "every":
		if s.Every = strings.TrimSpace(rest); s.Every == "" || s.Start == "" {
			return Spec{}, newError("every", rest, "the interval and the instant it counts from are needed",
				"write it like: every 90s from 2026-01-01T00:00:00Z")
		}
	case "at":
		if s.At = strings.TrimSpace(rest); s.At == "" {
			return Spec{}, newError("at", "", "the instant is missing", "write it like: at 2026-03-01T09:00:00Z")
		}
	default:
		if s.Cron = rule; strings.TrimSpace(rule) == "" {
			return Spec{}, newError("cron", "", "no rule is given", "write a cron rule, every with an interval, or at with an instant")
		}
	}
	return s, nil
}

// cutOptions removes pairs of words such as "gap skip" from the end of a rule's
// text and stores them in s.
func cutOptions(text string, s *Spec) (rest string, err error) {
	places := map[string]*string{
		"dialect": &s.Dialect, "tz": &s.Zone, "gap": &s.Gap, "fold": &s.Fold, "from": &s.Start, "until": &s.Stop,
	}
	for {
		before, value := cutLastWord(text)
		before, name := cutLastWord(before)
		place := places[name]
		switch {
		case place == nil && places[value] != nil:
			return "", newError(fieldOf(value), "", "nothing follows "+quote(value), "write its value, or leave the word out")
		case place == nil:
			return text, nil
		case *place != "":
			return "", newError(fieldOf(name), value, quote(name)+" is given twice", "give it once")
		}
		*place, text = value, before
	}
}

// fieldOf returns the field of a Spec for an option word in a rule's text.
func fieldOf(word string) string {
	words, fields := []string{"from", "until"}, []string{"start", "stop"}
	if i := slices.Index(words, word); i >= 0 {
		return fields[i]
	}
	return word
}

// cutLastWord splits text before its last word.
func cutLastWord(text string) (before, word string) {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	before = strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
	return before, text[len(before):]
}
