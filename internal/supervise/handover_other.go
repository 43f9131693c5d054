//go:build unix && !linux

package supervise

import (
	"errors"
	"io"
)

// State is a run without a node's part; runs are handed over on Linux only.
type State struct{ Socket int }

// ErrOver is the error of HandOver for a run that is over.
var ErrOver = errors.New("the command has ended")

var errHandedOver = errors.New("the command was handed over")

// HandOver returns an error, because runs are handed over on Linux only.
func (p *Process) HandOver() (State, error) { return State{}, errNotHere }

// TakeOver returns an error, because runs are handed over on Linux only.
func TakeOver(State, Claim, io.Writer) (*Process, error) { return nil, errNotHere }

var errNotHere = errors.New("hand over the command: this needs Linux")
