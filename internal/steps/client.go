package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/hourbell/hourbell/check"
)

// Step takes a step of the job in whose command this program runs, by the environment of the command: it returns the result of the step,
// and calls do unless the step is done.
func Step(ctx context.Context, name string, do func() (json.RawMessage, error)) (value json.RawMessage, err error) {
	return ask(ctx, request{Step: name}, do)
}

// Wait waits for a signal. ErrParked means that the command has to end, and ErrTimedOut that no signal came in time.
func Wait(ctx context.Context, name string, timeout time.Duration) (value json.RawMessage, err error) {
	return ask(ctx, request{Wait: name, For: timeout}, nil)
}

func ask(ctx context.Context, req request, do func() (json.RawMessage, error)) (json.RawMessage, error) {
	path := os.Getenv(Variable)
	if path == "" {
		return nil, &check.FieldError{
			Field: Variable, Problem: "is not set: this is no command of a job that a node runs",
			Remedy: "use it in a job of the kind command, and keep the environment",
		}
	}
	req.Job, req.Token = os.Getenv("HOURBELL_JOB_ID"), os.Getenv("HOURBELL_TOKEN")
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("reach the node of the job: %w; the node has ended, or the job belongs to another user", err)
	}
	defer conn.Close()
	in, out := json.NewDecoder(conn), encoder(conn)
	var answer reply
	if err := exchange(in, out, req, &answer); err != nil {
		return nil, err
	}
	if !answer.Take {
		return answer.Value, answer.err()
	}
	value, err := do()
	if err != nil {
		_ = exchange(in, out, taken{Failed: true}, &answer) // so that the next step finds the socket free
		return nil, err
	}
	answer = reply{}
	if err := exchange(in, out, taken{Value: value}, &answer); err != nil {
		return nil, err
	}
	return answer.Value, answer.err()
}

// exchange sends a message and receives the answer.
func exchange(in *json.Decoder, out *json.Encoder, message any, answer *reply) error {
	err := out.Encode(message)
	if err == nil {
		err = in.Decode(answer)
	}
	if err != nil {
		return fmt.Errorf("ask the node of the job: %w; the node or the job has ended", err)
	}
	return nil
}
