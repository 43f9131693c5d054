package node

import (
	"os"
	"syscall"
)

// upgradeSignal asks a node to replace its program.
var upgradeSignal os.Signal = syscall.SIGUSR2
