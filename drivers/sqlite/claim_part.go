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
func (b *Backend) ClaimPart(ctx context.Context, req store.ClaimRequest) (store.PartialClaim, error) {
	again, err := b.digestDue(ctx, req, digestRounds)
	if err != nil {
		return store.PartialClaim{}, err
	}
	var out store.ClaimResult
	more := true
	for steps := 1; more && err == nil && steps <= mostLaneSteps; steps++ {
		out, more, err = b.claim(ctx, req, steps == mostLaneSteps)
	}
	if more {
		again = time.Millisecond
	}
	if len(out.Jobs) == req.Limit {
		again = 0
	}
	return store.PartialClaim{ClaimResult: out, Again: again}, err
}
