package engine

import "time"

// pace decides how far a fetcher may claim ahead of its workers. Long jobs
// must not be hoarded while another node idles; jobs of microseconds must not
// wait for a round trip each. So the depth grows fourfold while a full claim is
// used up at once, and halves when it lasts too long. Fourfold is not too far: what
// is used up within quickUse now will then be used up within slowUse.
type pace struct {
	depth int  // jobs to hold beyond those that run
	far   bool // the store is: larger claims make up for their round trips
}

const (
	maxDepth = 2000
	farDepth = 2 * maxDepth
	quickUse = 20 * time.Millisecond
	slowUse  = 100 * time.Millisecond
)

// used records that a full claim for width workers was used up, to the point
// where the next is worth making, in took.
func (p *pace) used(width int, took time.Duration) {
	switch {
	case took < quickUse:
		p.depth = min(4*max(p.depth, width), p.most())
	case took > slowUse:
		p.less(width)
	}
}

// most is the largest depth.
func (p *pace) most() int {
	if p.far {
		return farDepth
	}
	return maxDepth
}

// less halves the depth: the last claim lasted too long, or got less than it
// asked for, so that there is no backlog worth claiming ahead for.
func (p *pace) less(width int) {
	if p.depth /= 2; p.depth < width {
		p.depth = 0
	}
}

// refillAt is the number of jobs in hand, running ones included, at or below
// which the next claim is worth making.
func (p *pace) refillAt(width int) int { return width - 1 + p.depth/2 }

// limit is how many jobs to ask for with inHand jobs there.
func (p *pace) limit(width, inHand int) int { return width + p.depth - inHand }
