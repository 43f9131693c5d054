package lock

import (
	"crypto/rand"
	"os"
	"strconv"
	"strings"
)

// newOwner makes the owner of one acquisition: host and process for users who
// inspect locks, and a random part that is unique to this acquisition.
func newOwner() string {
	return hostName() + "/" + strconv.Itoa(os.Getpid()) + "/" + rand.Text()
}

// hostName returns this machine's name, with characters and a length that every
// store accepts.
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
