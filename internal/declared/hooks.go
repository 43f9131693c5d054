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

// hookAbouts describe when hooks run.
var hookAbouts = map[string]string{
	"on_start":       "When an attempt at a job is about to begin",
	"on_success":     "When a job completes",
	"on_failure":     "When a job has ended as failed, after its last attempt",
	"on_retry":       "When an attempt has failed and the job is tried again",
	"on_output":      "When an attempt that has printed something has ended",
	"on_missed":      "When slots were missed",
	"on_not_started": "When the end of a job that the schedule follows does not start it",
	"on_recovery":    "When a job completes after a failure or a missed slot",
}

// HookAbout describes when the hooks of a key run: a sentence without its full stop.
func HookAbout(key string) string { return hookAbouts[key] }

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
