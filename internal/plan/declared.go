package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

// ElsewhereOnly returns why no living node runs the jobs of a schedule that a file declares, if all living nodes that could have
// lack this version of the file. host is the host of a schedule that was made for a host, otherwise empty; file is the owner of
// the file. It is empty if no file declares the schedule, or if another reason applies.
func ElsewhereOnly(host string, file store.Owner, nodes []store.NodeInfo) string {
	if len(file.Copies) == 0 {
		return ""
	}
	declaring := file.Declaring()
	if host != "" {
		return otherVersion(host, file, declaring, nodes)
	}
	if slices.ContainsFunc(declaring, func(host string) bool { return lives(host, nodes) }) {
		return ""
	}
	const nowhere = "no living node has this version of the line: it is declared by "
	if len(declaring) == 0 {
		return nowhere + "no host any more"
	}
	for i, host := range declaring {
		declaring[i] = "host " + host
		if seen := lastSeen(nodes, host); !seen.IsZero() {
			declaring[i] += ", last seen at " + seen.UTC().Format(time.RFC3339)
		}
	}
	return nowhere + strings.Join(declaring, "; ")
}

// DeclaredButLeft is ElsewhereOnly for a schedule whose jobs no living node may run. If nodes live whose hosts have this version of
// the file, such a node leaves the job because of its user, and only its log knows.
func DeclaredButLeft(host string, file store.Owner, nodes []store.NodeInfo) string {
	if why := ElsewhereOnly(host, file, nodes); why != "" || len(file.Copies) == 0 {
		return why
	}
	var living []string
	for _, one := range file.Declaring() {
		if (host == "" || host == one) && lives(one, nodes) {
			living = append(living, "host "+one)
		}
	}
	if len(living) == 0 {
		return ""
	}
	return "declared by " + strings.Join(living, ", ") + ", whose nodes do not run it: their logs have the reason, such as a user who is missing there"
}

// otherVersion returns the reason for the schedule of a host whose nodes live, if the host is not among the hosts that
// declare the schedule as it is.
func otherVersion(host string, file store.Owner, declaring []string, nodes []store.NodeInfo) string {
	if !lives(host, nodes) || len(declaring) == 0 || slices.Contains(declaring, host) {
		return ""
	}
	by := "the line: it is declared by host " + strings.Join(declaring, ", host ")
	if _, has := file.CopyOf(host); !has {
		return "host " + host + " has no file with " + by
	}
	return "host " + host + " has another version of " + by
}

// lives reports whether a node of a host lives.
func lives(host string, nodes []store.NodeInfo) bool {
	return slices.ContainsFunc(nodes, func(n store.NodeInfo) bool { return n.Host == host && n.EndedAt.IsZero() })
}

// lastSeen returns when a node of a host was seen last; zero if no node of it is known.
func lastSeen(nodes []store.NodeInfo, host string) (at time.Time) {
	for _, n := range nodes {
		if n.Host == host && n.SeenAt.After(at) {
			at = n.SeenAt
		}
	}
	return at
}
