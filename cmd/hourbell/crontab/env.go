package crontab

import (
	"regexp"
	"strings"
)

// setting is an environment line.
type setting struct{ name, value string }

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parseSetting reads NAME=value. Name and value may each be in quotes, single
// or double, and have blanks around them; quotes end where they are closed,
// and nothing may follow; there is no other escaping, and no variable is
// replaced. The line is none of this sort if ok is false; what is wrong with
// one that is, problem says.
func parseSetting(line string) (s setting, problem string, ok bool) {
	name, rest, closed := word(line, " \t=")
	rest = strings.TrimLeft(rest, blanks)
	if name == "" || !closed || !strings.HasPrefix(rest, "=") {
		return setting{}, "", false
	}
	s.name = name
	if !variable.MatchString(name) {
		return s, "is not a name of a variable", true
	}
	rest = strings.Trim(rest[1:], blanks)
	if !strings.HasPrefix(rest, `"`) && !strings.HasPrefix(rest, `'`) {
		s.value = rest
		return s, "", true
	}
	value, after, closed := word(rest, "")
	switch {
	case !closed:
		return s, "has a quote that is not closed", true
	case after != "":
		return s, "has text after the closing quote", true
	}
	s.value = value
	return s, "", true
}

// word takes a quoted text, or else all up to one of the bytes in ends.
func word(text, ends string) (word, rest string, closed bool) {
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		end := strings.IndexByte(text[1:], text[0])
		if end < 0 {
			return "", "", false
		}
		return text[1 : 1+end], text[end+2:], true
	}
	if end := strings.IndexAny(text, ends); end >= 0 {
		return text[:end], text[end:], true
	}
	return text, "", true
}
