package sqlite

// mayWrite returns nil, because on this system only an attempt shows it.
func mayWrite(string) error { return nil }
