package watch

import "time"

// FileState is a watched file as it is shown to people.
type FileState struct {
	Path  string
	Owner string // of its schedules; empty: no version without mistakes was read
	// ModifiedAt is when the version that was read last was written, by the clock of
	// the file system; zero: the file does not exist.
	ModifiedAt time.Time
	Entries    int    // schedules, and commands for the start of a node, of the last good version
	Problem    string // why the version that was read last is not in the store; empty: it is
	Refused    bool   // the problem is a mistake in the file, or another reason for which it cannot be in effect
}

// States returns the files as they were after the last check. Unlike all other methods
// it may be called concurrently.
func (w *Watcher) States() []FileState {
	if states := w.states.Load(); states != nil {
		return *states
	}
	return nil
}

// publish makes the present states of the files known to callers of States.
func (w *Watcher) publish() {
	states := make([]FileState, len(w.files))
	for i, f := range w.files {
		s := FileState{Path: f.Path, Problem: f.said, Refused: f.refused}
		if f.read != nil {
			s.ModifiedAt = f.read.ModTime()
		}
		if f.good != nil {
			s.Owner, s.Entries = f.good.Owner, len(f.good.All())
		}
		if s.Problem == "" && f.pending {
			s.Problem = "not in the store yet"
		}
		states[i] = s
	}
	w.states.Store(&states)
}
