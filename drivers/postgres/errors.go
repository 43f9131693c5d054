package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
)

// errMoved: rows went from where they were looked for; the transaction begins
// again.
var errMoved = errors.New("rows were moved by someone else")

// passing reports whether a transaction with this error may succeed when it is
// begun again: after a deadlock, a serialization failure, or a row that moved.
func passing(err error) bool {
	code := codeOf(err)
	return code == "40P01" || code == "40001" || errors.Is(err, errMoved)
}

// codeOf is the server's code of an error, or empty. Errors of pgx and of
// lib/pq tell it by the same method.
func codeOf(err error) string {
	var server interface{ SQLState() string }
	if errors.As(err, &server) {
		return server.SQLState()
	}
	return ""
}

// perhaps marks the error of a commit, or of a message that commits by itself,
// where the connection broke before the answer: it may have happened.
func perhaps(conn *pgxpool.Conn, err error) error {
	if err == nil || sentNothing(err) || !conn.Conn().IsClosed() {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUnknown, err)
}

// sentNothing reports whether nothing was sent to the server. pgx 5.12 reports a connection that ends while it waits for an answer like a
// connection that was closed before, as safe to retry. Here connections are open when something is sent, so that it is the former.
func sentNothing(err error) bool {
	var closed interface {
		error
		SafeToRetry() bool
	}
	return pgconn.SafeToRetry(err) && (!errors.As(err, &closed) || closed.Error() != "conn closed")
}

// retryable reports whether a transaction may be begun again after an error: the server gave it up because of others, or the connection
// ended before a commit was sent.
func retryable(err error) bool {
	return !errors.Is(err, store.ErrUnknown) && (passing(err) || pgconn.SafeToRetry(err))
}

// rejects reports whether a code means a rejected value: by its type, a
// constraint, a view's check, or a trigger.
func rejects(code string) bool {
	for _, class := range []string{"22", "23", "44", "P0"} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}

// explanation is what an error means for users: the error of the store that it is, if any, and the remedy.
type explanation struct {
	is   error
	text string
}

// The explanations by SQLSTATE.
var (
	viaPooler = explanation{nil, "a pooler in transaction mode seems to stand in between; add default_query_exec_mode=exec to the pool's URL"}
	badLogin  = explanation{nil, "the database server refuses this user, password or database; see that the URL names them rightly"}

	explanations = map[string]explanation{
		"26000": viaPooler, // a prepared statement is missing
		"42P05": viaPooler, // a prepared statement exists
		"08P01": viaPooler, // protocol
		"28P01": badLogin,  // password
		"28000": badLogin,  // role
		"3D000": badLogin,  // database
		"57014": {store.ErrTimeLimit, "see the statement_timeout of the role, of the database and of the server " +
			"(or an administrator has cancelled the statement)"},
		lockNotAvailable: {store.ErrTimeLimit, "other transactions hold locks for longer than the lock_timeout of the role, " +
			"of the database or of the server allows"},
		"57P05": {store.ErrTimeLimit, "see the idle_session_timeout of the role, of the database and of the server"},
		"53100": {nil, "the disk of the database server is full"},
		"25006": {nil, "the server is a read-only standby; add target_session_attrs=read-write to the URL"},
	}
)

// explain adds the operation and, if there is one, the remedy.
func (b *Backend) explain(what string, err error) error {
	code := codeOf(err)
	if known, ok := explanations[code]; ok {
		if known.is == nil {
			return fmt.Errorf("%s: %s: %w", what, known.text, err)
		}
		return fmt.Errorf("%s: %w: %s: %w", what, known.is, known.text, err)
	}
	switch code {
	case "42P01", "42703", "3F000": // no such table, column, schema
		return fmt.Errorf("%s: %w: schema %q lacks something; %s: %w", what, store.ErrSchema, b.schema, store.MissingRemedy, err)
	case "42501":
		if strings.HasPrefix(what, "migrate ") {
			return fmt.Errorf("%s: the database role may not do this; run `hourbell migrate up` as a role that may, then start with --no-migrate: %w", what, err)
		}
		return fmt.Errorf("%s: the database role may not do this; grant it USAGE on schema %q and all rights on its tables and sequences: %w", what, b.schema, err)
	case "53300":
		return fmt.Errorf("%s: %s: %w", what, noConnectionLeft(err), err)
	}
	if rejects(code) {
		return fmt.Errorf("%s: %w; see that the database's encoding is UTF8, and what constraints and triggers that were "+
			"added to its tables forbid: %w", what, store.ErrRejected, err)
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return fmt.Errorf("%s: cannot reach the database; see that it runs and that host, port and password are right: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// noConnectionLeft names the limit that an error 53300 is about, by the function of the server that refused, because messages are translated.
func noConnectionLeft(err error) string {
	var refusal *pgconn.PgError
	errors.As(err, &refusal)
	switch {
	case refusal != nil && refusal.Routine == "InitializeSessionUserId":
		return "the database role has no connection left; raise its limit (ALTER ROLE … CONNECTION LIMIT) or lower pool_max_conns"
	case refusal != nil && refusal.Routine == "CheckMyDatabase":
		return "the database has no connection left; raise its limit (ALTER DATABASE … CONNECTION LIMIT) or lower pool_max_conns"
	}
	return "the database server has no connection left; raise its max_connections or lower pool_max_conns"
}

// parseError returns why a URL could not be read without repeating any part of
// it: a password that was not percent-encoded may be anywhere in it, and in the
// messages of the parsers.
func parseError(err error) error {
	var parse *pgconn.ParseConfigError
	if !errors.As(err, &parse) {
		return errors.New("the store URL is not valid: see that its pool_… parameters have proper values")
	}
	const malformed = "the store URL is not valid; write postgres://user:password@host:port/database, with special characters of user and password percent-encoded"
	var bad *url.Error
	if errors.As(err, &bad) || !strings.Contains(parse.ConnString, "://") {
		return errors.New(malformed)
	}
	return errors.New(malformed + ", and see that parameters such as sslmode and connect_timeout have proper values")
}
