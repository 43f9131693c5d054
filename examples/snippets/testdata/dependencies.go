package page

import (
	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell"
)

var tx pgx.Tx

var id, exportID int64

var job *hourbell.Job[Page]

var requests []hourbell.Request

type Export struct{}

func (Export) Kind() string { return "export" }

type Publish struct{}

func (Publish) Kind() string { return "publish" }

type Clean struct{}

func (Clean) Kind() string { return "clean" }

type Report struct{}

func (Report) Kind() string { return "report" }

type Page struct{}

func (Page) Kind() string { return "page" }

type Charge struct{ Order int64 }

func (Charge) Kind() string { return "charge" }

type Ship struct{ Order int64 }

func (Ship) Kind() string { return "ship" }
