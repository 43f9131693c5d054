// Package words splits command lines of unit files and configuration files into words.
package words

import "strings"

// Split splits a command line at blanks. Single and double quotes keep blanks, and a backslash keeps the byte after it,
// except within single quotes. The problem is empty if the quotes are closed.
func Split(line string) (list []string, problem string) {
	var (
		word   strings.Builder
		quote  rune
		inWord bool
		escape bool
	)
	for _, r := range line {
		switch {
		case escape:
			word.WriteRune(r)
			escape = false
		case r == '\\' && quote != '\'':
			escape, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, inWord = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if inWord {
				list = append(list, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 || escape {
		return nil, "has a quote or a backslash without an end"
	}
	if inWord {
		list = append(list, word.String())
	}
	return list, ""
}
