package work

import "time"

// pace decides how many jobs a fetcher claims beyond the jobs for free workers. Long jobs must not
// wait on this node while another node is idle; jobs of microseconds must not wait for a round trip
// each. So the depth grows fourfold when the jobs of a full claim are done within quickUse, and is
// halved when they take longer than slowUse. Growing fourfold is not too much, because four times
// as many jobs are then done within four times quickUse, which is less than slowUse.
type pace struct {
	depth int           // jobs to claim beyond the number of workers
	far   bool          // the store has a high latency; larger batches make up for it
	mean  time.Duration // run time of the jobs that ended last; 0: not known
}

const (
	maxDepth = 2000
	farDepth = 2 * maxDepth
	quickUse = 20 * time.Millisecond
	slowUse  = 100 * time.Millisecond
)

// bound limits the depth to the jobs that width workers begin within slowUse, given the mean run
// time of a job. Prefetched jobs count as begun if the node dies.
func (p *pace) bound(width int, mean time.Duration) {
	if mean <= 0 {
		return
	}
	p.mean = mean
	if most := time.Duration(width) * slowUse / mean; time.Duration(p.depth) > most {
		p.depth = int(most)
	}
	if p.depth < width {
		p.depth = 0
	}
}

// ahead returns how many of limit jobs are claimed without the right to begin; the store has to
// record later that they may begin. If jobs are short (the depth is not 0), ahead returns 0,
// because another statement would cost more than running the jobs. Else only the first job may
// begin at once; if that job ends its process, the other jobs of the claim do not count as begun.
func (p *pace) ahead(limit int) int {
	if p.depth > 0 {
		return 0
	}
	return limit - 1
}

// beginTogether returns how many of the jobs, from the first, begin with the next statement. A job
// that was lost before begins with no other job.
func beginTogether(jobs []*Run) int {
	for i, job := range jobs {
		if job.Losses > 0 {
			return max(i, 1)
		}
	}
	return len(jobs)
}

// used records that the jobs of a full claim were done, up to the point where the next claim is
// worth sending, within took. The mean run time bounds the depth, because several long jobs may
// end at the same moment.
func (p *pace) used(width int, took time.Duration) {
	switch {
	case took < quickUse:
		p.depth = min(4*max(p.depth, width), p.maxDepthNow())
		p.bound(width, p.mean)
	case took > slowUse:
		p.less(width)
	}
}

// maxDepthNow returns the greatest depth for the store's present latency.
func (p *pace) maxDepthNow() int {
	if p.far {
		return farDepth
	}
	return maxDepth
}

// less halves the depth: the last claim lasted too long, or returned fewer jobs than its limit, so
// that there is no backlog.
func (p *pace) less(width int) {
	if p.depth /= 2; p.depth < width {
		p.depth = 0
	}
}

// refillAt returns the number of jobs in flight, running jobs included, at or below which the next
// claim is worth sending.
func (p *pace) refillAt(width int) int { return width - 1 + p.depth/2 }

// limit returns the limit of the next claim, given the number of jobs in flight.
func (p *pace) limit(width, inFlight int) int { return width + p.depth - inFlight }
