package page

import (
	client_prometheus "github.com/prometheus/client_golang/prometheus"

	"github.com/hourbell/hourbell/observe/otel"
	"github.com/hourbell/hourbell/observe/prometheus"
)

var registry *client_prometheus.Registry
