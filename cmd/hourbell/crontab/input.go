package crontab

import "strings"

// splitInput takes apart what cron runs and what it feeds to it. The first %
// without a backslash ends the command; each further one is a newline, and the
// input ends with one.
//
// As with Debian's cron a backslash counts in a different way on each side:
// within the command it covers a % or a backslash and is gone then, so that \\%
// is a backslash and the end of the command; within the input it covers a %
// alone, whatever stands before it. Any other backslash stays.
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
	const escaped = "\x00" // no crontab contains it
	text = strings.ReplaceAll(text, `\%`, escaped)
	text = strings.ReplaceAll(text, "%", "\n")
	text = strings.ReplaceAll(text, escaped, "%")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
