package memory

// Backup is what a Store contained at an instant, as a backup of a database is.
type Backup struct{ tables tables }

// Backup returns what has been committed.
func (s *Store) Backup() *Backup {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Backup{s.clone()}
}

// Restore replaces everything by a backup of the store, which can be restored several times. Open transactions end, as
// connections to a database do that is restored: their next call returns store.ErrTxEnded.
func (s *Store) Restore(b *Backup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tx := range s.open {
		tx.end()
	}
	s.tables = b.tables.clone()
}
