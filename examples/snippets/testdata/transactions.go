package page

import (
	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"github.com/hourbell/hourbell"
)

var tx pgx.Tx

var orm *gorm.DB

type Account struct{ Email string }

var job *hourbell.Job[Invoice]

type Invoice struct{}

func (Invoice) Kind() string { return "invoice" }

type WelcomeMail struct{ To string }

func (WelcomeMail) Kind() string { return "welcome" }

type Digest struct{ To string }

func (Digest) Kind() string { return "digest" }
