package hourbell

import (
	"strings"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
)

// Place selects the nodes that run the jobs of a schedule. At most one field is given; the zero value is any node.
//
// The jobs of a place have a queue of their own, whose name is the name of the schedule's queue, @, and the host or the
// label. A node with the queue serves the queues of its host and of its labels too, each with as many workers. The jobs of
// hooks are not part of the place: any node that has the schedule's queue runs them.
//
// The slots of a place are left to its nodes. If none of them lives, a slot is missed, or made up for, as if no node lived.
type Place struct {
	// Host is the name of a host: nodes with this Config.Host.
	Host string
	// Label is a label, KEY=VALUE: one of the nodes that have it among Config.Labels.
	Label string
}

const (
	anyPlace   = "one"
	hostPlace  = "host"
	labelPlace = "label"
)

// IsZero reports whether the place is any node.
func (p Place) IsZero() bool { return p == Place{} }

// String returns the place as ParsePlace reads it.
func (p Place) String() string {
	switch {
	case p.Host != "":
		return hostPlace + "=" + p.Host
	case p.Label != "":
		return labelPlace + "=" + p.Label
	}
	return anyPlace
}

// ParsePlace reads a place: one (any node), host=NAME or label=KEY=VALUE. The error is a *check.FieldError.
func ParsePlace(text string) (Place, error) {
	sort, value, _ := strings.Cut(text, "=")
	switch {
	case text == anyPlace:
		return Place{}, nil
	case sort == hostPlace:
		return Place{Host: value}, check.Host("on", value)
	case sort == labelPlace:
		return Place{Label: value}, check.Label("on", value)
	}
	return Place{}, &check.FieldError{Field: "on", Value: check.Shorten(text), Problem: "is not a place", Remedy: "write one, host=NAME or label=KEY=VALUE"}
}

// check returns what is wrong with the place of a schedule with this queue.
func (p Place) check(queue string) error {
	switch {
	case p.IsZero():
		return nil
	case p.Host != "" && p.Label != "":
		return &check.FieldError{Field: "on", Problem: "has a host and a label", Remedy: "give one of them"}
	case p.Host != "":
		if err := check.Host("on", p.Host); err != nil {
			return err
		}
	default:
		if err := check.Label("on", p.Label); err != nil {
			return err
		}
	}
	if check.Name("queue", plan.Place(p).Queue(queue)) != nil && check.Name("queue", queue) == nil {
		return &check.FieldError{Field: "queue", Value: check.Shorten(queue), Problem: "is too long for a schedule with a place", Remedy: "use a name of at most 72 bytes"}
	}
	return nil
}
