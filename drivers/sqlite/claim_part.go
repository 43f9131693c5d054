package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// digestRounds is the greatest number of transactions with digests in one partial
// claim: the node takes no jobs of the queue in this time.
const digestRounds = 5

// claimPart takes due jobs. It leaves out exact jobs that did not get their digests in digestRounds transactions.
func (b *Backend) claimPart(ctx context.Context, req store.ClaimRequest) (out store.ClaimResult, err error) {
	more, again := true, time.Duration(0)
	for steps := 1; more && steps <= mostLaneSteps; steps++ {
		if again, err = b.digestDue(ctx, req, digestRounds); err != nil {
			return store.ClaimResult{}, err
		}
		step, err := b.claim(ctx, req, steps == mostLaneSteps)
		if err != nil {
			return store.ClaimResult{}, err
		}
		out, more = step.ClaimResult, step.Again
	}
	if more {
		again = time.Millisecond
	}
	if len(out.Jobs) < req.Limit {
		out.Again = again
	}
	return out, nil
}
