package rowwise

import "context"

// suspectGate ends the look of a claim of suspects. A claim of suspects takes only suspects, and other claims take none.
type suspectGate struct{}

func (suspectGate) look(ctx context.Context, c *claim) (v verdict, err error) {
	if !c.req.Suspects {
		return passes, nil
	}
	var found bool
	if c.around.Jobs != nil {
		found = c.around.Jobs.Suspects
	} else if found, err = c.tx.FindSuspect(ctx, c.req.Queue, c.now); err != nil {
		return refuses, err
	}
	if found {
		return hasWork, nil
	}
	return refuses, nil
}

func (suspectGate) take(context.Context, *claim) (verdict, error) { return passes, nil }
