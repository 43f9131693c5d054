package crontab

import (
	"maps"
	"regexp"
	"strings"

	"github.com/hourbell/hourbell/kinds"
)

// setting is an environment line.
type setting struct{ name, value string }

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parseSetting reads NAME=value. Name and value may each be in quotes, single
// or double, and have blanks around them; quotes end at the next quote, and no
// text may follow; there is no other escaping, and no variable is replaced.
// Names may consist of any bytes. ok is false if the line is not a setting;
// problem describes what is wrong with a setting.
func parseSetting(line string) (s setting, problem string, ok bool) {
	name, rest, closed := word(line, " \t=")
	rest = strings.TrimLeft(rest, blanks)
	if name == "" || !closed || !strings.HasPrefix(rest, "=") {
		return setting{}, "", false
	}
	s.name = name
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

// word returns a quoted text, or otherwise the text up to one of the bytes in
// ends.
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

// set makes a setting apply to the lines below it. Each change copies the map
// of settings, so that entries can share the maps.
func (s *scan) set(one setting, problem string) {
	field := shown(one.name)
	switch {
	case problem != "":
		s.add(field, problem, `write NAME=value or NAME="value"`)
		return
	case one.name == "CRON_TZ" && s.badZone(one.value):
		return
	case one.name == "LOGNAME":
		s.warn(field, "is ignored: it is always the name of the user who runs the command, as with cron", "remove the line")
		return
	case !variable.MatchString(one.name):
		s.warn(field, "is not a name that shells can read", "use letters, digits and _")
	case one.name == "SHELL" && one.value == "":
		s.warn(field, "is empty: /bin/sh runs the lines below", "write the path of a shell, or remove the line")
	case one.name == "MAILTO" && s.Mails:
		if err := kinds.CheckMailTo(one.value); err != nil {
			s.addFields(err)
			return
		}
	case one.value != "":
		if one.name == "TZ" && s.env["CRON_TZ"] == "" {
			s.warn(field, "is the zone of the commands alone: the times of the lines below are not in it",
				"write CRON_TZ="+shown(one.value)+" in addition, if they are meant to be")
		}
		if m, meant := meaning[one.name]; meant {
			s.warn(field, m.problem, m.remedy)
		}
		s.checkSetting(one)
	}
	s.env = maps.Clone(s.env)
	s.env[one.name] = one.value
}

// checkSetting calls Reader.CheckSetting, if there is one.
func (s *scan) checkSetting(one setting) {
	if s.CheckSetting == nil {
		return
	}
	if problem, remedy := s.CheckSetting(one.name, one.value); problem != "" {
		s.warn(one.name, problem, remedy)
	}
}

// meaning are the variables that have a meaning for a cron and none here.
// Commands get them nevertheless.
var meaning = map[string]struct{ problem, remedy string }{
	"MAILTO": {
		"nothing is mailed, except by nodes with serve --mail: the output is kept with each job",
		`use --mail, on_output or on_failure; MAILTO="" ends this warning`,
	},
	"MAILFROM":                  {"has no meaning: mails come from the user of the line", "remove the line"},
	"CONTENT_TYPE":              {"has no meaning: mails are text in UTF-8", "remove the line"},
	"CONTENT_TRANSFER_ENCODING": {"has no meaning: mails are text in UTF-8", "remove the line"},
	"RANDOM_DELAY":              {"lines start on time, without a random delay", "remove the line"},
	"START_HOURS_RANGE":         {"is for anacron and has no meaning here", "remove the line"},
}
