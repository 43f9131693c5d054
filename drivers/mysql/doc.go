// Package mysql keeps Hourbell's locks in MySQL or MariaDB. It is tested with
// MariaDB 10.11.
//
//	locks := mysql.NewLocks(db)          // the program's *sql.DB
//	locks, err := mysql.OpenLocks(url)   // connections of its own
//	locker, err := lock.New(locks, lock.Config{})
//
// A *sql.DB must use github.com/go-sql-driver/mysql, with any settings except
// autocommit=0. Names are compared byte by byte, whatever the collation of the
// database, and times are in UTC, whatever the time zone of the session.
package mysql
