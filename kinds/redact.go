package kinds

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hourbell/hourbell/internal/redact"
)

// hidden replaces a value that may be a secret.
const hidden = "…"

// Redact returns the arguments of a job, or of a hook, as listings show them.
// In a command it hides the values of the environment and the input (also the
// values that a shell line sets before its program, as in TOKEN=… curl), and the values of options whose names are names of
// secrets, as in --password=…; in an HTTP request the header values, the body, and the part of the URL after the
// path; in an SQL statement the values of its parameters; in the arguments of other kinds what RedactJSON hides. Arguments
// that cannot be read are returned unchanged.
func Redact(kind string, args []byte) []byte {
	switch kind {
	case CommandKind:
		return rewrite(args, func(c *Command) {
			hideValues(c.Env)
			hide(&c.Stdin)
			c.Shell = hideOptions(hideAssigned(c.Shell))
			if len(c.Argv) == 3 && c.Argv[1] == "-c" {
				c.Argv[2] = hideOptions(hideAssigned(c.Argv[2]))
				return
			}
			hideInWords(c.Argv)
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
	return RedactJSON(args)
}

// RedactJSON returns arguments of any kind, or a result, as listings show them: it hides the values of fields whose
// names end as names of secrets do, such as password, client_secret, accessToken and apiKey, at any depth. A text that
// is not JSON is returned unchanged.
func RedactJSON(text []byte) []byte {
	value, ok := decodeAny(text)
	if !ok || !hideNamed(value) {
		return text
	}
	shown, err := encode(value)
	if err != nil {
		return text
	}
	return shown
}

// secretName matches the names of fields and options whose values are secrets.
var secretName = regexp.MustCompile(`(?i)(pass(word|wd|phrase|code)|pwd|secret|token|jwt|cookie|credentials?|authorization|(api|access|private|secret|signing|encryption)[-_. ]?key)$`)

// hideNamed hides the values of fields that secretName matches, and reports whether there were any.
func hideNamed(value any) (hid bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if secretName.MatchString(name) && hidable(field) {
				v[name], hid = hidden, true
			} else if hideNamed(field) {
				hid = true
			}
		}
	case []any:
		for _, one := range v {
			hid = hideNamed(one) || hid
		}
	}
	return hid
}

// hidable reports whether a value can be a secret.
func hidable(value any) bool {
	switch v := value.(type) {
	case nil, bool:
		return false
	case string:
		return v != ""
	}
	return true
}

// placeholder returns the path of a field with a hidden value in place of a secret; empty: there is none.
func placeholder(value any, path string) string {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner := path + "." + name
			if v[name] == hidden && secretName.MatchString(name) {
				return inner
			}
			if found := placeholder(v[name], inner); found != "" {
				return found
			}
		}
	case []any:
		for i, one := range v {
			if found := placeholder(one, path+"["+strconv.Itoa(i)+"]"); found != "" {
				return found
			}
		}
	}
	return ""
}

// decodeAny decodes JSON without a loss of digits.
func decodeAny(text []byte) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value, d.Decode(&value) == nil
}

// secretOption matches an option of a shell line whose name is the name of a secret, and its value.
var secretOption = regexp.MustCompile(`(?i)(^|\s)(--?[a-z0-9_.-]*(?:password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key)[= ])('[^']*'|"[^"]*"|[^\s'"-][^\s'"]*)`)

// hideOptions hides the values of such options in a shell line.
func hideOptions(line string) string { return secretOption.ReplaceAllString(line, "$1$2"+hidden) }

// hideInWords hides the values of options whose names are names of secrets, and of such assignments, in an argument list.
func hideInWords(words []string) {
	for i := 1; i < len(words); i++ {
		name, value, assigns := strings.Cut(words[i], "=")
		switch {
		case !secretName.MatchString(name) || strings.ContainsAny(name, " /"):
		case assigns && value != "":
			words[i] = name + "=" + hidden
		case !assigns && strings.HasPrefix(name, "-") && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-"):
			words[i+1] = hidden
			i++
		}
	}
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
