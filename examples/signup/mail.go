package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell"
)

// welcomeMail is the job that greets a new user.
type welcomeMail struct {
	Email string `json:"email"`
	Name  string `json:"name"`
}

// Kind names the type of job.
func (welcomeMail) Kind() string { return "welcome mail" }

// digestMail is the job of the nightly schedule of an account.
type digestMail struct {
	Account int64 `json:"account"`
}

// Kind names the type of job.
func (digestMail) Kind() string { return "digest mail" }

// mailer hands a mail over. id is the same in all attempts at one mail, so that a mail
// server that knows it can drop a repetition.
type mailer interface {
	send(ctx context.Context, id, to, subject, text string) error
}

// logMailer writes mails to the log.
type logMailer struct{}

func (logMailer) send(_ context.Context, id, to, subject, _ string) error {
	slog.Info("mail", "id", id, "to", to, "subject", subject)
	return nil
}

func (s *service) welcome(ctx context.Context, job *hourbell.Job[welcomeMail], tx pgx.Tx) error {
	return s.send(ctx, tx, job.ID, job.Args.Email, "Welcome, "+job.Args.Name, "Your account is ready.")
}

func (s *service) digest(ctx context.Context, job *hourbell.Job[digestMail], tx pgx.Tx) error {
	var email string
	var accounts int64
	err := tx.QueryRow(ctx, "SELECT email, (SELECT count(*) FROM account) FROM account WHERE id = $1", job.Args.Account).Scan(&email, &accounts)
	if err != nil {
		return fmt.Errorf("read account %d: %w", job.Args.Account, err)
	}
	return s.send(ctx, tx, job.ID, email, "Your daily digest", fmt.Sprintf("We are %d now.", accounts))
}

// send records a mail and hands it over. The record and the completion of the job are one
// commit, after the mail was handed over: there is a record if, and only if, the job is
// completed. If the process dies before the commit, the next attempt sends the mail with
// the same id.
func (s *service) send(ctx context.Context, tx pgx.Tx, job int64, to, subject, text string) error {
	if _, err := tx.Exec(ctx, "INSERT INTO sent_mail (job_id, email, subject) VALUES ($1, $2, $3)", job, to, subject); err != nil {
		return fmt.Errorf("record a mail: %w", err)
	}
	if err := s.mailer.send(ctx, fmt.Sprint("job-", job), to, subject, text); err != nil {
		return fmt.Errorf("send a mail to %s: %w", to, err)
	}
	return nil
}
