package child

// SQLite is the name under which modernc.org/sqlite opens the file of req: in
// WAL mode, transactions as writers from their begin, as all systems want it.
func SQLite(req Request) string {
	return "file:" + req.URL + "?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(" + req.Synchronous + ")"
}
