//go:build !unix

package locktest

import (
	"errors"
	"os"
)

// canStop says whether a process can be stopped, and go on later.
const canStop = false

func stop(*os.Process) error   { return errors.ErrUnsupported }
func resume(*os.Process) error { return errors.ErrUnsupported }
