package declared

import (
	"maps"
	"regexp"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/kinds"
)

// HookKeys are the keys of hooks.
func HookKeys() []string { return []string{"on_failure", "on_missed", "on_recovery"} }

// HookSet is what one place declares of hooks, by their keys: nil switches one
// off that a place further out declares.
type HookSet map[string]*hourbell.Hook

// Within returns what holds in a place that lies within another: its own
// hooks, and those of the other that it leaves alone.
func (s HookSet) Within(outer HookSet) HookSet {
	all := maps.Clone(outer)
	if all == nil {
		all = HookSet{}
	}
	maps.Copy(all, s)
	return all
}

// Hooks returns the set as a schedule takes it.
func (s HookSet) Hooks() hourbell.Hooks {
	return hourbell.Hooks{OnFailure: s["on_failure"], OnMissed: s["on_missed"], OnRecovery: s["on_recovery"]}
}

// address is a text that means a URL, whether or not it is one that is taken.
var address = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// ParseHook reads a hook written as one text: an http or https URL, or else a
// line for the shell, which runs as user (empty: the node's own); none gives
// nil. The error holds *hourbell.FieldErrors.
func ParseHook(text, user string) (*hourbell.Hook, error) {
	switch {
	case text == "none":
		return nil, nil
	case strings.TrimSpace(text) == "":
		return nil, &hourbell.FieldError{Problem: "is empty", Remedy: "write a line for the shell or a URL, or none to switch it off"}
	case address.MatchString(text):
		return NewHook(kinds.HTTP{URL: text})
	}
	return NewHook(kinds.Command{Shell: text, User: user})
}

// NewHook returns the hook that makes a job of a ready-made kind. The error is
// what the kind finds wrong.
func NewHook(work interface {
	Kind() string
	Encode() ([]byte, error)
},
) (*hourbell.Hook, error) {
	args, err := work.Encode()
	if err != nil {
		return nil, err
	}
	return &hourbell.Hook{Kind: work.Kind(), Args: args}, nil
}
