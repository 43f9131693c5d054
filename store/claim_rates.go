package store

import "time"

// QueueRates is what a claim has to know of the limits of a whole queue: the gate of a claim that counts starts. The zero value is of a
// queue without limits.
type QueueRates struct {
	Rates     []QueueRate
	revision  int64     // of the newest limit
	notBefore time.Time // until when a worker has asked that nothing of the queue starts; zero: no such instant
}

// QueueRate is the rate of a limit of a whole queue, with its state.
type QueueRate struct {
	Limit int64 // its number
	Rate  Rate
	TAT   time.Time // as Rate.After returns it
}

// start moves the rate by jobs that start at an instant.
func (q *QueueRate) start(now time.Time, jobs int) { q.TAT = q.Rate.After(q.TAT, now, jobs) }

// Add adds a limit of the queue with its state, and reports whether the limit has a rate.
func (q *QueueRates) Add(limit *Limit, tat, notBefore time.Time) (rated bool) {
	q.revision = max(q.revision, limit.Revision)
	if notBefore.After(q.notBefore) {
		q.notBefore = notBefore
	}
	rate, rated := limit.Pace()
	if rated {
		q.Rates = append(q.Rates, QueueRate{limit.ID, rate, tat})
	}
	return rated
}

// Bound returns the claim that the limits of the whole queue allow, perhaps of no job, and writes the newest limit, and the
// next start if nothing may start now, to the answer.
func (q *QueueRates) Bound(req ClaimRequest, now time.Time, out *ClaimResult) ClaimRequest {
	out.LimitRevision = q.revision
	switch {
	case q.revision != req.Permits.Revision:
		req.Limit = 0
	case q.notBefore.After(now):
		req.Limit, out.NextStart = 0, q.Next(now)
	case req.Permits.Rated():
		if req.Limit, req.Ahead = q.room(now, req.Limit), 0; req.Limit == 0 {
			out.NextStart = q.Next(now)
		}
	}
	return req
}

// room returns how many jobs may start now, at most most.
func (q *QueueRates) room(now time.Time, most int) int {
	for _, r := range q.Rates {
		most = r.Rate.Room(r.TAT, now, most)
	}
	return most
}

// Start moves the rates by jobs that start at an instant, and returns them.
func (q *QueueRates) Start(now time.Time, jobs int) []QueueRate {
	for i := range q.Rates {
		q.Rates[i].start(now, jobs)
	}
	return q.Rates
}

// Next returns when the next job may start; zero: now.
func (q *QueueRates) Next(now time.Time) (next time.Time) {
	if q.notBefore.After(now) {
		next = q.notBefore
	}
	for _, r := range q.Rates {
		if at := r.Rate.Next(r.TAT, now); at.After(now) && at.After(next) {
			next = at
		}
	}
	return next
}
