package kinds

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"github.com/hourbell/hourbell/internal/redact"
)

// hidden replaces a value that may be a secret.
const hidden = "…"

// Redact returns the arguments of a job, or of a hook, as listings show them.
// In a command it hides the values of the environment and the input (also the
// values that a shell line sets before its program, as in TOKEN=… curl); in an
// HTTP request the header values, the body, and the part of the URL after the
// path; in an SQL statement the values of its parameters. The arguments of other kinds, and arguments that cannot be read, are
// returned unchanged.
func Redact(kind string, args []byte) []byte {
	switch kind {
	case CommandKind:
		return rewrite(args, func(c *Command) {
			hideValues(c.Env)
			hide(&c.Stdin)
			c.Shell = hideAssigned(c.Shell)
			if len(c.Argv) == 3 && c.Argv[1] == "-c" {
				c.Argv[2] = hideAssigned(c.Argv[2])
			}
		})
	case HTTPKind:
		return rewrite(args, func(h *HTTP) {
			hideValues(h.Header)
			hide(&h.Body)
			h.URL = hideInURL(h.URL)
		})
	case SQLKind:
		return rewrite(args, func(s *SQL) {
			for i, arg := range s.Args {
				if _, of := arg.(map[string]any); arg != nil && !of {
					s.Args[i] = hidden
				}
			}
		})
	}
	return args
}

// rewrite returns arguments with a change; arguments that cannot be read are
// returned unchanged.
func rewrite[T any](args []byte, change func(*T)) []byte {
	var value T
	if json.Unmarshal(args, &value) != nil {
		return args
	}
	change(&value)
	text, err := encode(value)
	if err != nil {
		return args
	}
	return text
}

func hide(text *string) {
	if *text != "" {
		*text = hidden
	}
}

func hideValues(pairs map[string]string) {
	for name := range pairs {
		pairs[name] = hidden
	}
}

// assigned matches the beginning of an assignment in a shell line: a variable's
// name and the equals sign.
var assigned = regexp.MustCompile(`^[ \t]*[A-Za-z_][A-Za-z0-9_]*=`)

// hideAssigned hides the values that a shell line sets before its program. If
// only the shell can know where a value ends, everything after it is hidden.
func hideAssigned(line string) string {
	var shown strings.Builder
	for {
		name := assigned.FindString(line)
		if name == "" {
			return shown.String() + line
		}
		shown.WriteString(name)
		rest := line[len(name):]
		end := len(rest)
		if blank := strings.IndexAny(rest, " \t"); blank >= 0 {
			end = blank
		}
		if rest != "" && (rest[0] == '\'' || rest[0] == '"') {
			if closing := strings.IndexByte(rest[1:], rest[0]); closing >= 0 {
				end = closing + 2
			}
		}
		value := rest[:end]
		plain := value == "" || !strings.ContainsAny(strings.Trim(value, string(value[0])), "'\"`$\\(")
		if after := rest[end:]; !plain || after != "" && after[0] != ' ' && after[0] != '\t' {
			return shown.String() + hidden
		}
		if value != "" {
			shown.WriteString(hidden)
		}
		line = rest[end:]
	}
}

func hideInURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return hidden
	}
	if u.RawQuery != "" {
		return redact.URL(u) + "?" + hidden
	}
	return redact.URL(u)
}
