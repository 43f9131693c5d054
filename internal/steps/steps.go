// Package steps lets a command take the steps of its job. The worker of the command serves a socket (Serve), and programs that the command
// starts ask it (Ask). Both sides send JSON values, one per line; a connection is one step or one wait.
package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hourbell/hourbell/check"
)

// Variable is the environment variable that has the path of the socket.
const Variable = "HOURBELL_SOCKET"

// ExitParked is the exit code with which a command ends whose job waits for a signal. It is EX_TEMPFAIL of sysexits.h.
const ExitParked = 75

// request is what a program asks for.
type request struct {
	Job   string `json:"job"`
	Token string `json:"token"`
	// Step or Wait is the name of a step or of a signal.
	Step string        `json:"step,omitempty"`
	Wait string        `json:"wait,omitempty"`
	For  time.Duration `json:"for,omitempty"` // of a wait; 0: without end
}

// reply is an answer. All fields but one are empty.
type reply struct {
	Take     bool            `json:"take,omitempty"`  // the program takes the step, and sends its result as a taken
	Value    json.RawMessage `json:"value,omitempty"` // of a step that is done, or of a signal
	Parked   bool            `json:"parked,omitempty"`
	TimedOut bool            `json:"timed_out,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// taken has the result of a step that the program has taken.
type taken struct {
	Value  json.RawMessage `json:"value"`
	Failed bool            `json:"failed,omitempty"` // there is no result
}

// Errors of programs that ask.
var (
	// ErrParked: the job waits for the signal, and the command has to end with ExitParked.
	ErrParked = errors.New("the job lies aside until its signal comes: end the command with exit code 75")
	// ErrTimedOut: the time of the wait is over.
	ErrTimedOut = errors.New("no signal came in time")
)

// maxMessage is the greatest length of a message in bytes: a value, and the rest.
const maxMessage = check.MaxResult + 4<<10

// encoder returns an encoder that sends values as they are, so that they do not grow.
func encoder(to io.Writer) *json.Encoder {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	return e
}

// err returns what a reply says besides its value.
func (r reply) err() error {
	switch {
	case r.Error != "":
		return errors.New(r.Error)
	case r.Parked:
		return ErrParked
	case r.TimedOut:
		return ErrTimedOut
	}
	return nil
}

// admit returns why a request is refused; nil: it is for this job and claim, and has one name.
func (r request) admit(job, token string) error {
	switch {
	case r.Job != job || r.Token != token:
		return fmt.Errorf("this socket is for job %s under another claim; take steps only in the command of their job", job)
	case (r.Step == "") == (r.Wait == ""):
		return errors.New("a request names one step or one signal")
	case r.Step != "":
		return check.Name("step", r.Step)
	}
	return check.Name("signal", r.Wait)
}
