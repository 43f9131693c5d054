package snippets

// The modules that Go blocks of the pages import, for go.mod.
import (
	_ "github.com/prometheus/client_golang/prometheus"

	_ "github.com/hourbell/hourbell/access"
	_ "github.com/hourbell/hourbell/api"
	_ "github.com/hourbell/hourbell/dashboard"
	_ "github.com/hourbell/hourbell/drivers/sqlite"
	_ "github.com/hourbell/hourbell/hourbelltest"
	_ "github.com/hourbell/hourbell/observe/otel"
	_ "github.com/hourbell/hourbell/observe/prometheus"
)
