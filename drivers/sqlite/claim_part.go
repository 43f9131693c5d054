package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// digestRounds is the greatest number of transactions with digests in one partial
// claim: the node takes no jobs of the queue in this time.
const digestRounds = 5

// ClaimPart takes due jobs; see store.PartialClaimer. It leaves out exact jobs that
// did not get their digests in digestRounds transactions.
func (b *Backend) ClaimPart(ctx context.Context, req store.ClaimRequest) (out store.PartialClaim, err error) {
	more := true
	for steps := 1; more && steps <= mostLaneSteps; steps++ {
		if out.Again, err = b.digestDue(ctx, req, digestRounds); err != nil {
			return store.PartialClaim{}, err
		}
		step, err := b.claim(ctx, req, steps == mostLaneSteps)
		if err != nil {
			return store.PartialClaim{}, err
		}
		out.ClaimResult, more = step.ClaimResult, step.Again
	}
	if more {
		out.Again = time.Millisecond
	}
	if len(out.Jobs) == req.Limit {
		out.Again = 0
	}
	return out, nil
}
