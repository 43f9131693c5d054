package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/mail"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/recur"
)

//go:embed schema.sql
var schema string

// concurrentJobs is how many jobs one copy of the service runs at a time.
const concurrentJobs = 10

// service signs up users and sends their mails.
type service struct {
	pool    *pgxpool.Pool
	backend *postgres.Backend
	client  *hourbell.Client
	mailer  mailer
}

// newService creates the missing tables.
func newService(ctx context.Context, pool *pgxpool.Pool, mailer mailer) (*service, error) {
	if _, err := pool.Exec(ctx, schema); err != nil {
		return nil, fmt.Errorf("create the tables of the service: %w", err)
	}
	s := &service{pool: pool, backend: postgres.New(pool), mailer: mailer}
	workers := hourbell.NewWorkers()
	hourbell.RegisterTx(workers, postgres.Transactions(pool), s.welcome)
	hourbell.RegisterTx(workers, postgres.Transactions(pool), s.digest)
	var err error
	if s.client, err = hourbell.New(s.backend, hourbell.Config{Workers: workers, Queues: map[string]int{"default": concurrentJobs}}); err == nil {
		err = s.client.Migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.backend.Close())
	}
	return s, nil
}

func (s *service) close() { s.backend.Close() }

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /signup", s.postSignup)
	return mux
}

// postSignup answers 201 with the account, 400 for a request that is not valid, and 409 for
// an e-mail address that has an account.
func (s *service) postSignup(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Email string `json:"email"`
		Name  string `json:"name"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&request)
	if err == nil {
		var address *mail.Address
		if address, err = mail.ParseAddress(request.Email); err == nil && address.Address != request.Email {
			err = errors.New("give the address alone")
		}
	}
	if err != nil {
		http.Error(w, `the body has to be {"email": "ada@example.org", "name": "Ada"}: `+err.Error(), http.StatusBadRequest)
		return
	}
	id, err := s.signUp(r.Context(), request.Email, request.Name)
	switch {
	case errors.Is(err, errTaken):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		slog.Error("sign up", "err", err)
		http.Error(w, "the account could not be created; try again", http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]int64{"account": id}) // the client may be gone
	}
}

var errTaken = errors.New("this e-mail address has an account already")

// signUp creates an account, the job of its welcome mail and the schedule of its nightly
// digest: all of them, or none.
func (s *service) signUp(ctx context.Context, email, name string) (id int64, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		in := hourbell.InTx(postgres.Tx(tx))
		// The mail comes first here, to show that the rollback below takes it back.
		if _, err := s.client.Enqueue(ctx, welcomeMail{Email: email, Name: name}, in); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, "INSERT INTO account (email, name) VALUES ($1, $2) RETURNING id", email, name).Scan(&id)
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code == "23505" { // unique_violation
			return errTaken
		}
		if err != nil {
			return err
		}
		_, err = s.client.Schedules.Put(ctx, hourbell.Schedule{
			Name:  fmt.Sprint("digest of account ", id),
			Owner: "signup",
			Rule:  recur.Cron("0 3 * * *").In("UTC"),
			Job:   digestMail{Account: id},
		}, in)
		return err
	})
	return id, err
}
