// Package locksql is the part of a lock provider that is the same for every SQL
// database. The drivers for PostgreSQL, MySQL and SQLite are built on it; users
// call the drivers.
//
// A [Provider] makes all decisions: when to take, look, seed and try again,
// which error to return, how the tables are named, created and inspected. A
// [Dialect] contains what differs between databases: the statements, the types
// of columns, the classes of errors. A [DB] gives connections, which run one
// [Command] or a few at a time.
//
// # Statements
//
// Each statement is a file of Dialect.Files, with the same name in every
// dialect:
//
//	file              | what it does                                         | its answer
//	------------------+------------------------------------------------------+-----------------------
//	take.sql          | takes a lock that is free, and draws a token         | the token; see Conn.Take
//	take_slot.sql     | take, if the conditions of the request's slot hold   | the token
//	look.sql          | reads the row and the state of a name                | one row, as list
//	list.sql          | reads the rows and states of a page of names         | now, name, locked_by, locked_at, lock_until,
//	                  |                                                      | token, slot, anchor, step, granted_at
//	extend.sql        | extends a lock that its owner still has              | a written row, or the lock is lost
//	release.sql       | frees a lock that its owner still has                | a written row, or the lock is lost
//	free.sql          | frees a lock, whatever its owner, and deletes a mark | –
//	                  | whose grant is later than now                        |
//	check.sql         | blocks the next grant, in a caller's transaction     | a row if the token is the last
//	check_shared.sql  | check, for tables that other programs use too        | a row if the token is the last
//	touch.sql         | writes the row of a lock before check; optional, for | – (no rows)
//	                  | clusters whose servers share no locks of rows        |
//	touch_shared.sql  | touch, for tables that other programs use too        | – (no rows)
//	tables.sql        | creates the tables where they are missing            | –
//	trigger.sql       | draws tokens for grants of other programs            | – (users run it)
//	seed.sql          | makes the rows of a name; optional, for databases    | –
//	                  | whose take needs them                                |
//	owned.sql         | reports whether the owner still has a lock; optional,| true or false
//	                  | for databases that do not count unchanged rows       |
//	columns.sql       | describes the columns of the lock table; optional,   | schema, name, kind, length, precision,
//	                  | for databases with types of columns                  | charset, unique, whether a state table exists
//
// A file may have several statements, with a semicolon and an empty line
// between them; they run in order, and Conn.Take and Conn.Exec answer for the
// last.
//
// # Parameters and names
//
// Package sqltext describes the form of a statement. Durations are whole
// milliseconds, instants are what Dialect.Instant returns, and a missing value is
// null:
//
//	:name :owner          the request
//	:hold                 how long to hold the lock from now
//	:now                  the instant that replaces the database's clock in tests
//	:patience             for how long the server may wait for other transactions
//	:seen :from :until    the conditions of the slot; :slot :anchor :step, its mark
//	:at_least :rest       the at-least time, and how much of it is left
//	:token                the token to check
//	:after :names :limit  the page of a listing; :names is what Dialect.Array returns
//	:schema :table        where columns.sql looks; an empty :schema is the connection's
//
// {table}, {state}, {function}, {inserted} and {updated} are replaced by the
// quoted names of the tables, and of the functions and triggers that belong to
// them, further names by Dialect.Names, and macros by Dialect.Macros.
package locksql
