package plan

import (
	"bytes"
	"os"
	"slices"
	"strings"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// Place selects the nodes that run the jobs of a schedule. At most one of Host and Label is set; the zero value is any node. The
// jobs of a place have a queue of their own, which only the nodes of the place serve, so that claims need no further condition
// (docs/adr/0055-the-jobs-of-a-place-have-a-queue.md).
type Place struct {
	Host  string `json:"host,omitempty"`  // the nodes of this host
	Label string `json:"label,omitempty"` // the nodes with this label, KEY=VALUE
	// Every, without Host: each host, or each host that has the label. Such a schedule has no jobs of its own; see ForHost.
	Every bool `json:"every,omitempty"`
}

// beforePlace separates the name of a queue from a place. No host and no label contains it.
const beforePlace = "@"

// IsZero reports whether any node runs the jobs; encoding/json calls it.
func (p Place) IsZero() bool { return p == Place{} }

// String returns the place as it is written behind the name of a queue: a host or a label.
func (p Place) String() string { return p.Host + p.Label }

// Queue returns the queue of the jobs that have this place within a queue.
func (p Place) Queue(queue string) string {
	if p.IsZero() || p.Every {
		return queue
	}
	return queue + beforePlace + p.String()
}

// HasPlace reports whether an encoded definition may have a place; it is quick, and true for some definitions without one.
func HasPlace(definition []byte) bool { return bytes.Contains(definition, []byte(`"on":{`)) }

// Whose describes the nodes of the place, in words that follow "no node".
func (p Place) Whose() string {
	switch {
	case p.Host != "":
		return " of host " + p.Host
	case p.Label != "":
		return " with the label " + p.Label
	}
	return ""
}

// Places are the places of a node.
type Places []Place

// PlacesOf returns the places of a node with this host, or empty, and these labels.
func PlacesOf(host string, labels []string) Places {
	var places Places
	if host != "" {
		places = Places{{Host: host}}
	}
	for _, label := range labels {
		places = append(places, Place{Label: label})
	}
	return places
}

// Has reports whether the node runs jobs with this place.
func (p Places) Has(place Place) bool { return place.IsZero() || slices.Contains(p, place) }

// String returns a text that is the same for nodes with the same places.
func (p Places) String() string {
	var text strings.Builder
	for _, place := range p {
		text.WriteString(beforePlace + place.String())
	}
	return text.String()
}

// CutPlace separates the queue of a place into the queue within which it is, and the place.
func CutPlace(queue string) (base string, place Place, placed bool) {
	base, text, placed := store.CutPlace(queue)
	switch {
	case !placed:
		return base, Place{}, false
	case strings.Contains(text, "="):
		return base, Place{Label: text}, true
	}
	return base, Place{Host: text}, true
}

// DefaultHost returns the default of Config.Host: the operating system's name of the host or,
// if a host cannot have that name here, localhost.
func DefaultHost() string {
	host, err := os.Hostname()
	if err != nil || check.Host("host", host) != nil {
		return "localhost"
	}
	return host
}
