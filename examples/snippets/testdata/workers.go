package page

import (
	"context"

	"github.com/hourbell/hourbell"
)

var job *hourbell.Job[Import]

var files []struct{ Name string }

var i int

var value any

type Import struct{}

func (Import) Kind() string { return "import" }

type Total struct{ Files int }

var workers *hourbell.Workers

func resize(context.Context, *hourbell.Job[Import]) error { return nil }
