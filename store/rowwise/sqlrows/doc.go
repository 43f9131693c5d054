// Package sqlrows is the part of a driver over database/sql that does not depend on the database. Users of Hourbell do not need
// this package.
//
//   - Values become parameters, and columns become values ([Micros], [IntoTime], [JSON]).
//   - [SpecColumns] maps the description of a job to columns.
//   - [Sources] are the statements of a driver, with the parameters and columns that their callers agree on. The first of them,
//     below [Shared], are the statements that all drivers declare alike.
//   - [Session] has most of rowwise.Tx, for a database that needs nothing more than a statement, and listings. A driver's session embeds
//     it, runs statements for it as a [Dialect], and has methods of the same names where its database needs more.
//   - [Calls] are the calls of a store.Backend that are one function in one transaction. A driver's Backend embeds them.
//
// It is for databases that store an instant as the whole number of microseconds since 1970, or let a statement return it in this
// form, and a duration as microseconds. What remains to the driver: its SQL, connections, transactions, locks, claims, inserts, and
// how values and rows are sent.
package sqlrows
