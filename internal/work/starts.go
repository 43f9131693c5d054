package work

import "sync"

// starts lets jobs begin whose starts make jobs. Each begins when a worker has it, and not when it
// is claimed: a job that no worker takes in time, or that its stopping node releases, has not made
// anything. Jobs that wait for this at the same moment begin with one statement. starts is safe
// for concurrent use.
type starts struct {
	begin func(runs []*Run) bool // see fetcher.begin

	mu      sync.Mutex
	waiting []start
	passing bool // a goroutine runs pass
}

// start is a run that waits for the permission to begin.
type start struct {
	run *Run
	may chan<- bool
}

// await lets the job of a run begin, and reports whether it may.
func (s *starts) await(run *Run) bool {
	may := make(chan bool, 1)
	s.mu.Lock()
	s.waiting = append(s.waiting, start{run, may})
	if !s.passing {
		s.passing = true
		go s.pass()
	}
	s.mu.Unlock()
	return <-may
}

// pass lets the jobs begin that wait, until none is left.
func (s *starts) pass() {
	for next := s.take(); len(next) > 0; next = s.take() {
		runs := make([]*Run, len(next))
		for i, one := range next {
			runs[i] = one.run
		}
		may := s.begin(runs)
		for _, one := range next {
			one.may <- may
		}
	}
}

// take removes the starts that are first in the queue and begin with one statement: of jobs of one
// claim, see beginTogether. After it has returned none, the next start needs another pass.
func (s *starts) take() []start {
	s.mu.Lock()
	defer s.mu.Unlock()
	var runs []*Run
	for _, one := range s.waiting {
		if one.run.batch != s.waiting[0].run.batch {
			break
		}
		runs = append(runs, one.run)
	}
	n := beginTogether(runs)
	next := s.waiting[:n:n]
	s.waiting = s.waiting[n:]
	s.passing = n > 0
	return next
}
