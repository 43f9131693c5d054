package mysql

import (
	"context"
	"database/sql/driver"
	"time"

	mysql "github.com/go-sql-driver/mysql"

	"github.com/hourbell/hourbell/store"
)

// Option changes what Open makes.
type Option func(*openSettings)

type openSettings struct {
	read func() (string, error) // returns the URL; nil: it does not change
}

// ReadURL makes Open read the URL again before each connection that it makes: the URL that read
// returns has the user, the password and the server, and the URL of Open has all other settings.
// So a password in a file may be changed while nodes run.
func ReadURL(read func() (string, error)) Option {
	return func(s *openSettings) { s.read = read }
}

// apply makes connections with config log in as the URL says that is read before each of them.
func (s openSettings) apply(config *mysql.Config) error {
	if s.read == nil {
		return nil
	}
	return config.Apply(mysql.BeforeConnect(func(_ context.Context, c *mysql.Config) error {
		text, err := s.read()
		if err != nil {
			return err
		}
		fresh, err := readURL(text)
		if err == nil {
			c.User, c.Passwd, c.Addr = fresh.User, fresh.Passwd, fresh.Addr
		}
		return err
	}))
}

// patient is a connector that seldom logs in while the server refuses it.
type patient struct {
	driver.Connector
	logins *store.Logins
}

// The errors by which a server refuses a log-in.
const (
	errAccessDeniedNoPassword = 1698
	errUserLocked             = 3118
	errUserLockedMariaDB      = 4151
)

// Connect implements driver.Connector.
func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	if err := p.logins.Begin(time.Now()); err != nil {
		return nil, err
	}
	conn, err := p.Connector.Connect(ctx)
	switch numberOf(err) {
	case errAccessDenied, errAccessDeniedNoPassword, errUserLocked, errUserLockedMariaDB:
		p.logins.Refuse(time.Now(), err)
	}
	if err != nil {
		return nil, unsent{err}
	}
	p.logins.Accept()
	return conn, nil
}

// unsent is an error of a statement for which no connection could be made: the server has not received the statement.
type unsent struct{ error }

// Unwrap returns the error.
func (u unsent) Unwrap() error { return u.error }
