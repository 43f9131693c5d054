package files

import (
	"path/filepath"
	"regexp"
	"strings"
)

// cronLine matches a line of a crontab: a rule and the rest of the line.
var cronLine = regexp.MustCompile(`^[ \t]*-?(@[a-z]+|[0-9*][-0-9*,/]*([ \t]+[0-9A-Za-z*][-0-9A-Za-z*,/]*){4})[ \t]+(.*)$`)

// formOf returns the format of a file that was given without a flag: by its
// name, otherwise by its text.
func formOf(path string, text []byte) Form {
	abs, err := filepath.Abs(path)
	if err != nil || path == "-" {
		abs = path
	}
	switch slashed := filepath.ToSlash(abs); {
	case slashed == "/etc/crontab", filepath.ToSlash(filepath.Dir(abs)) == "/etc/cron.d":
		return SystemCrontab
	case spoolUser(path) != "":
		return UserCrontab
	case strings.HasSuffix(slashed, ".yaml"), strings.HasSuffix(slashed, ".yml"), strings.HasSuffix(slashed, ".json"):
		return YAML
	}
	return formOfText(string(text))
}

// formOfText returns the format of a text. A text with a line of a crontab is a
// crontab; it is a system crontab if each such line has a possible user and a
// command after the rule.
func formOfText(text string) Form {
	lines, users := 0, 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		m := cronLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		lines++
		if user, command, two := strings.Cut(strings.TrimSpace(m[3]), " "); two && knownUser(user) && strings.TrimSpace(command) != "" {
			users++
		}
	}
	switch {
	case lines == 0:
		return YAML
	case users == lines:
		return SystemCrontab
	}
	return UserCrontab
}
