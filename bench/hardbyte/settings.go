package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// longHorizon is the only value of SCENARIO.
const longHorizon = "long_horizon"

// Values of PRODUCER_MODE.
const (
	fixedRate   = "fixed"
	depthTarget = "depth-target"
)

// Values of PRODUCER_PACING.
const (
	byAdapter = "adapter"
	byHarness = "harness"
)

// settings are the environment variables of the contract.
type settings struct {
	databaseURL string        // DATABASE_URL
	mode        string        // PRODUCER_MODE
	pacing      string        // PRODUCER_PACING: who meters the rate
	rate        int           // PRODUCER_RATE: jobs a second
	rateFile    string        // PRODUCER_RATE_CONTROL_FILE: has the present rate; the harness writes it
	batchMax    int           // PRODUCER_BATCH_MAX: the most jobs of one insert
	batchEvery  time.Duration // PRODUCER_BATCH_MS
	targetDepth int           // TARGET_DEPTH
	workers     int           // WORKER_COUNT
	payload     int           // JOB_PAYLOAD_BYTES
	work        time.Duration // JOB_WORK_MS
	sampleEvery time.Duration // SAMPLE_EVERY_S
	instance    int           // BENCH_INSTANCE_ID: 0, 1, … for each process of a run
}

// readSettings reads the variables by getenv. The error names every variable that is wrong.
func readSettings(getenv func(string) string) (settings, error) {
	var wrong []error
	text := func(name, otherwise string, allowed ...string) string {
		value := getenv(name)
		if value == "" {
			return otherwise
		}
		for _, a := range allowed {
			if value == a {
				return value
			}
		}
		wrong = append(wrong, fmt.Errorf("%s=%s is not known; it may be %s", name, value, strings.Join(allowed, ", ")))
		return otherwise
	}
	number := func(name string, otherwise, least int) int {
		value := getenv(name)
		if value == "" {
			return otherwise
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < least {
			wrong = append(wrong, fmt.Errorf("%s=%s is not a whole number of at least %d", name, value, least))
		}
		return n
	}
	text("SCENARIO", longHorizon, longHorizon)
	set := settings{
		databaseURL: getenv("DATABASE_URL"),
		mode:        text("PRODUCER_MODE", fixedRate, fixedRate, depthTarget),
		pacing:      text("PRODUCER_PACING", byAdapter, byAdapter, byHarness),
		rate:        number("PRODUCER_RATE", 800, 0),
		rateFile:    getenv("PRODUCER_RATE_CONTROL_FILE"),
		batchMax:    number("PRODUCER_BATCH_MAX", 128, 1),
		batchEvery:  time.Duration(number("PRODUCER_BATCH_MS", 25, 1)) * time.Millisecond,
		targetDepth: number("TARGET_DEPTH", 1000, 1),
		workers:     number("WORKER_COUNT", 32, 1),
		payload:     number("JOB_PAYLOAD_BYTES", 256, 0),
		work:        time.Duration(number("JOB_WORK_MS", 1, 0)) * time.Millisecond,
		sampleEvery: time.Duration(number("SAMPLE_EVERY_S", 5, 1)) * time.Second,
		instance:    number("BENCH_INSTANCE_ID", 0, 0),
	}
	if set.databaseURL == "" {
		wrong = append(wrong, errors.New("DATABASE_URL is not set; the harness sets it to the database of the system"))
	}
	return set, errors.Join(wrong...)
}

// observes reports whether this process prints what concerns all processes of a run.
func (s settings) observes() bool { return s.instance == 0 }

// currentRate is what the rate file says or, if it says nothing, PRODUCER_RATE.
func (s settings) currentRate() float64 {
	if text, err := os.ReadFile(s.rateFile); err == nil {
		if rate, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil {
			return max(rate, 0)
		}
	}
	return float64(s.rate)
}
