package hourbell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/engine"
	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/internal/uptime"
)

// HandOver waits until the client runs, and passes its node to another program that replaces
// this one in the same process, as execve does: the process keeps its number, its
// children and its open files, and the running jobs of kinds with CanHandOver go
// on. Other running jobs get Config.Drain to end; until then the node claims no
// more of them.
//
// When nothing of the node moves any more (no claim is under way, every outcome is
// written, the lease was just extended), HandOver calls replace with the state
// for Config.TakeOver of the next program, and with the descriptors that have to
// stay open in it. The next program has to begin within Config.Lease. replace
// returns only if the program was not replaced. Then, or if the node cannot be
// handed over, the node goes on as before, and HandOver returns why.
//
// It needs Linux. The formats of releases are compared by Config.TakeOver: a
// program that cannot read the state must be refused before, because in replace it
// is too late.
func (c *Client) HandOver(ctx context.Context, replace func(state []byte, descriptors []int) error) error {
	if !uptime.Shared {
		return errors.New("hand over the node: this needs Linux")
	}
	select {
	case <-c.Started():
	case <-ctx.Done():
		return fmt.Errorf("hand over the node: the client does not run: %w", context.Cause(ctx))
	}
	c.mu.Lock()
	e := c.engine
	c.mu.Unlock()
	err := e.HandOver(ctx, func(state engine.State) error {
		text, err := json.Marshal(state)
		if err != nil {
			return err
		}
		c.flushAtEnd(ctx)
		return replace(text, state.Descriptors())
	})
	if err != nil {
		return fmt.Errorf("hand over the node: %w", err)
	}
	return nil
}

// readTakeOver reads Config.TakeOver; nil: it is empty.
func readTakeOver(text []byte) (*engine.State, error) {
	if len(text) == 0 {
		return nil, nil
	}
	bad := func(problem string) error {
		return &check.FieldError{Field: "take over", Problem: problem, Remedy: "pass what Client.HandOver of the program before has passed to its function"}
	}
	var state engine.State
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, bad("cannot be read: " + err.Error())
	}
	if state.Format != handover.Format || state.Node.Number < 1 || state.Name == "" {
		return nil, bad(fmt.Sprintf("has the format %d, and this release reads the format %d", state.Format, handover.Format))
	}
	return &state, nil
}
