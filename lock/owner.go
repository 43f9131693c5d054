package lock

import (
	"crypto/rand"
	"os"
	"strconv"
	"strings"
)

// newOwner makes the owner of one acquisition: host and process for people who
// look, and a random part that no other acquisition has.
func newOwner() string {
	return hostName() + "/" + strconv.Itoa(os.Getpid()) + "/" + rand.Text()
}

// hostName is this machine's name, in characters and at a length that every
// store takes.
func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "host"
	}
	name = strings.Map(func(r rune) rune {
		if r < '!' || r > '~' {
			return '-'
		}
		return r
	}, name)
	return name[:min(len(name), 100)]
}
