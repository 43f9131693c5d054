package store

import "time"

// Progress is how far the present, or last, attempt of a job has come.
type Progress struct {
	// Done of Total units of work are done; a Total of 0 means that the number of
	// units is not known. Neither is negative.
	Done, Total int64
	// Note is valid UTF-8 without NUL, at most 1 KiB; may be empty.
	Note string
	At   time.Time // when it was stored; zero: the attempt has reported nothing
	// Stuck is since when the context of the attempt has ended, if its worker was found not to
	// return; otherwise zero. It stays when the worker has returned.
	Stuck time.Time
}

// SaveProgressRequest stores the progress of claims.
type SaveProgressRequest struct {
	Now    time.Time
	Claims []ClaimProgress // at most one of each job
}

// ClaimProgress is the progress of a claim. Its At and Stuck are not used.
type ClaimProgress struct {
	ClaimRef
	Progress
	// StuckFor is how long ago the context of the attempt has ended, if its worker was found not
	// to return; otherwise 0.
	StuckFor time.Duration
}

// StuckSince returns the Progress.Stuck of the claim, stored at an instant of the store's clock.
func (c ClaimProgress) StuckSince(now time.Time) time.Time {
	if c.StuckFor <= 0 {
		return time.Time{}
	}
	return now.Add(-c.StuckFor)
}
