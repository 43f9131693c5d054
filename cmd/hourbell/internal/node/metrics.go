package node

import (
	"fmt"
	"log/slog"
	"net/http"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hourbell/hourbell/observe/prometheus"
)

// scrapes is how many scrapes are answered at the same time; more are refused, because each
// reads the store.
const scrapes = 3

// metrics are the metrics of the node and of its process.
type metrics struct {
	*prometheus.Metrics
	handler http.Handler
}

func newMetrics(log *slog.Logger) metrics {
	m := prometheus.New(prometheus.Options{})
	registry := prom.NewRegistry()
	registry.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return metrics{m, promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: scrapes, ErrorLog: scrapeLog{log}, ErrorHandling: promhttp.ContinueOnError,
	})}
}

// scrapeLog logs the errors of scrapes.
type scrapeLog struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (l scrapeLog) Println(v ...any) {
	l.log.Warn("metrics could not be scraped", "error", fmt.Sprint(v...))
}
