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

func (s *service) welcome(ctx context.Context, job *hourbell.Job[welcomeMail]) error {
	return s.sendOnce(ctx, job.ID, job.Args.Email, "Welcome, "+job.Args.Name, "Your account is ready.")
}

func (s *service) digest(ctx context.Context, job *hourbell.Job[digestMail]) error {
	var email string
	var accounts int64
	err := s.pool.QueryRow(ctx, "SELECT email, (SELECT count(*) FROM account) FROM account WHERE id = $1", job.Args.Account).Scan(&email, &accounts)
	if err != nil {
		return fmt.Errorf("read account %d: %w", job.Args.Account, err)
	}
	return s.sendOnce(ctx, job.ID, email, "Your daily digest", fmt.Sprintf("We are %d now.", accounts))
}

// sendOnce sends a mail and records it in one transaction: the row is inserted first, and
// committed after the mail was handed over. If the process dies in between, the next attempt
// sends the mail with the same id.
func (s *service) sendOnce(ctx context.Context, job int64, to, subject, text string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "INSERT INTO sent_mail (job_id, email, subject) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", job, to, subject)
		if err != nil {
			return fmt.Errorf("record a mail: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return nil // an attempt before this one has sent it
		}
		if err := s.mailer.send(ctx, fmt.Sprint("job-", job), to, subject, text); err != nil {
			return fmt.Errorf("send a mail to %s: %w", to, err)
		}
		return nil
	})
}
