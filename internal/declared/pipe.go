package declared

import "strings"

// PipeProblem is the problem of a line that hides failures.
const PipeProblem = "has a pipe, which hides failures: only the exit code of its last command counts"

// HidesFailures reports whether a line for the shell has a pipe outside quotes and does not set pipefail: the exit code of a pipe
// is the exit code of its last command.
func HidesFailures(line string) bool {
	if strings.Contains(line, "pipefail") {
		return false
	}
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != '\'' && c == '\\':
			i++ // the next byte is taken as it is
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '#' && (i == 0 || line[i-1] == ' '):
			return false
		case c == '|' && i+1 < len(line) && line[i+1] == '|':
			i++
		case c == '|' && (i == 0 || line[i-1] != '>'): // >| writes to a file
			return true
		}
	}
	return false
}
