package node

import (
	"os"
	"path/filepath"
)

// DefaultStateDir returns the folder of a node's state files if --state-dir is
// not given: the folder that the service manager names, otherwise the usual
// folder for state files of the user's programs; empty if there is none.
func DefaultStateDir() string {
	if dir := os.Getenv("STATE_DIRECTORY"); dir != "" { // set by systemd; several folders are separated by colons
		return filepath.SplitList(dir)[0]
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "hourbell")
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "hourbell")
	}
	return ""
}
