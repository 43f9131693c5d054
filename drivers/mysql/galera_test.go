package mysql

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// galeraServers, in the environment, makes this test binary a process that works on the servers of a cluster, whose URLs are
// separated by spaces: on the first as long as it answers, then on the next.
const galeraServers = "HOURBELL_MYSQL_TEST_SERVERS"

// TestGalera lets eight processes work off jobs on the three servers of a Galera cluster, while servers and processes are
// killed and come back: each job's effect exists once, and no token is given twice. It takes one or two minutes, and runs if
// HOURBELL_TEST_GALERA=1. HOURBELL_GALERATEST_JOBS is the number of jobs.
func TestGalera(t *testing.T) {
	if os.Getenv("HOURBELL_TEST_GALERA") != "1" {
		t.Skip("starts three servers; set HOURBELL_TEST_GALERA=1")
	}
	jobs, kills, processes := 3000, 4, 8
	if text := os.Getenv("HOURBELL_GALERATEST_JOBS"); text != "" {
		var err error
		jobs, err = strconv.Atoi(text)
		must(t, err)
		kills = max(kills, jobs/12500)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c := startGaleraRun(t)
	migrate(t, c.backends[0])
	// No key of the table would refuse a second effect of a job.
	_, err := c.backends[0].db.Exec("CREATE TABLE effect (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, job BIGINT NOT NULL, token BIGINT NOT NULL) ENGINE = InnoDB")
	must(t, err)
	for left := jobs; left > 0; left -= 1000 {
		list := make([]store.NewJob, min(left, 1000))
		for i := range list {
			list[i] = store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: int16(1 + i%9), MaxAttempts: 1000}}
		}
		_, err := c.backends[0].Insert(t.Context(), store.InsertRequest{Jobs: list})
		must(t, err)
	}

	began := time.Now()
	for i := range processes {
		c.start(i)
	}
	for n := range kills {
		killed := random.IntN(len(c.cluster.Nodes))
		c.await(killed, jobs*(2*n+1)/(2*kills+1))
		c.noteServer(killed)
		c.cluster.Nodes[killed].Kill()
		t.Logf("server %d was killed after %v, when %d jobs were completed", killed, time.Since(began).Round(time.Second), jobs*(2*n+1)/(2*kills+1))
		i := random.IntN(processes)
		c.processes[i].kill()
		c.await((killed+1)%len(c.cluster.Nodes), jobs*(2*n+2)/(2*kills+1))
		c.cluster.Nodes[killed].Start()
		c.start(i)
	}
	c.await(0, jobs)
	took := time.Since(began)
	for _, p := range c.processes {
		p.stop()
	}
	for i := range c.cluster.Nodes {
		c.await(i, jobs)
		var effects, distinct, completed int
		query := "SELECT (SELECT COUNT(*) FROM effect), (SELECT COUNT(DISTINCT e.job) FROM effect AS e JOIN hourbell_history AS h ON h.id = e.job AND h.token = e.token)," +
			"(SELECT COUNT(*) FROM hourbell_history WHERE state = 3)"
		must(t, c.backends[i].db.QueryRow(query).Scan(&effects, &distinct, &completed))
		if effects != jobs || distinct != jobs || completed != jobs {
			t.Errorf("server %d has %d effects, %d effects of jobs that ended with their tokens, and %d completed jobs, of %d jobs", i, effects, distinct, completed, jobs)
		}
		c.noteServer(i)
	}
	c.readLogs()
	t.Logf("%d jobs in %v, %d servers and %d processes killed: %d jobs claimed again; transactions begun again: %d after error 1213, %d after 1205, %d because rows had moved; %s",
		jobs, took.Round(time.Second), kills, kills, c.again, c.retries.Deadlocks, c.retries.Waits, c.retries.Moved, c.server)
	t.Logf("errors of processes, by number (0: the connection broke, or a claim was lost): %v", c.errors)
}

// galeraRun is the cluster and the processes of TestGalera.
type galeraRun struct {
	t         *testing.T
	cluster   *testserver.Galera
	backends  []*Backend // one for each server
	processes [8]*galeraProcess
	folder    string // of the processes' logs
	started   int

	again   int // claims of jobs that had been claimed before
	retries Retries
	errors  map[string]int
	server  galeraCounts
}

// galeraCounts are counters of the servers, added up.
type galeraCounts struct{ certifications, aborts, deadlocks int }

func (c galeraCounts) String() string {
	return fmt.Sprintf("servers: %d commits refused at their certification, %d transactions ended for transactions of other servers, %d deadlocks", c.certifications, c.aborts, c.deadlocks)
}

func startGaleraRun(t *testing.T) *galeraRun {
	t.Helper()
	c := &galeraRun{t: t, cluster: testserver.StartGalera(t), folder: t.TempDir(), errors: map[string]int{}}
	for _, n := range c.cluster.Nodes {
		b, err := Open(t.Context(), n.URL)
		must(t, err)
		t.Cleanup(func() { _ = b.Close() }) // connections to a server that was killed are broken
		c.backends = append(c.backends, b)
	}
	t.Cleanup(func() {
		for _, p := range c.processes {
			if p != nil {
				p.kill()
			}
		}
	})
	return c
}

// await waits until a number of jobs are completed, as a server sees it.
func (c *galeraRun) await(server, jobs int) {
	c.t.Helper()
	done, last := -1, time.Now()
	for {
		before := done
		err := c.backends[server].db.QueryRow("SELECT COUNT(*) FROM hourbell_history").Scan(&done)
		if err == nil && done >= jobs {
			return
		}
		if done > before {
			last = time.Now()
		}
		if time.Since(last) > 2*time.Minute {
			c.t.Fatalf("on server %d, %d jobs of %d are completed, and for two minutes no other: %v", server, done, jobs, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// noteServer adds the counters of a server, which a kill sets to 0.
func (c *galeraRun) noteServer(server int) {
	rows, err := c.backends[server].db.Query("SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_cert_failures', 'wsrep_local_bf_aborts', 'Innodb_deadlocks')") //nolint:rowserrcheck // EachRow returns rows.Err
	err = sqlrows.EachRow(rows, err, func(r row) error {
		var name string
		var n int
		err := r.Scan(&name, &n)
		switch name {
		case "wsrep_local_cert_failures":
			c.server.certifications += n
		case "wsrep_local_bf_aborts":
			c.server.aborts += n
		case "Innodb_deadlocks":
			c.server.deadlocks += n
		}
		return err
	})
	if err != nil {
		c.t.Logf("the counters of server %d are not known: %v", server, err)
	}
}

// galeraProcess is a process that works off jobs.
type galeraProcess struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// start starts a process, whose first server follows from its number.
func (c *galeraRun) start(process int) {
	c.t.Helper()
	c.started++
	log, err := os.Create(filepath.Join(c.folder, fmt.Sprint(c.started)))
	must(c.t, err)
	defer log.Close()
	var servers []string
	for i := range c.cluster.Nodes {
		servers = append(servers, c.cluster.Nodes[(process+i)%len(c.cluster.Nodes)].URL)
	}
	p := &galeraProcess{cmd: exec.Command(os.Args[0], "-test.run=^$")}
	p.cmd.Env = append(os.Environ(), galeraServers+"="+strings.Join(servers, " "))
	p.cmd.Stdout, p.cmd.Stderr = log, os.Stderr
	p.stdin, err = p.cmd.StdinPipe()
	must(c.t, err)
	must(c.t, p.cmd.Start())
	c.processes[process] = p
}

// kill ends the process at once.
func (p *galeraProcess) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()         // the signal is its error
}

// stop lets the process end after its current job.
func (p *galeraProcess) stop() {
	_ = p.stdin.Close() // it may have ended
	_ = p.cmd.Wait()    // its claims are looked at, and not its end
}

// readLogs reads what the processes have printed, and checks that no token was given twice.
func (c *galeraRun) readLogs() {
	c.t.Helper()
	claimed, given := map[int64]bool{}, map[int64]int64{}
	files, err := os.ReadDir(c.folder)
	must(c.t, err)
	for _, entry := range files {
		file, err := os.Open(filepath.Join(c.folder, entry.Name()))
		must(c.t, err)
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			words := strings.Fields(lines.Text())
			var job, token int64
			var some Retries
			switch n, _ := fmt.Sscanf(lines.Text(), "claim %d %d", &job, &token); {
			case n == 2:
				if other, twice := given[token]; twice {
					c.t.Errorf("token %d was given for the jobs %d and %d", token, other, job)
				}
				if given[token] = job; claimed[job] {
					c.again++
				}
				claimed[job] = true
			case len(words) == 2 && words[0] == "error":
				c.errors[words[1]]++
			default:
				if n, _ := fmt.Sscanf(lines.Text(), "retries %d %d %d", &some.Deadlocks, &some.Waits, &some.Moved); n == 3 {
					c.retries.Deadlocks += some.Deadlocks
					c.retries.Waits += some.Waits
					c.retries.Moved += some.Moved
				}
			}
		}
		must(c.t, errors.Join(lines.Err(), file.Close()))
	}
}

// workOnGalera claims jobs and completes each in a transaction with its effect, until standard input ends. It prints
// "claim ID TOKEN", "error NUMBER" and "retries" with how many transactions were begun again since the last such line.
func workOnGalera(servers []string) {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	for n := 0; ctx.Err() == nil; n++ {
		if err := workOn(ctx, servers[n%len(servers)]); err != nil {
			fmt.Println("error", numberOf(err))
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// workOn works on a server until an error, or until ctx ends; its calls are not cut short.
func workOn(ctx context.Context, url string) error {
	calls := context.WithoutCancel(ctx)
	b, err := Open(calls, url)
	if err != nil {
		return err
	}
	defer b.Close()
	var before Retries
	report := func() {
		now := b.Retries()
		fmt.Println("retries", now.Deadlocks-before.Deadlocks, now.Waits-before.Waits, now.Moved-before.Moved)
		before = now
	}
	defer report()
	registered, err := b.Register(calls, store.RegisterRequest{Name: fmt.Sprint("on ", url), Lease: 4 * time.Second, Queues: []string{"q"}, Kinds: []string{"k"}})
	if err != nil {
		return err
	}
	beat := time.Now()
	for ctx.Err() == nil {
		if time.Since(beat) > time.Second {
			heard, err := b.Heartbeat(calls, store.HeartbeatRequest{Node: registered.Node})
			if err != nil {
				return err
			}
			if _, err := b.Rescue(calls, store.RescueRequest{Node: registered.Node, Beat: heard.Beat}); err != nil {
				return err
			}
			report()
			beat = time.Now()
		}
		done, err := claimAndComplete(calls, b, registered.Node, false)
		if err == nil && done == 0 {
			done, err = claimAndComplete(calls, b, registered.Node, true) // jobs whose processes died with them
		}
		if err != nil {
			return err
		}
		if done == 0 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	_, err = b.Leave(calls, store.LeaveRequest{Node: registered.Node})
	return err
}

// claimAndComplete claims some jobs, or a suspect, completes each, and returns how many it has claimed.
func claimAndComplete(ctx context.Context, b *Backend, node int64, suspects bool) (int, error) {
	limit := 20
	if suspects {
		limit = 1
	}
	res, err := b.Claim(ctx, store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: limit, Suspects: suspects})
	if err != nil {
		return 0, err
	}
	for _, job := range res.Jobs {
		fmt.Println("claim", job.ID, job.Token)
	}
	txs := Transactions(b.db)
	for _, job := range res.Jobs {
		if err := complete(ctx, b, txs, job); err != nil {
			return 0, err
		}
	}
	return len(res.Jobs), nil
}

// complete completes a job in a transaction with its effect.
func complete(ctx context.Context, b *Backend, txs store.Transactions[*sql.Tx], job store.Claimed) error {
	for {
		tx, err := txs.Begin(ctx, store.BeginTxRequest{Idle: time.Minute})
		if err != nil {
			return err
		}
		var out store.FinishResult
		if _, err = tx.Native.ExecContext(ctx, "INSERT INTO effect (job, token) VALUES (?, ?)", job.ID, job.Token); err == nil {
			out, err = b.Finish(ctx, store.FinishRequest{Tx: tx.Tx, Commit: true, Outcomes: []store.Outcome{{ID: job.ID, Token: job.Token, Result: store.Completed, Alone: true}}})
		}
		tx.Rollback()
		switch {
		case err == nil && len(out.Refused) == 0:
			return nil
		case txs.GaveUp(err):
			fmt.Println("error", numberOf(err))
			continue
		case err == nil:
			return errors.New("the claim was lost")
		}
		return err
	}
}

// TestKeysDoNotConflict checks that no unique key makes rows conflict in a cluster that differ: the cluster compares NULL like
// a value in a key some of whose columns are not NULL.
func TestKeysDoNotConflict(t *testing.T) {
	b, db := fresh(t)
	_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Priority: 5, MaxAttempts: 1, Group: "g"}}}})
	must(t, err)
	rows, err := db.QueryContext(t.Context(), "SELECT CONCAT(table_name, '.', index_name) FROM information_schema.statistics WHERE table_schema = DATABASE()"+ //nolint:rowserrcheck // EachRow returns rows.Err
		" AND table_name LIKE 'hourbell\\_%' AND non_unique = 0 GROUP BY table_name, index_name HAVING COUNT(*) > 1 AND COUNT(DISTINCT nullable) > 1")
	must(t, sqlrows.EachRow(rows, err, func(r row) error {
		var name string
		err := r.Scan(&name)
		if name != "hourbell_slot.hourbell_slot_fired" { // whose rows are of one schedule, and so conflict anyway
			t.Errorf("some columns of the key %s can be NULL", name)
		}
		return err
	}))
	var without int
	must(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM hourbell_job_rare WHERE (unique_key IS NULL) AND (unique_kind IS NULL)").Scan(&without))
	if without != 1 {
		t.Error("a job without a unique key has a part of the key")
	}
}
