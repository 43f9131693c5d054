//go:build unix

package kinds

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/hourbell/hourbell/internal/supervise"
)

// identity is the user that a command runs as.
type identity = supervise.User

// identify returns what the system needs to run a command as the given user:
// nil if that user runs the node.
func identify(who *user.User) (*identity, error) {
	self := os.Geteuid()
	if self != 0 && who.Uid == strconv.Itoa(self) {
		return nil, nil
	}
	if self != 0 {
		return nil, errors.New("only a node that runs as root can run commands as others; run it as root, or as that user")
	}
	groups, err := who.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("find its groups: %w", err)
	}
	var found identity
	for _, text := range groups {
		number, err := parseID(text)
		if err != nil {
			return nil, err
		}
		found.Groups = append(found.Groups, number)
	}
	if found.UID, err = parseID(who.Uid); err != nil {
		return nil, err
	}
	found.GID, err = parseID(who.Gid)
	return &found, err
}

// giveTo makes a file the user's own.
func giveTo(file *os.File, to *identity) error { return file.Chown(int(to.UID), int(to.GID)) }

func parseID(text string) (uint32, error) {
	number, err := strconv.ParseUint(text, 10, 32)
	return uint32(number), err
}
