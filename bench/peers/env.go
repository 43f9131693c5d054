package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// env has the choices from the environment; see the command's documentation.
type env struct {
	url, mysql                   string
	cells                        []string
	rows                         *regexp.Regexp
	out                          string
	rounds, from                 int
	jobs, dead, inserts, backlog int
	schedules, stored, strangers int
	steps, hourSec               int
	latencySeconds, leadSec      int
	limit, delay                 time.Duration
}

func readEnv() (env, error) {
	e, err := parseEnv(os.Getenv)
	if err == nil && e.url == "" {
		err = errors.New("HOURBELL_TEST_POSTGRES_URL is not set; make bench starts a server")
	}
	return e, err
}

// envOf reads the sizes from the head of a file of results.
func envOf(sizes map[string]string) env {
	e, _ := parseEnv(func(name string) string { return sizes[name] })
	return e
}

// sizes returns the choices that appear in the titles of the tables.
func (e env) sizes() map[string]string {
	return map[string]string{
		"BENCH_JOBS": strconv.Itoa(e.jobs), "BENCH_DEAD": strconv.Itoa(e.dead), "BENCH_INSERTS": strconv.Itoa(e.inserts),
		"BENCH_BACKLOG": strconv.Itoa(e.backlog), "BENCH_SCHEDULES": strconv.Itoa(e.schedules), "BENCH_STORED": strconv.Itoa(e.stored),
		"BENCH_STRANGERS": strconv.Itoa(e.strangers), "BENCH_STEPS": strconv.Itoa(e.steps),
		"BENCH_HOUR":  strconv.Itoa(e.hourSec),
		"BENCH_DELAY": e.delay.String(),
	}
}

func parseEnv(get func(string) string) (env, error) {
	var err error
	number := func(name string, byDefault int) int {
		text := get(name)
		if text == "" {
			return byDefault
		}
		n, bad := strconv.Atoi(text)
		if err == nil && (bad != nil || n < 1) {
			err = fmt.Errorf("%s=%s: give a whole number above 0", name, text)
		}
		return n
	}
	e := env{
		url:       get("HOURBELL_TEST_POSTGRES_URL"),
		mysql:     get("HOURBELL_TEST_MYSQL_URL"),
		out:       cmp.Or(get("BENCH_OUT"), filepath.Join(os.TempDir(), "bench.jsonl")),
		rounds:    number("BENCH_ROUNDS", 3),
		from:      number("BENCH_FROM", 1),
		jobs:      number("BENCH_JOBS", 100_000),
		dead:      number("BENCH_DEAD", 300_000),
		inserts:   number("BENCH_INSERTS", 20_000),
		backlog:   number("BENCH_BACKLOG", 1_000_000),
		schedules: number("BENCH_SCHEDULES", 100_000),
		stored:    number("BENCH_STORED", 1_000_000),
		strangers: number("BENCH_STRANGERS", 2_000_000),
		steps:     number("BENCH_STEPS", 8000),
		hourSec:   number("BENCH_HOUR", 3600),

		latencySeconds: number("BENCH_SECONDS", 6),
		leadSec:        number("BENCH_LEAD", 15),
		limit:          time.Duration(number("BENCH_LIMIT", 10)) * time.Second,
	}
	if names := get("BENCH_CELLS"); names != "" {
		e.cells = strings.Split(names, ",")
	}
	if text := get("BENCH_DELAY"); text != "" && err == nil {
		if e.delay, err = time.ParseDuration(text); err != nil || e.delay < 0 {
			err = fmt.Errorf("BENCH_DELAY=%s: give a duration, such as 500us", text)
		}
	}
	if err != nil {
		return e, err
	}
	e.rows, err = regexp.Compile(get("BENCH_ROWS"))
	return e, err
}
