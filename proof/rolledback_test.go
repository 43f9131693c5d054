package proof

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hourbell/hourbell"
)

// The witness of claims: a trigger records each claim in its transaction, so that it records committed claims only. The sequence also counts the
// claims that are rolled back.
const watchClaims = `
	CREATE TABLE claimed (job bigint NOT NULL, token bigint NOT NULL, PRIMARY KEY (job, token));
	CREATE SEQUENCE claims;
	CREATE FUNCTION note_claim() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM nextval('proof.claims'); INSERT INTO proof.claimed VALUES (new.id, new.token); RETURN NULL; END $$;
	CREATE TRIGGER note_claim AFTER UPDATE ON job FOR EACH ROW
		WHEN (new.running AND new.token IS DISTINCT FROM old.token) EXECUTE FUNCTION note_claim()`

// TestAClaimThatWasRolledBackIsNotRun (P4): four nodes run jobs that limits of a key, of a kind and of a queue concern, while another database of
// the server commits notifications that wait for a standby that is not there. Each such commit holds a lock of the whole server, for which the
// commits of steps that claim wait no longer than 50 ms. No job runs with a token whose claim was rolled back, tokens of a job increase, and no
// job runs twice.
func TestAClaimThatWasRolledBackIsNotRun(t *testing.T) {
	needs(t, inPostgres)
	s := newServer(t, inPostgres)
	s.start()
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, text := range []string{
		"CREATE DATABASE noise", "ALTER DATABASE noise SET synchronous_commit = on", "ALTER SYSTEM SET synchronous_commit = local",
		"ALTER SYSTEM SET synchronous_standby_names = nowhere", "SELECT pg_reload_conf()",
	} {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	until(t, time.Minute, "new connections that do not wait for a standby", func() bool {
		var commits, standby string
		fresh, err := pgx.Connect(t.Context(), s.url)
		if err == nil {
			err = fresh.QueryRow(t.Context(), "SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names')").Scan(&commits, &standby)
			fresh.Close(t.Context())
		}
		return err == nil && commits == "local" && standby != ""
	})
	v := newVisits(t, s.store(t), hourbell.Limit{Name: "keys", ByKey: true, Concurrency: 2})
	for _, limit := range []hourbell.Limit{{Name: "kinds", Kind: "visit", Concurrency: 24}, {Name: "queue", Queue: "default", Concurrency: 28}} {
		if _, err := v.client.Limits.Put(t.Context(), limit, 0); err != nil {
			t.Fatal(err)
		}
	}
	v.exec(watchClaims)
	for range 4 {
		act(t, "visitor", v.at, v.witness, "HOURBELL_PROOF_LEASE=15s")
	}
	count := func(text string) int64 {
		t.Helper()
		n, err := v.ledger.count(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const keys = 30
	ended := makeNoise(t, strings.Replace(s.url, "/postgres?", "/noise?", 1))
	rolledBack := func() int64 { return count("SELECT last_value - (SELECT count(*) FROM claimed) FROM claims") }
	sent := 0
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if ran := time.Since(began); ran > duration(t) && rolledBack() > 50 || ran > duration(t)+time.Minute {
			break
		}
		if v.live() < 200 {
			for range 8 {
				v.send(8, fmt.Sprint("key", sent%keys), 20*time.Millisecond)
				sent++
			}
		}
	}
	ended()
	until(t, 90*time.Second, "the end of all jobs", func() bool { return v.live() == 0 })
	t.Logf("%d claims of jobs were committed, %d were rolled back", count("SELECT count(*) FROM claimed"), rolledBack())
	if rolledBack() == 0 {
		t.Error("no claim was rolled back, so that this test has shown nothing")
	}
	for what, text := range map[string]string{
		"runs had tokens of claims that were rolled back":  "SELECT count(*) FROM visit v WHERE NOT EXISTS (SELECT FROM claimed c WHERE c.job = v.job AND c.token = v.token)",
		"runs had tokens that are not greater than before": "SELECT count(*) FROM (SELECT token, lag(token) OVER (PARTITION BY job ORDER BY began) AS before FROM visit) v WHERE token <= before",
		"jobs ran more than once":                          "SELECT count(*) FROM (SELECT FROM visit GROUP BY job HAVING count(*) > 1) v",
	} {
		if n := count(text); n > 0 {
			t.Errorf("%d %s", n, what)
		}
	}
	if n := count("SELECT count(DISTINCT job) FROM visit"); n != int64(8*sent) {
		t.Errorf("%d of %d jobs ran", n, 8*sent)
	}
	t.Logf("%d jobs ran", 8*sent)
}

// makeNoise commits notifications in a database, one after the other, until the returned function is called. Each commit waits for a standby until
// the server is told to wait no longer.
func makeNoise(t *testing.T, url string) (end func()) {
	t.Helper()
	connect := func(url string) *pgx.Conn {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	noisy, other := connect(url), connect(strings.Replace(url, "/noise?", "/postgres?", 1))
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	commit := func() error { // a commit that has written nothing does not wait
		committed := make(chan error, 1)
		go func() {
			_, err := noisy.Exec(context.Background(), "CREATE TABLE IF NOT EXISTS noise (n int); INSERT INTO noise VALUES (1); NOTIFY noise")
			committed <- err
		}()
		for {
			select {
			case err := <-committed:
				return err
			case <-time.After(150 * time.Millisecond):
				if _, err := other.Exec(context.Background(), "SELECT pg_cancel_backend($1)", noisy.PgConn().PID()); err != nil {
					return err
				}
			}
		}
	}
	go func() {
		defer close(done)
		defer noisy.Close(context.Background())
		defer other.Close(context.Background())
		for ctx.Err() == nil {
			var canceled *pgconn.PgError // before the commit
			if err := commit(); err != nil && (!errors.As(err, &canceled) || canceled.Code != "57014") {
				t.Errorf("notify: %v", err)
				return
			}
			select { // lets some commits of the nodes through
			case <-ctx.Done():
			case <-time.After(40 * time.Millisecond):
			}
		}
	}()
	end = sync.OnceFunc(func() {
		stop()
		<-done
	})
	t.Cleanup(end)
	return end
}
