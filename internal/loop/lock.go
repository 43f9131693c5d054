package loop

// Lock is a mutex for what is held during calls of the store. A goroutine that waits for it waits as for any other
// channel, so that a simulated cluster notices that nothing moves (a mutex of package sync hides that).
type Lock chan struct{}

// NewLock returns a Lock that is free.
func NewLock() Lock { return make(Lock, 1) }

// Lock waits until the lock is free, and takes it.
func (l Lock) Lock() { l <- struct{}{} }

// Unlock frees the lock.
func (l Lock) Unlock() { <-l }
