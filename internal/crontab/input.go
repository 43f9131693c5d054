package crontab

import (
	"regexp"
	"strings"
)

// splitInput separates the command that cron runs from the command's input. The
// first % without a backslash ends the command; each further % is a newline,
// and the input ends with a newline.
//
// As with Debian's cron a backslash has a different meaning in each part:
// within the command it escapes a % or a backslash and is removed, so that \\%
// is a backslash and the end of the command; within the input it escapes only a
// %, whatever byte is before it. Any other backslash stays.
func splitInput(text string) (command, input string) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '%':
			return out.String(), inputLines(text[i+1:])
		case text[i] == '\\' && i+1 < len(text):
			i++
			if text[i] != '%' && text[i] != '\\' {
				out.WriteByte('\\')
			}
		}
		out.WriteByte(text[i])
	}
	return out.String(), ""
}

func inputLines(text string) string {
	if text == "" {
		return ""
	}
	const escaped = "\x00" // a byte that no crontab contains
	text = strings.ReplaceAll(text, `\%`, escaped)
	text = strings.ReplaceAll(text, "%", "\n")
	text = strings.ReplaceAll(text, escaped, "%")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// format matches the end of a command that ends within a format of date(1), which has signs of per cent.
var format = regexp.MustCompile(`\bdate\b[^|;&)]*\+[^ \t]*$`)

// warnCutFormat warns about a line whose command ends, for cron too, within a format of date. command is what
// cron would run, and rest the text of the line after the rule and the user.
func (s *scan) warnCutFormat(command, rest string) {
	if len(command) < len(rest) && format.MatchString(command) && strings.HasPrefix(rest[len(command):], "%") {
		s.warn("command", "ends at a % sign, after which cron takes the text as input: a format of date is cut there", `write \% for each % sign`)
	}
}
