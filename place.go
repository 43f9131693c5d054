package hourbell

import (
	"fmt"
	"strings"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
)

// Place selects the nodes that run the jobs of a schedule. At most one of Host and Label is given, and Host only without Every;
// the zero value is any node.
//
// The jobs of a place have a queue of their own, whose name is the name of the schedule's queue, @, and the host or the
// label. A node with the queue serves the queues of its host and of its labels too, each with as many workers. The jobs of
// hooks are not part of the place: any node that has the schedule's queue runs them.
//
// The slots of a place are left to its nodes. If none of them lives, a slot is missed, or made up for, as if no node lived.
//
// A schedule with Every has no slots and no jobs of its own. Each host has a schedule that is made from it, whose name is its
// name, @ and the host, and whose place is the host: with slots, a mark, overlaps, failures and pauses of its own. Nodes and
// this client keep these schedules equal to the schedule with Every; see ScheduleService.OnHosts. A host is expected, and its slots
// are accounted for, for eight days after its last node ended, or until NodeService.Forget. Count counts instants of the rule from
// the anchor on, whether or not they fire on a host.
type Place struct {
	// Host is the name of a host: nodes with this Config.Host.
	Host string
	// Label is a label, KEY=VALUE: one of the nodes that have it among Config.Labels; with Every, each host that has such nodes.
	Label string
	// Every is each host.
	Every bool
}

const (
	anyPlace   = "one"
	hostPlace  = "host"
	labelPlace = "label"
	everyPlace = "every"
)

// IsZero reports whether the place is any node.
func (p Place) IsZero() bool { return p == Place{} }

// String returns the place as ParsePlace reads it.
func (p Place) String() string {
	switch {
	case p.Every && p.Label != "":
		return everyPlace + ":" + labelPlace + "=" + p.Label
	case p.Every:
		return everyPlace
	case p.Host != "":
		return hostPlace + "=" + p.Host
	case p.Label != "":
		return labelPlace + "=" + p.Label
	}
	return anyPlace
}

// ParsePlace reads a place: one (any node), every (each host), host=NAME, label=KEY=VALUE or every:label=KEY=VALUE. The error is a
// *check.FieldError.
func ParsePlace(text string) (Place, error) {
	sort, value, _ := strings.Cut(text, "=")
	switch {
	case text == everyPlace:
		return Place{Every: true}, nil
	case sort == everyPlace+":"+labelPlace:
		return Place{Every: true, Label: value}, check.Label("on", value)
	case text == anyPlace:
		return Place{}, nil
	case sort == hostPlace:
		return Place{Host: value}, check.Host("on", value)
	case sort == labelPlace:
		return Place{Label: value}, check.Label("on", value)
	}
	return Place{}, &check.FieldError{Field: "on", Value: check.Shorten(text), Problem: "is not a place", Remedy: "write one, every, host=NAME, label=KEY=VALUE or every:label=KEY=VALUE"}
}

// mostWithHost is the greatest length, in bytes, of the name of a schedule or a queue to which the name of any host can be added.
const mostWithHost = 136

// checkOn returns what is wrong with the place of the schedule.
func (s Schedule) checkOn() error {
	p := s.On
	switch {
	case p.Every && p.Host != "":
		return &check.FieldError{Field: "on", Problem: "is every host and a host", Remedy: "give one of them"}
	case p.Every && len(s.Name) > mostWithHost:
		return &check.FieldError{Field: "name", Value: check.Shorten(s.Name), Problem: "is too long for a schedule on every host", Remedy: fmt.Sprintf("use a name of at most %d bytes, because the name of the host is added", mostWithHost)}
	case p.Every && s.Count > plan.MaxInstants:
		return &check.FieldError{Field: "count", Value: fmt.Sprint(s.Count), Problem: "is too great for a schedule on every host, whose instants are counted", Remedy: fmt.Sprintf("give at most %d, or an end with stop", plan.MaxInstants)}
	case p.Every && len(s.Queue) > mostWithHost:
		return &check.FieldError{Field: "queue", Value: check.Shorten(s.Queue), Problem: "is too long for a schedule on every host", Remedy: fmt.Sprintf("use a name of at most %d bytes", mostWithHost)}
	case p.Every && p.Label != "":
		return check.Label("on", p.Label)
	case p.Every:
		return nil
	}
	return p.check(s.Queue)
}

// check returns what is wrong with a place without Every of a schedule with this queue.
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
