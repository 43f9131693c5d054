package proof

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
)

// Mail is a job that reports its schedule and its start to the witness.
type Mail struct{}

func (Mail) Kind() string { return "mail" }

// Hold is a job that occupies its worker for a time.
type Hold struct {
	For time.Duration `json:"for"`
}

func (Hold) Kind() string { return "hold" }

const mailWorkers = 20

// playMailer acts as a node that sends mails; a node of role "holder" can also
// be kept busy.
func playMailer(a *actor) error {
	hourbell.Register(a.workers, func(_ context.Context, job *hourbell.Job[Mail]) error {
		return a.say("%s %d %d %s", job.Schedule, job.Slot.UnixMicro(), time.Now().UnixMicro(), a.role)
	})
	if a.role == "holder" {
		hourbell.Register(a.workers, func(ctx context.Context, job *hourbell.Job[Hold]) error {
			if err := a.say("held %d %d %s", time.Now().UnixMicro(), time.Now().UnixMicro(), a.role); err != nil {
				return err
			}
			return work(ctx, job.Args.For)
		})
	}
	return a.serve(hourbell.Config{
		Queues: map[string]int{"default": mailWorkers}, Lease: 15 * time.Second,
		Logger: slog.New(slog.NewJSONHandler(os.Stderr, nil)), // a line for each mail would take long
	})
}

// office is a site with many schedules.
type office struct{ *site }

func newOffice(t *testing.T, at string) *office {
	t.Helper()
	return &office{newSite(t, at)}
}

func (o *office) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) node(role string) *process {
	o.t.Helper()
	p := act(o.t, role, o.at, o.witness)
	until(o.t, 20*time.Second, "a node", func() bool { return p.logged("node started") == 1 })
	return p
}

// put puts n schedules that fire once a day, at most 10,000 per call, and
// returns how long the first call took.
func (o *office) put(prefix string, n int, at func(i int) time.Time) (first time.Duration) {
	o.t.Helper()
	for done := 0; done < n; {
		page := make([]hourbell.Schedule, min(n-done, 10_000))
		for i := range page {
			t := at(done + i).UTC()
			page[i] = hourbell.Schedule{
				Name: fmt.Sprintf("%s-%06d", prefix, done+i), Job: hourbell.RawArgs{Name: "mail", JSON: []byte(`{}`)},
				Rule: recur.Spec{Cron: fmt.Sprintf("%d %d %d * * *", t.Second(), t.Minute(), t.Hour())},
			}
		}
		began := time.Now()
		_, err := o.client.Schedules.PutAll(o.t.Context(), "", 0, page)
		o.must(err)
		if done == 0 {
			first = time.Since(began)
		}
		done += len(page)
	}
	return first
}

// planned waits until every schedule has its next slot.
func (o *office) planned() {
	o.t.Helper()
	now := "now()"
	if kindOf(o.at) == inMySQL {
		now = "UTC_TIMESTAMP(6)"
	}
	until(o.t, time.Minute, "a next slot for every schedule", func() bool {
		return o.count("SELECT count(*) FROM "+o.ledger.prefix+"schedule WHERE next_at <= "+now) <= 1 // the schedule of every second may be due
	})
}

func (o *office) count(text string) int64 {
	o.t.Helper()
	n, err := o.ledger.count(o.t.Context(), text)
	o.must(err)
	return n
}

// mails returns, of schedules whose names begin with prefix, how late each
// mail started, and how many mails each node sent.
func (o *office) mails(prefix string) (late map[string][]time.Duration, by map[string]int) {
	o.t.Helper()
	late, by = map[string][]time.Duration{}, map[string]int{}
	for _, fields := range o.witness.lines() {
		if len(fields) != 4 || !strings.HasPrefix(fields[0], prefix) {
			continue // the last line may be incomplete
		}
		slot, err := strconv.ParseInt(fields[1], 10, 64)
		o.must(err)
		started, err := strconv.ParseInt(fields[2], 10, 64)
		o.must(err)
		late[fields[0]] = append(late[fields[0]], time.Duration(started-slot)*time.Microsecond)
		by[fields[3]]++
	}
	return late, by
}

// once waits for n mails and checks that each schedule sent one mail; it
// returns the latest start.
func (o *office) once(prefix string, n int) (latest time.Duration, by map[string]int) {
	o.t.Helper()
	var late map[string][]time.Duration
	until(o.t, 2*time.Minute, "all mails", func() bool { late, by = o.mails(prefix); return len(late) >= n })
	time.Sleep(time.Second) // wait for mails that must not come
	late, by = o.mails(prefix)
	for name, times := range late {
		if len(times) != 1 {
			o.t.Errorf("%s sent %d mails for one slot", name, len(times))
		}
		latest = max(latest, times[0])
	}
	if len(late) != n {
		o.t.Errorf("%d schedules sent mails, want %d", len(late), n)
	}
	return latest, by
}

// manySchedules returns how many schedules there are; a fifth of them is due at
// once.
func manySchedules(t *testing.T) int {
	t.Helper()
	text := os.Getenv("HOURBELL_PROOF_SCHEDULES")
	if text == "" {
		return 2_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 100 {
		t.Fatalf("HOURBELL_PROOF_SCHEDULES: %q is not a number from 100 on", text)
	}
	return n
}

// TestManySchedulesOnTwoNodes (P1): of many schedules of half and full hours,
// put with 10,000 per call, a fifth is due at one instant. Two nodes run all of
// them within ten seconds, once each, while a schedule of every second is never
// a second late.
func TestManySchedulesOnTwoNodes(t *testing.T) {
	o := newOffice(t, serverStore(t))
	n := manySchedules(t)
	due := n / 5
	now := time.Now()
	first := o.put("later", n-due, func(i int) time.Time {
		return now.Truncate(30 * time.Minute).Add(time.Duration(6+i%24) * 30 * time.Minute)
	})
	nodes := []*process{o.node("mailer"), o.node("mailer")}
	_, err := o.client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "second", Rule: recur.Spec{Every: "1s"}, Job: hourbell.RawArgs{Name: "mail", JSON: []byte(`{}`)}})
	o.must(err)
	o.planned()
	at := time.Now().Truncate(time.Second).Add(3*time.Second + time.Duration(due)*time.Second/2000)
	o.put("now", due, func(int) time.Time { return at })
	latest, _ := o.once("now-", due)
	seconds, _ := o.mails("second")
	worst := time.Duration(0)
	for _, late := range seconds["second"] {
		worst = max(worst, late)
	}
	t.Logf("%d of %d schedules were due at once; the last mail began %v after that; the schedule of every second was at most %v late; the first call put %d in %v",
		due, n, latest, worst, min(n-due, 10_000), first.Round(time.Millisecond))
	if latest > 10*time.Second {
		t.Errorf("not all were running within ten seconds")
	}
	if worst > time.Second || len(seconds["second"]) < 3 {
		t.Errorf("the schedule of every second rang %d times, at most %v late", len(seconds["second"]), worst)
	}
	for _, node := range nodes {
		node.stop()
	}
}

// TestAFullNodeLeavesSlotsToOthers (P1, P5): while all workers of one node are
// busy, each slot that becomes due makes one job, which the other node runs
// once.
func TestAFullNodeLeavesSlotsToOthers(t *testing.T) {
	o := newOffice(t, serverStore(t))
	n := manySchedules(t) / 10
	hold := 4 * time.Second
	if n > 1000 {
		hold = 10 * time.Second
	}
	holder, other := o.node("holder"), o.node("mailer")
	at := time.Now().Truncate(time.Second).Add(3 * time.Second)
	o.put("mail", n, func(int) time.Time { return at })
	held := make([]hourbell.Request, mailWorkers)
	for i := range held {
		held[i].Args = Hold{For: hold + time.Until(at)}
	}
	_, err := o.client.EnqueueMany(t.Context(), held)
	o.must(err)
	until(t, 5*time.Second, "a full node", func() bool { late, _ := o.mails("held"); return len(late["held"]) == mailWorkers })
	latest, by := o.once("mail-", n)
	t.Logf("%d slots came while one node was full; the last mail began %v after its slot", n, latest)
	if by["holder"] > 0 || latest > hold {
		t.Errorf("the full node sent %d mails, and the last began %v late", by["holder"], latest)
	}
	if slots := o.count("SELECT count(*) FROM " + o.ledger.prefix + "slot WHERE outcome = 0"); slots != int64(n) {
		t.Errorf("%d slots are on record as fired, want %d", slots, n)
	}
	holder.stop()
	other.stop()
}

// TestAStartReadsLittle: a node that starts with very many schedules and jobs
// for later reads almost none of them at once, by the database's own counters: it compares some hundred schedules a second with its time-zone data.
func TestAStartReadsLittle(t *testing.T) {
	needs(t, inPostgres) // which has the counters
	o := newOffice(t, postgresStore(t))
	rows := 10 * manySchedules(t)
	o.exec(fmt.Sprintf(`
		INSERT INTO schedule (revision, anchor, mark, next_at, created_at, updated_at, name, owner, definition)
		SELECT 1, now(), now(), (date_trunc('year', now() AT TIME ZONE 'UTC' - interval '3 hours') + interval '1 year 3 hours') AT TIME ZONE 'UTC', now(), now(), 'later ' || i, '',
			'{"rule":{"cron":"0 3 1 1 *"},"kind":"mail","queue":"default","priority":5,"max_attempts":25}' FROM generate_series(1, %[1]d) i;
		INSERT INTO job (run_at, created_at, timeout_ns, priority, max_attempts, on_loss, origin, queue, kind, args)
		SELECT now() + interval '1 day' + i * interval '1 millisecond', now(), 0, 5, 25, 0, 0, 'default', 'mail', '{}' FROM generate_series(1, %[1]d) i;
		ANALYZE schedule, job`, rows)) // as autovacuum does within a minute
	const read = `SELECT (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables WHERE schemaname = current_schema())::bigint
		+ (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = current_schema())::bigint`
	time.Sleep(time.Second) // wait for the counters of the inserted rows
	before := o.count(read)
	began := time.Now()
	node := o.node("mailer")
	started := time.Since(began)
	time.Sleep(2 * time.Second)
	node.stop() // a connection reports its counters when it ends
	time.Sleep(time.Second)
	n := o.count(read) - before
	t.Logf("a node on %d schedules and as many jobs was there after %v, and read %d rows and index entries until it stopped", rows, started.Round(time.Millisecond), n)
	if n >= 2000 {
		t.Errorf("that is not less than 2,000")
	}
}
