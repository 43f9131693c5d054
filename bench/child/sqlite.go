package child

// SQLite returns the name with which modernc.org/sqlite opens the file of req:
// in WAL mode, with transactions that are writers from their begin, as all
// systems require.
func SQLite(req Request) string {
	return "file:" + req.URL + "?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(" + req.Synchronous + ")"
}
