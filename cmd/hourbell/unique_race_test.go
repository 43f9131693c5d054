package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/store"
)

// The environment of a process that enqueues the same keys as others: a SQLite file, or the
// URL and the schema of a PostgreSQL.
const (
	racerFile   = "HOURBELL_TEST_RACER_FILE"
	racerURL    = "HOURBELL_TEST_RACER_URL"
	racerSchema = "HOURBELL_TEST_RACER_SCHEMA"
)

const (
	racers = 32
	races  = 200
)

// race waits for the end of standard input, and then enqueues a job for each race. It prints
// the answers as lines of JSON.
func race(ctx context.Context) error {
	var backend store.Backend
	var err error
	if path := os.Getenv(racerFile); path != "" {
		backend, err = sqlite.Open(ctx, path, sqlite.Synchronous("NORMAL")) // 6,400 flushes of a busy disk would take longer than writers wait
	} else {
		backend, err = postgres.Open(ctx, os.Getenv(racerURL), postgres.Schema(os.Getenv(racerSchema)), postgres.MaxConns(1))
	}
	if err != nil {
		return err
	}
	client, err := hourbell.New(backend, hourbell.Config{})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for i := range races {
		options := []hourbell.Option{hourbell.Unique(fmt.Sprint("race ", i)), hourbell.In(time.Hour)}
		if i%2 == 1 {
			options = append(options, hourbell.UniqueFor(time.Hour))
		}
		job, err := client.Enqueue(ctx, hourbell.RawArgs{Name: "mail"}, options...)
		if err != nil {
			return err
		}
		if err := out.Encode(job); err != nil {
			return err
		}
	}
	return nil
}

// TestEnqueueUniqueRace has 32 processes enqueue one key at once, 200 times; every second time
// the key is also held after the end of the job.
func TestEnqueueUniqueRace(t *testing.T) {
	startsProcesses(t)
	t.Run("SQLite", func(t *testing.T) {
		b := newBench(t)
		b.ok("migrate", "up")
		runRaces(t, racerFile+"="+b.path)
		checkRaces(t, b)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := postgresURL(t)
		b := newBench(t)
		schema := newSchemaName()
		b.env[storeVariable] = url
		t.Cleanup(func() { dropSchema(t, url, schema) })
		b.ok("migrate", "up", "--schema", schema)
		runRaces(t, racerURL+"="+url, racerSchema+"="+schema)
		checkRaces(t, b, "--schema", schema)
	})
}

// runRaces starts the processes, lets them begin together, and compares their answers.
func runRaces(t *testing.T, env ...string) {
	answers := make([][]hourbell.Enqueued, racers)
	var ready, all sync.WaitGroup
	begin := make(chan struct{})
	for i := range racers {
		ready.Add(1)
		all.Go(func() {
			var once sync.Once
			defer once.Do(ready.Done)
			var err error
			if answers[i], err = runRacer(env, func() { once.Do(ready.Done); <-begin }); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	ready.Wait()
	close(begin)
	all.Wait()
	if t.Failed() {
		return
	}
	for race := range races {
		stored := 0
		for i := range racers {
			if answer := answers[i][race]; answer.ID != answers[0][race].ID {
				t.Errorf("race %d: process %d got %+v, another %+v", race, i, answer, answers[0][race])
			} else if !answer.Existed {
				stored++
			}
		}
		if stored != 1 {
			t.Errorf("race %d: %d processes stored a job", race, stored)
		}
	}
}

// runRacer runs one process; it calls ready when the process has opened the store.
func runRacer(env []string, ready func()) (answers []hourbell.Enqueued, err error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	if lines.Scan() {
		ready()
	}
	in.Close()
	for lines.Scan() {
		var answer hourbell.Enqueued
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	if err := cmd.Wait(); err != nil {
		return nil, err
	}
	if len(answers) != races {
		return nil, fmt.Errorf("%d answers", len(answers))
	}
	return answers, nil
}

func checkRaces(t *testing.T, b *bench, place ...string) {
	jobs := b.objects(append([]string{"jobs", "list", "--limit", "0"}, place...)...)
	keys := map[any]bool{}
	for _, job := range jobs {
		keys[job["unique"]] = true
	}
	if len(jobs) != races || len(keys) != races {
		t.Errorf("there are %d jobs with %d keys, want %d", len(jobs), len(keys), races)
	}
}
