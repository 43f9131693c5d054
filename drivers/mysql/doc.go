// Package mysql keeps Hourbell's jobs and schedules in a database of MySQL or MariaDB, and its locks.
// It is tested with MariaDB 10.11, and was tested with MySQL 8.0.31.
//
//	backend, err := mysql.Open(ctx, "mysql://user:password@host:3306/database")
//	if err != nil { … }
//	defer backend.Close()
//	if _, err := backend.MigrateUp(ctx); err != nil { … }
//
// MySQL 8.0.21 and MariaDB 10.6 are the oldest versions with all that the driver needs. The tables begin
// with hourbell_, so that they can live in a program's own database. Then jobs can be enqueued in the
// program's transactions: see [Tx].
//
// # How it works
//
// The driver's own transactions are READ COMMITTED, lock the rows by which they decide, and leave out rows that other
// transactions have locked where a caller must not wait. A transaction that the server gives up, because of a deadlock, of a wait for a lock, or of
// a certification that failed in a cluster, is begun again, within bounds; see [Backend.Retries].
//
// A program's transaction may be REPEATABLE READ, the server's default, and then sees the rows of an old snapshot. There
// the driver reads what it decides by with locks, which it gets for the newest rows. Such locks include gaps
// between rows, and last until the transaction ends. READ COMMITTED holds up fewer others. With innodb_snapshot_isolation, the default of
// MariaDB 11.8, a REPEATABLE READ transaction gets error 1020 for rows that are newer than its snapshot, and has to be begun again.
//
// The clock is the server's clock, in UTC. Instants are of type DATETIME(6), and travel as numbers, so that neither the time zone
// of a session nor the settings of a program's connections matter. Names are compared by their bytes.
//
// The server sends no wake-ups: each process wakes its own nodes, and leaves a note in a small table that other
// processes read.
//
// # Locks
//
//	locks := mysql.NewLocks(db)          // the program's *sql.DB
//	locks, err := mysql.OpenLocks(url)   // connections of its own
//	locker, err := lock.New(locks, lock.Config{})
//
// A *sql.DB must use github.com/go-sql-driver/mysql, with any settings except
// autocommit=0. Names are compared byte by byte, whatever the collation of the
// database, and times are in UTC, whatever the time zone of the session.
package mysql
