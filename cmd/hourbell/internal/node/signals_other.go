//go:build !linux

package node

import "os"

// upgradeSignal is nil, because on this system a program cannot be replaced in place.
var upgradeSignal os.Signal
