package kinds

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"github.com/hourbell/hourbell/internal/redact"
)

// Redact returns the arguments of a job, or of a hook, as listings show them.
// In a command it hides the input and the values of the environment (also the
// values that a shell line sets before its program, as in TOKEN=… curl), except of variables that every system has, such as PATH; the values of options,
// variables and headers whose names are names of secrets, as in --password=…; and in other texts what RedactJSON hides. In an HTTP request it hides
// the header values, the body, the part of the URL after the path, and the path of a webhook; in an SQL statement the values of its parameters;
// in the arguments of other kinds what RedactJSON hides. Arguments that cannot be read are returned unchanged.
func Redact(kind string, args []byte) []byte {
	switch kind {
	case CommandKind:
		return rewrite(args, hideInCommand)
	case HTTPKind:
		return rewrite(args, hideInHTTP)
	case SQLKind:
		return rewrite(args, hideInSQL)
	}
	return RedactJSON(args)
}

// hideInCommand hides what Redact hides in a command.
func hideInCommand(c *Command) {
	for name := range c.Env {
		if !redact.PlainVariable(name) {
			c.Env[name] = redact.Hidden
		}
	}
	hide(&c.Stdin)
	c.Shell = hideInLine(c.Shell)
	if len(c.Argv) == 3 && c.Argv[1] == "-c" {
		c.Argv[2] = hideInLine(c.Argv[2])
		return
	}
	hideInWords(c.Argv)
}

// hideInHTTP hides what Redact hides in an HTTP request.
func hideInHTTP(h *HTTP) {
	for name := range h.Header {
		h.Header[name] = redact.Hidden
	}
	hide(&h.Body)
	h.URL = hideInURL(h.URL)
}

// hideInSQL hides what Redact hides in an SQL statement.
func hideInSQL(s *SQL) {
	for i, arg := range s.Args {
		if _, of := arg.(map[string]any); arg != nil && !of {
			s.Args[i] = redact.Hidden
		}
	}
}

// RedactJSON returns arguments of any kind, or a result, as listings show them. It hides, at any depth, the values of fields that have names of
// secrets, such as password, client_secret, accessToken and apiKey, each as a whole; in other texts the passwords of URLs, the paths of URLs of webhooks, and
// what follows the words Bearer and Basic. A text that is not JSON is returned unchanged.
func RedactJSON(text []byte) []byte {
	value, ok := decodeAny(text)
	if !ok {
		return text
	}
	value, hid := redact.Value(value)
	if !hid {
		return text
	}
	shown, err := encode(value)
	if err != nil {
		return text
	}
	return shown
}

// decodeAny decodes JSON without a loss of digits.
func decodeAny(text []byte) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value, d.Decode(&value) == nil
}

var (
	// lineOption matches an option of a shell line, and its value.
	lineOption = regexp.MustCompile(`(^|\s)(--?[A-Za-z0-9_.-]+)([= ])('[^']*'|"[^"]*"|[^\s'"-][^\s'"]*)`)
	// lineVariable matches an assignment in a shell line.
	lineVariable = regexp.MustCompile(`(^|[\s;&|(])([A-Za-z_][A-Za-z0-9_]*)(=)('[^']*'|"[^"]*"|[^\s'"]+)`)
	// lineHeader matches a header in quotes in a shell line, and wordHeader a header that is a word.
	lineHeader = regexp.MustCompile(`(['"])([A-Za-z][A-Za-z0-9-]*)(:\s*)([^'"/\s][^'"]*)`)
	wordHeader = regexp.MustCompile(`^()([A-Za-z][A-Za-z0-9-]*)(:\s*)([^/\s].*)$`)
)

// hideInLine hides the values of options, variables and headers of a shell line whose names are names of secrets, and what redact.Text hides.
func hideInLine(line string) string {
	line = hideAssigned(line)
	for _, form := range []*regexp.Regexp{lineOption, lineVariable, lineHeader} {
		line = hideIn(form, line)
	}
	return redact.Text(line)
}

// hideIn hides what a form matches: what comes before a name, the name, what separates it from its value, and the value.
func hideIn(form *regexp.Regexp, line string) string {
	return form.ReplaceAllStringFunc(line, func(found string) string {
		parts := form.FindStringSubmatch(found)
		if !redact.SecretName(parts[2]) {
			return found
		}
		return parts[1] + parts[2] + parts[3] + redact.Hidden
	})
}

// hideInWords hides the same in an argument list.
func hideInWords(words []string) {
	for i := 1; i < len(words); i++ {
		name, value, assigns := strings.Cut(words[i], "=")
		secret := redact.SecretName(name) && !strings.ContainsAny(name, " /:")
		switch {
		case secret && assigns && value != "":
			words[i] = name + "=" + redact.Hidden
		case secret && !assigns && takesValue(words[i:]):
			words[i+1] = redact.Hidden
			i++
		default:
			words[i] = redact.Text(hideIn(wordHeader, words[i]))
		}
	}
}

// takesValue reports whether the first word is an option, and the second word may be its value.
func takesValue(words []string) bool {
	return strings.HasPrefix(words[0], "-") && len(words) > 1 && !strings.HasPrefix(words[1], "-")
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
		*text = redact.Hidden
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
		value, rest := cutAssigned(line[len(name):])
		plain := value == "" || !strings.ContainsAny(strings.Trim(value, string(value[0])), "'\"`$\\(")
		if !plain || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			return shown.String() + redact.Hidden
		}
		switch {
		case redact.PlainVariable(strings.Trim(name, " \t=")):
			shown.WriteString(value)
		case value != "":
			shown.WriteString(redact.Hidden)
		}
		line = rest
	}
}

// cutAssigned cuts the value of an assignment, which ends before a blank or with its closing quote.
func cutAssigned(text string) (value, rest string) {
	end := len(text)
	if blank := strings.IndexAny(text, " \t"); blank >= 0 {
		end = blank
	}
	if text != "" && (text[0] == '\'' || text[0] == '"') {
		if closing := strings.IndexByte(text[1:], text[0]); closing >= 0 {
			end = closing + 2
		}
	}
	return text[:end], text[end:]
}

// hideInURL hides what redact.Text hides, and all parameters and the fragment.
func hideInURL(text string) string {
	if _, err := url.Parse(text); err != nil {
		return redact.Hidden
	}
	shown, _, _ := strings.Cut(redact.Text(text), "#")
	if before, _, asks := strings.Cut(shown, "?"); asks {
		return before + "?" + redact.Hidden
	}
	return shown
}
