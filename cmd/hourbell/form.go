package main

import (
	"path/filepath"
	"regexp"
	"strings"
)

// cronLine is a line of a crontab: a rule and what follows it.
var cronLine = regexp.MustCompile(`^[ \t]*-?(@[a-z]+|[0-9*][-0-9*,/]*([ \t]+[0-9A-Za-z*][-0-9A-Za-z*,/]*){4})[ \t]+(.*)$`)

// formOf says what a file is that was given without a flag: by its name, else
// by its text.
func formOf(path string, text []byte) form {
	abs, err := filepath.Abs(path)
	if err != nil || path == "-" {
		abs = path
	}
	switch slashed := filepath.ToSlash(abs); {
	case slashed == "/etc/crontab", filepath.ToSlash(filepath.Dir(abs)) == "/etc/cron.d":
		return systemForm
	case spoolUser(path) != "":
		return userForm
	case strings.HasSuffix(slashed, ".yaml"), strings.HasSuffix(slashed, ".yml"), strings.HasSuffix(slashed, ".json"):
		return yamlForm
	}
	return formOfText(string(text))
}

// formOfText takes a text with a line of a crontab for one, and for one with
// users in it if every such line has what can be a user and a command.
func formOfText(text string) form {
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
		return yamlForm
	case users == lines:
		return systemForm
	}
	return userForm
}
