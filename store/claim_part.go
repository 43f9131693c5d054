package store

import (
	"context"
	"time"
)

// PartialClaimer is implemented by backends that can claim jobs faster if a
// claim need not search all due jobs, for example because it begins at a
// low-water cursor: the position up to which earlier claims of the node have
// found every due job. Callers find it by assertion, or use PartialClaims.
type PartialClaimer interface {
	// ClaimPart takes jobs as Claim does, but it may leave out due jobs. Repeated
	// claims of a node reach every due job, also if each claim returns Limit jobs:
	// no job is left out for ever. A node that repeats the claim after each Again
	// reaches a job soon; a job that becomes due later at a position that was
	// searched already may have to wait until the node polls. With a Now in the
	// request ClaimPart may search as much as Claim.
	ClaimPart(ctx context.Context, req ClaimRequest) (PartialClaim, error)
}

// PartialClaim is the result of a claim that may have left out due jobs.
type PartialClaim struct {
	ClaimResult
	// Again, if not 0, means that the claim may have left out due jobs, and is the
	// time after which the claim has to be repeated to reach them. It is not
	// given if Limit jobs were returned.
	Again time.Duration
}

// PartialClaims returns the ability of a backend to claim in part. If the
// backend does not have it, the result claims by Claim, with an Again of 0.
func PartialClaims(b Backend) PartialClaimer {
	if p, ok := Able[PartialClaimer](b); ok {
		return p
	}
	return wholeClaims{b}
}

// wholeClaims claims by Claim.
type wholeClaims struct{ jobs Jobs }

func (w wholeClaims) ClaimPart(ctx context.Context, req ClaimRequest) (PartialClaim, error) {
	res, err := w.jobs.Claim(ctx, req)
	return PartialClaim{ClaimResult: res}, err
}
