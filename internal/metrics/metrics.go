// Package metrics defines the metrics of a node, and counts them: the modules under observe only
// carry the values to Prometheus and OpenTelemetry. It has the names, the help and the labels, and
// decides what each event and each call of the store adds.
package metrics

import "github.com/hourbell/hourbell/internal/stats"

// Sort is what the values of a metric are.
type Sort int

// The sorts of metrics.
const (
	Counter   Sort = iota // a sum that only grows
	Gauge                 // a value at present
	Histogram             // a distribution
)

// Metric is a metric. Name and Labels identify its values.
type Metric struct {
	Sort   Sort
	Name   string
	Help   string
	Labels []string
	Bounds []float64 // of the buckets of a histogram, ascending, in seconds
	// Read metrics are gauges that a Reader reads when they are collected; other metrics are
	// given to a Sink.
	Read bool
}

// LeftOut is the value of a label whose own value was left out; see Limits.
const LeftOut = stats.LeftOut

// The bounds of histograms, in seconds.
var (
	lateBounds     = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}
	durationBounds = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900, 3600, 14400, 43200}
	callBounds     = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
)

// The metrics of a node.
var (
	jobs = &Metric{Name: "hourbell_jobs_total", Help: "Attempts of jobs that ended on this node, by what became " +
		"of the job.", Labels: []string{"outcome", "kind", "queue"}}
	scheduleJobs = &Metric{
		Name: "hourbell_schedule_jobs_total",
		Help: "Attempts of jobs of schedules that ended on this node.", Labels: []string{"schedule", "outcome"},
	}
	slots = &Metric{Name: "hourbell_slots_total", Help: "Slots that this node has accounted for.", Labels: []string{"schedule", "outcome"}}
	late  = &Metric{
		Name: "hourbell_job_start_late_seconds",
		Help: "How long after it was due a job began, by the store's clock.", Labels: []string{"kind", "queue"},
		Sort: Histogram, Bounds: lateBounds,
	}
	took = &Metric{
		Name: "hourbell_job_duration_seconds", Help: "How long attempts took.",
		Labels: []string{"kind", "queue"}, Sort: Histogram, Bounds: durationBounds,
	}
	claimed = &Metric{Name: "hourbell_jobs_claimed_total", Help: "Jobs that this node has claimed."}
	rescued = &Metric{Name: "hourbell_jobs_rescued_total", Help: "Jobs that were taken from dead nodes by this node."}
	refused = &Metric{Name: "hourbell_claims_refused_total", Help: "Late outcomes that were refused because the job was claimed again."}
	stuck   = &Metric{
		Name: "hourbell_jobs_stuck_total",
		Help: "Jobs whose workers on this node did not return after their contexts had ended.", Labels: []string{"kind", "queue"},
	}
	stuckNow   = &Metric{Name: "hourbell_stuck_workers", Help: "Workers of this node that have not returned, although their contexts have ended.", Sort: Gauge}
	leased     = &Metric{Name: "hourbell_node_leased", Help: "1 while this node runs and has its lease, otherwise 0.", Sort: Gauge}
	leasesLost = &Metric{Name: "hourbell_leases_lost_total", Help: "How often this node lost its lease."}
	deaths     = &Metric{Name: "hourbell_node_deaths_total", Help: "Nodes that this node has declared dead."}
	repaired   = &Metric{
		Name: "hourbell_permits_repaired_total",
		Help: "Keys of limits whose permits or starts were counted wrong, and that this node has repaired.",
	}
	storeFailures = &Metric{Name: "hourbell_store_failures_total", Help: "Failed operations of the store.", Labels: []string{"operation"}}
	calls         = &Metric{
		Name: "hourbell_store_call_duration_seconds",
		Help: "How long calls of the store took, by the operation.", Labels: []string{"operation"}, Sort: Histogram, Bounds: callBounds,
	}
	callErrors = &Metric{Name: "hourbell_store_call_errors_total", Help: "Calls of the store that failed, by the operation.", Labels: []string{"operation"}}
	repeats    = &Metric{
		Name: "hourbell_store_transactions_repeated_total",
		Help: "Transactions of the store that were begun again after a deadlock, a long wait for a lock, or a conflict in a " +
			"cluster, by the operation.", Labels: []string{"operation"},
	}
	dropped = &Metric{Name: "hourbell_events_dropped_total", Help: "Events that are missing here because the observer was too slow."}
	leftOut = &Metric{
		Name:   "hourbell_labels_left_out_total",
		Help:   "Events that were counted with the label value " + LeftOut + ", because the label has too many values.",
		Labels: []string{"label"},
	}

	leaseLeft = &Metric{
		Name: "hourbell_node_lease_left_seconds",
		Help: "How long this node may go on with its jobs without another heartbeat; 0 without a lease.", Sort: Gauge, Read: true,
	}
	storeUp    = &Metric{Name: "hourbell_store_up", Help: "1 if the last reading of the store succeeded, otherwise 0.", Sort: Gauge, Read: true}
	clockOff   = &Metric{Name: "hourbell_clock_difference_seconds", Help: "The clock of the store minus the clock of this node.", Sort: Gauge, Read: true}
	nodes      = &Metric{Name: "hourbell_nodes", Help: "Living nodes of the cluster.", Sort: Gauge, Read: true}
	findingNow = &Metric{Name: "hourbell_finding", Help: "1 while something is wrong with the cluster, otherwise 0, by " +
		"the name of the finding.", Labels: []string{"name", "severity"}, Sort: Gauge, Read: true}
	queueJobs   = &Metric{Name: "hourbell_queue_jobs", Help: "Live jobs of a queue.", Labels: []string{"queue", "state"}, Sort: Gauge, Read: true}
	queueOldest = &Metric{
		Name: "hourbell_queue_oldest_ready_seconds",
		Help: "How long the oldest job that is due has been due; 0 without such a job.", Labels: []string{"queue"},
		Sort: Gauge, Read: true,
	}
)

// All returns all metrics. The caller does not change them.
func All() []*Metric {
	return []*Metric{
		jobs, scheduleJobs, slots, late, took, claimed, rescued, refused, stuck, stuckNow, leased, leasesLost, deaths,
		repaired, storeFailures, calls, callErrors, repeats, dropped, leftOut,
		leaseLeft, storeUp, clockOff, nodes, findingNow, queueJobs, queueOldest,
	}
}
