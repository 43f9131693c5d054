package postgres

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// door carries connections to a server, and counts them.
type door struct {
	net.Listener
	opened atomic.Int64
}

func newDoor(t *testing.T, target string) *door {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	d := &door{Listener: listener}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			near, err := d.Accept()
			if err != nil {
				return
			}
			d.opened.Add(1)
			far, err := net.Dial("tcp", target)
			if err != nil {
				near.Close()
				continue
			}
			go func() { _, _ = io.Copy(far, near); far.Close() }()
			go func() { _, _ = io.Copy(near, far); near.Close() }()
		}
	}()
	return d
}

// lodger is a role with a password, and a store that logs in with it through a door.
type lodger struct {
	t    *testing.T
	role string
	file string // has the password of the store
	door *door
	url  string // without the password
}

func newLodger(t *testing.T) *lodger {
	t.Helper()
	server, err := url.Parse(urlFrom(t, serverVariable))
	must(t, err)
	l := &lodger{t: t, role: fmt.Sprintf("hb_lodger_%d", time.Now().UnixNano()), file: filepath.Join(t.TempDir(), "pass"), door: newDoor(t, server.Host)}
	execute(t, "create role "+l.role+" superuser login password 'first'")
	t.Cleanup(func() { execute(t, "drop role "+l.role) })
	query := server.Query()
	query.Set("passfile", l.file)
	server.User, server.Host, server.RawQuery = url.User(l.role), l.door.Addr().String(), query.Encode()
	l.url = server.String()
	l.write("first")
	return l
}

// write writes the password file.
func (l *lodger) write(password string) {
	l.t.Helper()
	must(l.t, os.WriteFile(l.file, []byte("*:*:*:*:"+password+"\n"), 0o600))
}

// change changes the password in the server, and ends all connections.
func (l *lodger) change(password string) {
	l.t.Helper()
	execute(l.t, "alter role "+l.role+" password '"+password+"'")
	execute(l.t, "select pg_terminate_backend(pid) from pg_stat_activity where usename = '"+l.role+"'")
}

// works reports whether every pool of a backend makes connections, and renews them.
func (l *lodger) works(b *Backend) bool {
	for _, class := range []connClass{programConns, nodeConns, leaseConns, lockConns} {
		if _, err := b.poolOf(class).Exec(l.t.Context(), "select 1"); err != nil {
			return false
		}
	}
	return true
}

// eventuallyWorks waits until it does.
func (l *lodger) eventuallyWorks(b *Backend) {
	l.t.Helper()
	for limit := time.Now().Add(60 * time.Second); !l.works(b); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			l.t.Fatal("the store does not work")
		}
	}
}

// TestAPasswordIsRotated: all pools and the connection that listens log in with the new password of
// the file, or of the URL that is read again. Before the file has it, refused log-ins are rare.
func TestAPasswordIsRotated(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"passfile", "ReadURL"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			l := newLodger(t)
			at, options := l.url, []Option{Schema(newSchema(t))}
			if way == "ReadURL" {
				password := func() (string, error) {
					line, err := os.ReadFile(l.file)
					return strings.TrimSpace(strings.TrimPrefix(string(line), "*:*:*:*:")), err
				}
				read := func() (string, error) {
					secret, err := password()
					return strings.Replace(strings.Replace(l.url, "passfile=", "application_name=", 1), l.role+"@", l.role+":"+secret+"@", 1), err
				}
				var err error
				at, err = read()
				must(t, err)
				options = append(options, ReadURL(read))
			}
			b, err := Open(t.Context(), at, append(options, ListenURL(l.url))...)
			must(t, err)
			t.Cleanup(func() { b.Close() })
			migrate(t, b)
			register(t, b)
			l.eventuallyWorks(b)

			l.change("second")
			l.write("second")
			l.eventuallyWorks(b)

			l.change("third") // before the file has it
			for l.works(b) {
				time.Sleep(20 * time.Millisecond)
			}
			before, began := l.door.opened.Load(), time.Now()
			for time.Since(began) < 2*store.LoginGap+time.Second {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				_, err := b.Now(ctx)
				cancel()
				if codeOf(err) != "28P01" || strings.Contains(err.Error(), "second") {
					t.Fatalf("%v, want the refusal", err)
				}
				if b.Listen(t.Context(), func(store.Wake) {}) == nil || l.works(b) {
					t.Fatal("the server accepted a wrong password")
				}
				time.Sleep(5 * time.Millisecond)
			}
			// Two places to log in, and pgx may ask twice: with TLS and without.
			if asked := l.door.opened.Load() - before; asked > 2*2*4 {
				t.Errorf("%d log-ins in %v", asked, time.Since(began))
			} else {
				t.Logf("%d log-ins in %v", asked, time.Since(began))
			}
			l.write("third")
			l.eventuallyWorks(b)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			heard := make(chan struct{}, 1)
			for ctx.Err() == nil && len(heard) == 0 {
				limited, stop := context.WithTimeout(ctx, 10*time.Second)
				_ = b.Listen(limited, func(store.Wake) {
					select {
					case heard <- struct{}{}:
					default:
					}
					stop()
				})
				stop()
			}
		})
	}
}
