package declared

import (
	"maps"
	"regexp"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/kinds"
)

// HookKeys are the keys of hooks.
func HookKeys() []string { return hourbell.HookNames() }

// HookSet is the hooks declared in one section, by their keys: an empty list switches
// off the hooks that an outer section declares.
type HookSet map[string][]hourbell.Args

// Add adds a hook to a key; nil adds only the key.
func (s HookSet) Add(key string, hook hourbell.Args) {
	list := s[key]
	if hook != nil {
		list = append(list, hook)
	}
	s[key] = list
}

// Within returns the hooks that apply in a section that lies within another:
// its own hooks, and the outer hooks that it does not set.
func (s HookSet) Within(outer HookSet) HookSet {
	all := maps.Clone(outer)
	if all == nil {
		all = HookSet{}
	}
	maps.Copy(all, s)
	return all
}

// Hooks returns the set in the form that a schedule takes.
func (s HookSet) Hooks() hourbell.Hooks {
	var hooks hourbell.Hooks
	for key, list := range s {
		hooks.Set(key, list...)
	}
	return hooks
}

// address matches a text that means a URL, whether or not it is an accepted
// URL.
var address = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// ParseHook reads a hook written as one text: an http or https URL, or
// otherwise a line for the shell, which runs as user (empty: the node's own
// user); "none" returns nil. The error contains *check.FieldErrors.
func ParseHook(text, user string) (hourbell.Args, error) {
	switch {
	case text == "none":
		return nil, nil
	case strings.TrimSpace(text) == "":
		return nil, &check.FieldError{Problem: "is empty", Remedy: "write a line for the shell or a URL, or none to switch it off"}
	case address.MatchString(text):
		return NewHook(kinds.HTTP{URL: text})
	}
	return NewHook(kinds.Command{Shell: text, User: user})
}

// NewHook returns the hook that makes a job of a ready-made kind. The error is
// the kind's validation error.
func NewHook(work interface {
	Kind() string
	Encode() ([]byte, error)
},
) (hourbell.Args, error) {
	args, err := work.Encode()
	if err != nil {
		return nil, err
	}
	return hourbell.RawArgs{Name: work.Kind(), JSON: args}, nil
}
