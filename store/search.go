package store

import "time"

// JobSearch looks for jobs among the numbers of jobs part by part, from the greatest number
// down, so that no part takes long: each part is a call with After and Before. It is for
// filters for which there is no index. The zero value has no parts; see NewJobSearch.
type JobSearch struct {
	before int64 // the numbers from this on are searched
	width  int64 // of the next part
}

// The parts of a search.
const (
	firstPart = 16384                 // numbers
	shortPart = 5 * time.Millisecond  // after a shorter part the next part is wider
	longPart  = 15 * time.Millisecond // after a longer part the next part is narrower
	narrowest = 4096                  // numbers: a store that is not slow searches so few quickly
)

// NewJobSearch begins a search at the numbers below before.
func NewJobSearch(before int64) JobSearch { return JobSearch{before, firstPart} }

// Over reports whether all numbers are searched.
func (s *JobSearch) Over() bool { return s.before <= 1 }

// Before returns the number from which on all numbers are searched.
func (s *JobSearch) Before() int64 { return s.before }

// Part returns the bounds of the next part, as in ListJobsRequest.
func (s *JobSearch) Part() (after, before int64) { return max(s.before-s.width-1, 0), s.before }

// Done records that the part was searched, and how long the search took.
func (s *JobSearch) Done(took time.Duration) {
	after, _ := s.Part()
	s.before = after + 1
	switch {
	case took < shortPart:
		s.width *= 4
	case took > longPart:
		s.width = max(s.width/2, narrowest)
	}
}

// Slow records that the part took too long, and reports whether a narrower part can be tried.
func (s *JobSearch) Slow() bool {
	if s.width == narrowest {
		return false
	}
	s.width = max(s.width/8, narrowest)
	return true
}
