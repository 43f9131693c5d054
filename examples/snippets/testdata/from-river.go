package page

import (
	"context"
	"sort"
)

type SortArgs struct{ Strings []string }

func (SortArgs) Kind() string { return "sort" }

type Billing struct {
	Month     string
	Customers []string
}

func (Billing) Kind() string { return "billing" }

type billing struct{ books *books }

type books struct{}

func (*books) open(ctx context.Context, month string) error

func (*books) charge(ctx context.Context, customer string) error

func (*books) close(ctx context.Context, month string) error
