package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
)

// ReadURL makes Open read the URL again before each connection that it makes: the URL that read
// returns has the user, the password and the servers, and the URL of Open has all other settings.
// So a password in a file may be changed while nodes run.
func ReadURL(read func() (string, error)) Option {
	return func(b *Backend) { b.logins.read = read }
}

// logins are the log-ins of a Backend at one URL, in all its pools. Before each, the password file
// (passfile, PGPASSFILE) and the service file that the URL names are read again.
type logins struct {
	store.Logins
	read func() (string, error) // returns the URL; nil: a pool of the program has none
}

// fix makes the log-ins read a URL that does not change, unless there is another reader.
func (l *logins) fix(url string) {
	if l.read == nil {
		l.read = func() (string, error) { return url, nil }
	}
}

// apply makes a pool with this configuration log in by l.
func (l *logins) apply(config *pgxpool.Config) {
	before, after := config.BeforeConnect, config.AfterConnect
	config.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		if before != nil {
			if err := before(ctx, c); err != nil {
				return err
			}
		}
		return l.begin(c)
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		l.Accept()
		if after == nil {
			return nil
		}
		return after(ctx, conn)
	}
}

// connect makes a connection without a pool.
func (l *logins) connect(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	config = config.Copy()
	if err := l.begin(config); err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err == nil {
		l.Accept()
	}
	return conn, err
}

// begin begins a log-in with config, or returns why it must not.
func (l *logins) begin(config *pgx.ConnConfig) error {
	if err := l.Begin(time.Now()); err != nil {
		return err
	}
	other := config.OnPgError
	config.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		switch err.Code {
		case "28P01", "28000": // password; role, or pg_hba.conf
			l.Refuse(time.Now(), err)
		}
		return other == nil || other(conn, err)
	}
	if l.read == nil {
		return nil
	}
	url, err := l.read()
	if err != nil {
		return err
	}
	fresh, err := pgxpool.ParseConfig(url)
	if err != nil {
		return parseError(err)
	}
	from := fresh.ConnConfig
	config.Host, config.Port, config.User, config.Password = from.Host, from.Port, from.User, from.Password
	config.TLSConfig, config.Fallbacks = from.TLSConfig, from.Fallbacks
	return nil
}
