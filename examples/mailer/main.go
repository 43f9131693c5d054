// Command mailer sends each user a digest at a time that the user chose. Any number of copies can run on one store: each digest
// is sent by one of them.
//
//	go run ./mailer                                             # a node; start two of them
//	go run ./mailer subscribe ada@example.org '0 18 * * *' Europe/Prague
//	go run ./mailer unsubscribe ada@example.org
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Digest is a mail to a user.
type Digest struct {
	To string `json:"to"`
}

// Kind names the type of job.
func (Digest) Kind() string { return "digest" }

// mailer is a client and the way in which it sends.
type mailer struct {
	client *hourbell.Client
	send   func(to string, slot time.Time) error
}

// newMailer joins a store and the worker of digests.
func newMailer(backend store.Backend, send func(to string, slot time.Time) error) (*mailer, error) {
	m := &mailer{send: send}
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, m.digest, hourbell.DefaultTimeout(time.Minute))
	var err error
	m.client, err = hourbell.New(backend, hourbell.Config{Workers: workers})
	return m, err
}

// digest is the worker.
func (m *mailer) digest(_ context.Context, job *hourbell.Job[Digest]) error {
	return m.send(job.Args.To, job.Slot)
}

// subscribe gives a user a schedule, or changes it. A mistake in the rule or the zone is an error that names the field, which
// can be shown to the user.
func (m *mailer) subscribe(ctx context.Context, user, cron, zone string) error {
	_, err := m.client.Schedules.Put(ctx, hourbell.Schedule{
		Name:  "digest of " + user,
		Group: "digests", // to pause all of them: hourbell groups pause digests
		Rule:  recur.Cron(cron).In(zone),
		Job:   Digest{To: user},
		// A digest that was missed is sent when a node is back, if it is not older than a day.
		Misfire: hourbell.MisfireOnce, Window: 24 * time.Hour,
		MaxAttempts: 5,
	})
	return err
}

// unsubscribe ends the digests of a user.
func (m *mailer) unsubscribe(ctx context.Context, user string) error {
	return m.client.Schedules.Delete(ctx, []string{"digest of " + user})
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, "mailer.db", os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run carries out a command on the file, or is a node until ctx ends.
func run(ctx context.Context, file string, args []string, out io.Writer) error {
	backend, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer backend.Close()
	m, err := newMailer(backend, func(to string, slot time.Time) error {
		_, err := fmt.Fprintf(out, "digest to %s for %s\n", to, slot.Format(time.RFC3339))
		return err
	})
	if err != nil {
		return err
	}
	if err := m.client.Migrate(ctx); err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return m.client.Run(ctx)
	case len(args) == 4 && args[0] == "subscribe":
		return m.subscribe(ctx, args[1], args[2], args[3])
	case len(args) == 2 && args[0] == "unsubscribe":
		return m.unsubscribe(ctx, args[1])
	}
	return errors.New("usage: mailer [subscribe USER CRON ZONE | unsubscribe USER]")
}
