// Package inifile reads the settings of files with sections: unit files of systemd, and configuration files of Ofelia.
// The libraries for these forms return values without their lines, which every message here names.
package inifile

import (
	"fmt"
	"strings"

	"github.com/hourbell/hourbell/internal/declared"
)

// Setting is key = value, in its section.
type Setting struct {
	Section    string // within [ ], up to a blank
	Name       string // of [section "name"], without the quotes
	Key, Value string
	Line       int // counted from 1
}

// Read returns the settings in their order. A line that ends in a backslash goes on in the next line; lines that begin with # or ;
// are comments. A key without = has the value "true".
func Read(text string, refuse func(line int, problem, remedy string)) (settings []Setting) {
	var at Setting
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i := 0; i < len(lines); i++ {
		first := i + 1
		line := strings.TrimSpace(lines[i])
		if line == "" || isComment(line) {
			continue
		}
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			if next := strings.TrimSpace(lines[i]); !isComment(next) {
				line = strings.TrimSpace(strings.TrimSuffix(line, `\`)) + " " + next
			}
		}
		if inner, found := strings.CutPrefix(line, "["); found {
			inner, closed := strings.CutSuffix(inner, "]")
			section, name, _ := strings.Cut(inner, " ")
			at = Setting{Section: section, Name: strings.Trim(strings.TrimSpace(name), `"`)}
			if !closed {
				refuse(first, "is not a section", "write [NAME]")
			}
			continue
		}
		key, value, pair := strings.Cut(line, "=")
		if !pair {
			value = "true"
		}
		at.Key, at.Value, at.Line = strings.TrimSpace(key), strings.TrimSpace(value), first
		if at.Section == "" {
			refuse(first, fmt.Sprintf("%q stands above the first section", declared.Label(at.Key, 60)), "write [NAME] above it")
			continue
		}
		settings = append(settings, at)
	}
	return settings
}

func isComment(line string) bool { return strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") }
