package kinds

import (
	"encoding/json"
	"net/url"
)

// hidden stands in the place of a value that may be a secret.
const hidden = "…"

// Redact returns the arguments of a job, or of a hook, as listings show them:
// of a command without the values of its environment and its input, of an HTTP
// request without the values of its header, its body, and what its URL says
// after the path. Other kinds' arguments, and what cannot be read, come back as
// they are.
func Redact(kind string, args []byte) []byte {
	switch kind {
	case CommandKind:
		return redact(args, func(c *Command) {
			hideValues(c.Env)
			hide(&c.Stdin)
		})
	case HTTPKind:
		return redact(args, func(h *HTTP) {
			hideValues(h.Header)
			hide(&h.Body)
			h.URL = hideInURL(h.URL)
		})
	}
	return args
}

func redact[T any](args []byte, change func(*T)) []byte {
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

func hideInURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return hidden
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		shown.User = url.User(u.User.Username())
	}
	if u.RawQuery != "" {
		return shown.String() + "?" + hidden
	}
	return shown.String()
}
