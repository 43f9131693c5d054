package locksql

import (
	"context"
	"io/fs"
	"time"
)

// Dialect describes a database. A Provider does not change it, and calls its
// functions concurrently.
type Dialect struct {
	// Files has the statements in its root folder; see the package's
	// documentation.
	Files fs.FS

	// Table is the name of the lock table unless a user names another table.
	Table string

	// Migrated means that `hourbell migrate up` creates the default tables.
	Migrated bool

	// Qualified means that a user may name a table as schema.table.
	Qualified bool

	// Fits reports whether the database takes the names of a lock table and of
	// the tables and triggers that belong to it, which are up to nine bytes
	// longer. Empty names and control characters are refused before. schema may
	// be empty.
	Fits func(schema, table string) bool

	// TableAdvice completes the error for a name that does not fit, as in "give
	// a name of 1 to 57 bytes".
	TableAdvice string

	// Quote returns a name as a quoted identifier.
	Quote func(name string) string

	// QuestionMarks makes the placeholder of a parameter a question mark for each
	// of its uses, instead of $1, $2 and so on.
	QuestionMarks bool

	// Instant returns an instant as a parameter.
	Instant func(t time.Time) any

	// Array returns a list of names as a parameter.
	Array func(names []string) any

	// Tick is the unit in which look.sql and list.sql return instants, counted
	// from 1970.
	Tick time.Duration

	// TimeAdvice is the remedy in the error for an instant in the lock table that
	// is not a number, because another program wrote it.
	TimeAdvice string

	// CollationAdvice completes the error for two names that are equal under the
	// collation of the column name.
	CollationAdvice string

	// LookFirst makes a request read before it writes, for databases in which a
	// writer may have to wait for other writers also if the lock is held.
	LookFirst bool

	// Macros returns the macros for the two columns with instants. Without
	// columns.sql the columns are zero values.
	Macros func(until, at Column) map[string]Macro

	// Names returns further words that are replaced by texts, for a table in a
	// schema. Optional.
	Names func(schema, table string) map[string]string

	// Texts and Times are the types of columns that fit. They are only used with
	// columns.sql.
	Texts, Times Types

	// LastRune returns the greatest character that a character set is known to
	// have. It is only used for columns with a character set.
	LastRune func(charset string) rune

	// CheckSession refuses connections whose settings do not allow locks. It is
	// called when the tables are read. Optional, and only used with columns.sql.
	CheckSession func(ctx context.Context, conn Conn) error

	// Create returns the text that creates tables in a schema, so that processes
	// may run it concurrently, from the text of tables.sql. nil: the statements
	// of tables.sql are run.
	Create func(schema, tables string) string

	// Class returns the class of an error of the database.
	Class func(err error) Class

	// Waited is the end of the error of a call that had a connection and then took
	// too long: what the call waited for, and the remedy.
	Waited string

	// Explain adds the operation to an error of class Other and, if there is
	// one, the remedy.
	Explain func(what string, err error) error
}

// Macro returns the text that replaces a word in braces; see sqltext.Expand.
type Macro = func(argument string) string

// Types is a list of types of columns, by the names that columns.sql returns.
type Types struct {
	Fit    []string
	Advice string // what to write instead of another type
}

// Column is a column of a lock table, as columns.sql describes it.
type Column struct {
	Name      string
	Kind      string // the type
	Length    int    // how many characters the column takes; 0: any number
	Precision int    // the digits of the fraction of a second, 0 to 6
	Charset   string // the character set; empty: the column takes all characters
	Unique    bool   // the column alone has a unique index
}

// Class is a class of errors of a database.
type Class int

// The classes of errors.
const (
	Other   Class = iota
	Busy          // the call waited too long for a connection or for other transactions
	Passing       // other transactions were in the way: the same call may succeed now
	Changed       // a table or a column is missing, or is not what it was
	Denied        // the user has no right to use the tables
)

// Command is a statement that is ready to be run.
type Command struct {
	Text string // in the database's language, with its placeholders
	Args []any  // the values, in the order of the placeholders
}

// Row is a row of an answer.
type Row interface{ Scan(targets ...any) error }

// DB is a source of connections. Concurrent calls are allowed.
type DB interface {
	// Acquire waits for a connection until ctx ends.
	Acquire(ctx context.Context, use Use) (Conn, error)
}

// Use is what a connection is for.
type Use int

// The uses of connections.
const (
	// OtherUse is every other call, such as a request for a lock.
	OtherUse Use = iota
	// Upkeep is the renewal or the release of a lock that is held. If it waits for
	// a connection for too long, the lock is lost.
	Upkeep
)

// Conn is a connection. Calls are made one at a time. What a call has written
// is committed when it returns.
type Conn interface {
	// Query runs a command and calls scan with each row of its answer.
	Query(ctx context.Context, c Command, scan func(Row) error) error

	// Exec runs commands, and returns how many rows the last command wrote.
	Exec(ctx context.Context, commands []Command) (rows int, err error)

	// Take runs the commands of take.sql or take_slot.sql in one transaction,
	// and returns the token that they drew, or 0 if they granted nothing.
	Take(ctx context.Context, commands []Command) (token int64, err error)

	// Release gives the connection back.
	Release()
}

// Querier runs a command in a transaction of the caller.
type Querier interface {
	// Query runs a command and calls scan with each row of its answer.
	Query(ctx context.Context, c Command, scan func(Row) error) error
}
