package page

import (
	"context"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/hourbelltest"
	lockmemory "github.com/hourbell/hourbell/lock/memory"
	"github.com/hourbell/hourbell/store"
)

var t *testing.T

var kit *hourbelltest.Kit

var url string

var _ = lockmemory.New

func signUp(ctx context.Context, client *hourbell.Client, address string) {}

func newClient(ctx context.Context, backend store.Backend) (*hourbell.Client, error) { return nil, nil }

type Welcome struct{ To string }

func (Welcome) Kind() string { return "welcome" }

type Invoices struct{}

func (Invoices) Kind() string { return "invoices" }
