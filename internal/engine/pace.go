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

// bound keeps the depth to what width workers begin within slowUse, if a job takes
// mean: what is claimed ahead counts as begun when the node dies.
func (p *pace) bound(width int, mean time.Duration) {
	if mean <= 0 {
		return
	}
	if most := time.Duration(width) * slowUse / mean; time.Duration(p.depth) > most {
		p.depth = int(most)
	}
	if p.depth < width {
		p.depth = 0
	}
}

// ahead is how many of limit jobs to claim ahead, which may begin only when the
// store has been told. While jobs are quick there are none: the statement would cost
// more than the jobs. Otherwise all but the first are, so that a job which ends its
// process at once takes none with it that was only claimed.
func (p *pace) ahead(limit int) int {
	if p.depth > 0 {
		return 0
	}
	return limit - 1
}

// together is how many of some jobs, in their order, begin with the next statement:
// a job that was lost before begins with no other.
func beginTogether(jobs []*Run) int {
	for i, job := range jobs {
		if job.Losses > 0 {
			return max(i, 1)
		}
	}
	return len(jobs)
}

// used records that a full claim for width workers was used up, to the point
// where the next is worth making, in took.
func (p *pace) used(width int, took time.Duration) {
	switch {
	case took < quickUse:
		p.depth = min(4*max(p.depth, width), p.maxDepthNow())
	case took > slowUse:
		p.less(width)
	}
}

// most is the largest depth.
func (p *pace) maxDepthNow() int {
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
func (p *pace) limit(width, inFlight int) int { return width + p.depth - inFlight }
