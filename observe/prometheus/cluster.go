package prometheus

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hourbell/hourbell"
)

// readTimeout bounds a reading of the store, so that a scrape ends before its own timeout,
// which is 10 seconds by default.
const readTimeout = 5 * time.Second

// cluster reads the state of the whole cluster from the store.
type cluster struct {
	refresh time.Duration
	queues  *guard

	mu     sync.Mutex
	client *hourbell.Client // nil: nothing is read
	at     time.Time        // of the last reading
	last   []prometheus.Metric
}

var (
	storeUp       = prometheus.NewDesc("hourbell_store_up", "1 if the last reading of the store succeeded, otherwise 0.", nil, nil)
	clockOff      = prometheus.NewDesc("hourbell_clock_difference_seconds", "The clock of the store minus the clock of this node.", nil, nil)
	nodes         = prometheus.NewDesc("hourbell_nodes", "Living nodes of the cluster.", nil, nil)
	queueJobs     = prometheus.NewDesc("hourbell_queue_jobs", "Live jobs of a queue.", []string{"queue", "state"}, nil)
	queueOldest   = prometheus.NewDesc("hourbell_queue_oldest_ready_seconds", "How long the oldest job that is due has been due; 0 without such a job.", []string{"queue"}, nil)
	clusterValues = []*prometheus.Desc{storeUp, clockOff, nodes, queueJobs, queueOldest}
)

func newCluster(refresh time.Duration, queues *guard) *cluster {
	if refresh <= 0 {
		refresh = 10 * time.Second
	}
	return &cluster{refresh: refresh, queues: queues}
}

func (c *cluster) describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range clusterValues {
		descriptions <- d
	}
}

func (c *cluster) watch(client *hourbell.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.client = client
}

func (c *cluster) collect(metrics chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client == nil {
		return
	}
	if c.at.IsZero() || time.Since(c.at) >= c.refresh {
		c.last, c.at = c.read(), time.Now()
	}
	for _, m := range c.last {
		metrics <- m
	}
}

// read returns the gauges. A failure shows as hourbell_store_up alone: no value is better
// than an old value, because alerts compare ages.
func (c *cluster) read() []prometheus.Metric {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	asked := time.Now()
	now, err := c.client.Now(ctx)
	if err != nil {
		return []prometheus.Metric{gauge(storeUp, 0)}
	}
	off := now.Sub(asked.Add(time.Since(asked) / 2))
	all, err := c.client.Queues.List(ctx)
	if err != nil {
		return []prometheus.Metric{gauge(storeUp, 0)}
	}
	members, err := c.client.Nodes.List(ctx)
	if err != nil {
		return []prometheus.Metric{gauge(storeUp, 0)}
	}
	alive := 0
	for _, n := range members {
		if n.EndedAt.IsZero() && now.Sub(n.SeenAt) < n.Lease {
			alive++
		}
	}
	out := []prometheus.Metric{gauge(storeUp, 1), gauge(clockOff, off.Seconds()), gauge(nodes, float64(alive))}
	sums := map[string]*queue{}
	for _, q := range all { // queues that share the value LeftOut are added up
		name := c.queues.value(q.Name)
		sum := sums[name]
		if sum == nil {
			sum = &queue{}
			sums[name] = sum
		}
		sum.ready, sum.scheduled, sum.running, sum.waiting = sum.ready+q.Ready, sum.scheduled+q.Scheduled, sum.running+q.Running, sum.waiting+q.Waiting
		if !q.Oldest.IsZero() {
			sum.oldest = max(sum.oldest, now.Sub(q.Oldest))
		}
	}
	for name, q := range sums {
		out = append(out, gauge(queueOldest, q.oldest.Seconds(), name),
			gauge(queueJobs, float64(q.ready), name, "ready"), gauge(queueJobs, float64(q.scheduled), name, "scheduled"),
			gauge(queueJobs, float64(q.running), name, "running"), gauge(queueJobs, float64(q.waiting), name, "waiting"))
	}
	return out
}

// queue has the values of one value of the label queue.
type queue struct {
	ready, scheduled, running, waiting int64
	oldest                             time.Duration
}

func gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}
