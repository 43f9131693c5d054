//go:build !unix

package kinds

import (
	"os"
	"os/exec"
	"time"
)

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// endGroup kills the process, if it has not ended.
func endGroup(leader *os.Process, _ time.Duration) { _ = leader.Kill() }

// endSignal is empty: there are no signals here.
func endSignal(*os.ProcessState) string { return "" }
