//go:build unix

package locktest

import (
	"os"
	"syscall"
)

// canStop reports whether a process can be stopped and continued.
const canStop = true

func stop(p *os.Process) error   { return p.Signal(syscall.SIGSTOP) }
func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
