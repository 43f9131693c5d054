//go:build !unix

package locktest

import (
	"errors"
	"os"
)

// canStop reports whether a process can be stopped and continued.
const canStop = false

func stop(*os.Process) error   { return errors.ErrUnsupported }
func resume(*os.Process) error { return errors.ErrUnsupported }
