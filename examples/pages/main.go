// Command pages mounts the pages of Hourbell in a web server that has its own users.
//
//	go run ./pages     # and open http://localhost:8080/admin/, as ops with the password secret
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/dashboard"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/recur"
)

// Sweep is a job that does nothing.
type Sweep struct{}

// Kind names the type of job.
func (Sweep) Kind() string { return "sweep" }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, "pages.db", "127.0.0.1:8080"); err != nil {
		log.Fatal(err)
	}
}

// run is a node and a web server until ctx ends.
func run(ctx context.Context, file, address string) error {
	backend, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer backend.Close()
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(context.Context, *hourbell.Job[Sweep]) error { return nil })
	client, err := hourbell.New(backend, hourbell.Config{Workers: workers})
	if err != nil {
		return err
	}
	if err := client.Migrate(ctx); err != nil {
		return err
	}
	if _, err := client.Schedules.Put(ctx, hourbell.Schedule{Name: "sweep", Rule: recur.Every(5 * time.Second), Job: Sweep{}}); err != nil {
		return err
	}

	server := &http.Server{Addr: address, Handler: handler(client), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	node, stop := context.WithCancel(ctx)
	defer stop()
	worked := make(chan error, 1)
	go func() { worked <- client.Run(node) }()
	select {
	case err = <-served:
	case err = <-worked:
	case <-ctx.Done():
	}
	stop()
	return errors.Join(err, server.Close())
}

// handler is the program's own site, with the pages below /admin/.
func handler(client *hourbell.Client) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("the program's own page\n")) // the client has gone otherwise
	})
	pages := dashboard.Handler(client, dashboard.Options{Authorize: authorize})
	mux.Handle("/admin/", login(http.StripPrefix("/admin", pages)))
	return mux
}

// users are the program's own users. A real program keeps hashes of passwords.
var users = map[string]struct {
	password string
	role     access.Role
}{
	"ops":   {"secret", access.Operator}, // may pause, retry, cancel …
	"guest": {"guest", access.Viewer},    // may read
}

// login asks the browser for a user and a password.
func login(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := authorize(r); err != nil {
			w.Header().Set("WWW-Authenticate", `Basic realm="admin"`)
			http.Error(w, "log in, please", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// authorize returns who the caller is. The audit records the name with each change.
func authorize(r *http.Request) (access.Identity, error) {
	name, password, _ := r.BasicAuth()
	user, found := users[name]
	if !found || user.password != password {
		return access.Identity{}, errors.New("the user or the password is wrong")
	}
	return access.Identity{Name: name, Role: user.role, Source: "basic"}, nil
}
