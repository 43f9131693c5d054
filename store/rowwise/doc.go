// Package rowwise is the part of a driver that reads rows, decides by the rules
// of package store, and writes what was decided.
//
// It is for databases in which a rule is not worth a statement of its own. A
// driver implements [Tx] with its SQL. For a call of its store.Backend it opens a
// transaction, reads the clock, and calls the function of this package with the
// name of the call, such as [Insert], [Finish], [Fire] or [PutSchedules]. Each
// function sends a number of statements that does not depend on the number of
// rows, except that Finish takes outcomes in parts of FinishRows. drivers/sqlite
// is the example.
//
// What remains to the driver: connections, transactions and errors, keys of
// inserts, lists, pruning, positions, and all SQL.
//
// [Claim] is a sequence of gates: the files claim_*.go. Each gate decides about one
// thing how much of a claim goes on, once in a look without locks, and again in the
// transaction that takes the jobs. What the gates decide is in package store.
//
// # Transactions and locks
//
// A sequence decides by what it has read, so no other transaction may change
// these rows before the sequence has written. In a database with one writer at a
// time, it is enough that the transaction may write before it reads. In a
// database with row locks, methods whose names begin with Lock are locking reads
// (FOR UPDATE). They take locks in this order, which avoids most deadlocks:
// owners, calendars, the last revision, schedules, nodes, jobs by number, first
// waiting jobs of serial groups, failing schedules. The driver repeats a
// transaction that the database ended because of a deadlock, or because another
// transaction inserted the same name. The isolation level is READ COMMITTED: a
// read sees what was committed while the transaction waited for a lock.
//
// # Values
//
// now is the instant of the call. All instants that are passed to a Tx, or that
// it returns, are whole microseconds in UTC; the zero time means none. Slices
// that are passed to a Tx may be changed after the call; slices that a Tx returns
// belong to the caller. Types whose fields have JSON names can be passed to a
// statement as an array, for json_each or JSON_TABLE. An error of a Tx ends the
// sequence and is returned as it is; the driver rolls back.
package rowwise
