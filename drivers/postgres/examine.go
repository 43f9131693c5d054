package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

const (
	// oldestServer is the server_version_num of the oldest PostgreSQL that works.
	oldestServer = 130000
	// latencyProbes is how many round trips measure the latency and the clock.
	latencyProbes = 10
	// slowTrip is the round trip from which on nodes are slow: a job takes some round trips.
	slowTrip = 20 * time.Millisecond
	// clockGap is the least difference between the server's clock and the clock of this machine that is
	// reported, because it misleads people who compare logs.
	clockGap = 2 * time.Second
	// fewConnections is how many free connections a node with its pools may take.
	fewConnections = 10
	// longTransaction is how long a transaction may be open before it makes statements slow.
	longTransaction = 10 * time.Minute
)

// examining begins the transaction of an examination: it has the plans of work, and cannot write.
const examining = looking + common + plans

// Examine looks for what keeps nodes from working on the database, or makes them slow. It changes
// nothing, and sends one notification, which no node heeds. Each finding is about one subject,
// in the order in which findings are to be mended; what cannot be examined because of an earlier
// finding is left out.
func (b *Backend) Examine(ctx context.Context) []store.Finding {
	e := &examination{b: b}
	if err := e.readServer(ctx); err != nil {
		e.failed("connection", err)
		return e.found
	}
	if err := e.distance(ctx); err != nil {
		e.failed("latency", err)
	}
	e.wakeUps(ctx)
	if e.schema(ctx) && e.rights(ctx) {
		e.indexes(ctx)
		e.claim(ctx)
	}
	e.upkeep(ctx)
	return e.found
}

// ExamineLimits returns the findings of Examine about connections that are left, and about timeouts: what a node examines again and again,
// with its own role. None: all is well.
func (b *Backend) ExamineLimits(ctx context.Context) ([]store.Finding, error) {
	e := &examination{b: b}
	err := e.readServer(ctx)
	return slices.DeleteFunc(e.found, func(f store.Finding) bool { return f.Check != "connections" && f.Check != "timeouts" }), err
}

// examination collects findings.
type examination struct {
	b      *Backend
	server serverFacts
	found  []store.Finding
}

// serverFacts are the columns of readServer.
type serverFacts struct {
	version               string
	number                int64
	database              string
	role                  string
	encoding              string
	standby               bool
	autovacuum            bool
	connectionsLeft       int64
	roleConnectionsLeft   *int64   // nil: the role has no limit
	timeouts              [3]int64 // by sessionTimeouts, in milliseconds; 0: none
	hasSchema, mayMigrate bool
}

func (e *examination) add(check string, level store.FindingLevel, found, remedy string) {
	e.found = append(e.found, store.Finding{Check: check, Level: level, Found: found, Remedy: remedy})
}

func (e *examination) ok(check, found string) { e.add(check, store.FindingOK, found, "") }

// failed adds an error. Most errors contain the remedy.
func (e *examination) failed(check string, err error) {
	e.add(check, store.FindingError, err.Error(), "")
}

// read reads in a transaction that cannot write.
func (e *examination) read(ctx context.Context, what string) rowwise.Transaction[pgx.Tx] {
	return e.b.transact(ctx, programConns, what, examining)
}

// readServer examines the server, the database and the role.
func (e *examination) readServer(ctx context.Context) error {
	s, err := rowwise.InTx(e.read(ctx, "examine the server"), func(tx pgx.Tx) (s serverFacts, err error) {
		err = tx.QueryRow(ctx, e.b.q(readServer), e.b.schema).Scan(&s.version, &s.number, &s.database, &s.role, &s.encoding, &s.standby,
			&s.autovacuum, &s.connectionsLeft, &s.roleConnectionsLeft, &s.timeouts[0], &s.timeouts[1], &s.timeouts[2], &s.hasSchema, &s.mayMigrate)
		return s, err
	})
	if err != nil {
		return err
	}
	e.server = s
	e.ok("connection", fmt.Sprintf("PostgreSQL %s, database %s, role %s", s.version, s.database, s.role))
	if s.number < oldestServer {
		e.add("version", store.FindingError, "PostgreSQL "+s.version+" is too old", "use PostgreSQL 13 or newer")
	}
	if s.standby {
		e.add("server", store.FindingError, "the server is a standby, which cannot be written to",
			"name the primary in the URL, or add target_session_attrs=read-write to it")
	}
	if s.encoding != "UTF8" {
		e.add("encoding", store.FindingError, "the encoding of the database is "+s.encoding, "use a database with the encoding UTF8")
	}
	e.timeouts()
	switch {
	case s.roleConnectionsLeft != nil && *s.roleConnectionsLeft < min(fewConnections, s.connectionsLeft):
		e.add("connections", store.FindingWarning, fmt.Sprintf("the role %s has %d of its connections left", s.role, max(*s.roleConnectionsLeft, 0)),
			fmt.Sprintf("ALTER ROLE %s CONNECTION LIMIT with a greater number, or lower pool_max_conns in the URLs of programs; a node takes "+
				"up to 8 connections and 3 more", pgx.Identifier{s.role}.Sanitize()))
	case s.connectionsLeft < fewConnections:
		e.add("connections", store.FindingWarning, fmt.Sprintf("the server has %d of its connections left", max(s.connectionsLeft, 0)),
			"raise max_connections of the server, or lower pool_max_conns in the URLs of programs; a node takes up to 8 connections and 3 more")
	}
	return nil
}

// sessionTimeouts are settings by which a server ends statements or sessions, the least time with which nodes work as they
// should, and what a shorter time does.
var sessionTimeouts = [3]struct {
	name  string
	least time.Duration
	does  string
}{
	{"statement_timeout", 10 * time.Second, "that the server ends statements of upkeep and of listings before they are done"},
	{"lock_timeout", 10 * time.Second, "that statements fail while others change the same rows"},
	{"idle_session_timeout", 5 * time.Minute, "that nodes lose the connections that wait for wake-ups and for work, again and again"},
}

// timeouts looks for settings of the role, the database or the server that are too short.
func (e *examination) timeouts() {
	for i, one := range sessionTimeouts {
		if set := time.Duration(e.server.timeouts[i]) * time.Millisecond; set > 0 && set < one.least {
			e.add("timeouts", store.FindingWarning, fmt.Sprintf("%s is %v, so %s", one.name, set, one.does),
				fmt.Sprintf("ALTER ROLE %s SET %s = 0, or at least %v; if the URL or the program's pool sets it, change it there",
					pgx.Identifier{e.server.role}.Sanitize(), one.name, one.least))
		}
	}
}

// distance measures the latency, and compares the server's clock with the clock of this machine. Hourbell
// uses the server's clock only, so that another time does no harm to jobs.
func (e *examination) distance(ctx context.Context) error {
	type measured struct {
		trips []time.Duration
		gap   time.Duration
	}
	m, err := rowwise.InTx(e.b.connected(ctx, programConns), func(conn *pgxpool.Conn) (m measured, err error) {
		for range latencyProbes {
			var clock float64
			sent := time.Now()
			err := conn.QueryRow(ctx, "select extract(epoch from clock_timestamp())::float8", pgx.QueryExecModeSimpleProtocol).Scan(&clock)
			if err != nil {
				return m, err
			}
			took := time.Since(sent)
			if len(m.trips) == 0 || took < slices.Min(m.trips) {
				m.gap = time.UnixMicro(int64(clock * 1e6)).Sub(sent.Add(took / 2))
			}
			m.trips = append(m.trips, took)
		}
		return m, nil
	})
	if err != nil {
		return e.b.explain("measure the latency", err)
	}
	trips, gap := m.trips, m.gap
	slices.Sort(trips)
	latency, slowest := trips[len(trips)/2], trips[len(trips)-1]
	found := fmt.Sprintf("%.2f ms for a round trip, at most %.2f ms", latency.Seconds()*1000, slowest.Seconds()*1000)
	if latency > slowTrip {
		e.add("latency", store.FindingWarning, found, "a job takes some round trips: run nodes near the database")
	} else {
		e.ok("latency", found)
	}
	found = fmt.Sprintf("the clock of the server is %.1f s %s the clock of this machine", gap.Abs().Seconds(), aheadOrBehind(gap))
	if gap.Abs() > clockGap {
		e.add("clock", store.FindingWarning, found, "jobs are not affected, because only the server's clock counts; set the clocks, because people compare logs")
	} else {
		e.ok("clock", found)
	}
	return nil
}

func aheadOrBehind(gap time.Duration) string {
	if gap < 0 {
		return "behind"
	}
	return "ahead of"
}

// wakeUps examines whether nodes hear of new jobs at once.
func (e *examination) wakeUps(ctx context.Context) {
	through := "a direct connection"
	if e.b.ownsPool && !e.b.pinned {
		through = "through a connection pooler"
	}
	e.ok("pooler", through)
	if e.server.standby {
		return
	}
	conn, err := e.b.listenConn(ctx)
	if err == nil {
		defer closeSoon(conn)
		err = e.b.startListening(ctx, conn)
	}
	const polling = "nodes poll instead, so that jobs begin up to a second later; "
	switch {
	case err == nil:
		e.ok("wake-ups", "a notification arrives on the channel "+e.b.channel)
	case errors.Is(err, store.ErrNoPush):
		e.add("wake-ups", store.FindingWarning, fmt.Sprintf("a notification on the channel %s does not arrive within %v",
			e.b.channel, probeTime), polling+e.b.whyDeaf())
	default:
		e.add("wake-ups", store.FindingWarning, e.b.explain("listen", err).Error(), polling+"see that the URL for listening is right")
	}
}

// schema examines the tables, and reports whether they can be examined further.
func (e *examination) schema(ctx context.Context) bool {
	steps, err := e.b.MigrateStatus(ctx)
	applied := 0
	for _, step := range steps {
		if step.Applied {
			applied++
		}
	}
	name := pgx.Identifier{e.b.schema}.Sanitize()
	switch missing := len(steps) - applied; {
	case err != nil:
		e.failed("schema", err)
		return false
	case applied == 0 && !e.server.mayMigrate:
		e.add("schema", store.FindingError, "the schema "+name+" has no tables of Hourbell, and the role may not make them",
			"run `hourbell migrate up` as a role that may, and grant this role the rights on the tables")
		return false
	case applied == 0:
		e.ok("schema", "the schema "+name+" has no tables of Hourbell yet; `hourbell migrate up`, or the first node, makes them")
		return false
	case missing > 0:
		e.add("schema", store.FindingError, fmt.Sprintf("the schema %s is at step %d, and this release needs step %d", name, applied, len(steps)), e.migration())
		return false
	}
	if err := e.b.CheckSchema(ctx); err != nil { // too new
		e.failed("schema", err)
		return false
	}
	e.ok("schema", fmt.Sprintf("the schema %s is at step %d, as this release needs it", name, applied))
	return true
}

// migration returns how the missing steps are applied.
func (e *examination) migration() string {
	if e.server.mayMigrate {
		return "run `hourbell migrate up`"
	}
	return "run `hourbell migrate up` as the owner of the schema, because this role may not do it"
}

// rights examines what the role may do with the tables, and reports whether nothing is missing.
func (e *examination) rights(ctx context.Context) bool {
	type lack struct{ kind, name, rights string }
	lacks, err := rowwise.InTx(e.read(ctx, "examine the rights of the role"), func(tx pgx.Tx) ([]lack, error) {
		return collect(ctx, tx, func(r pgx.CollectableRow) (l lack, err error) {
			err = r.Scan(&l.kind, &l.name, &l.rights)
			return l, err
		}, e.b.q(findMissingRights), e.b.schema)
	})
	if err != nil {
		e.failed("rights", err)
		return false
	}
	if len(lacks) == 0 {
		e.ok("rights", "the role has all rights that a node needs")
		return true
	}
	var missing []string
	grants := map[string]string{
		"SCHEMA": "GRANT USAGE ON SCHEMA %s TO %s", "TABLE": "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %s",
		"SEQUENCE": "GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA %s TO %s", "FUNCTION": "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %s TO %s",
	}
	var remedies []string
	for _, l := range lacks {
		missing = append(missing, l.rights+" on "+l.name)
		grant := fmt.Sprintf(grants[l.kind], pgx.Identifier{e.b.schema}.Sanitize(), pgx.Identifier{e.server.role}.Sanitize())
		if !slices.Contains(remedies, grant) {
			remedies = append(remedies, grant)
		}
	}
	const most = 3
	shown := strings.Join(missing[:min(most, len(missing))], "; ")
	if len(missing) > most {
		shown += fmt.Sprintf("; and %d more", len(missing)-most)
	}
	e.add("rights", store.FindingError, "the role lacks "+shown, "as the owner of the schema: "+strings.Join(remedies, "; "))
	return false
}

// indexes looks for indexes that statements cannot use.
func (e *examination) indexes(ctx context.Context) {
	broken, err := rowwise.InTx(e.read(ctx, "examine the indexes"), func(tx pgx.Tx) ([]string, error) {
		return collect(ctx, tx, pgx.RowTo[string], e.b.q(findBrokenIndexes), e.b.schema)
	})
	switch {
	case err != nil:
		e.failed("indexes", err)
	case len(broken) > 0:
		var remedies []string
		for _, name := range broken {
			remedies = append(remedies, "REINDEX INDEX CONCURRENTLY "+pgx.Identifier{e.b.schema, name}.Sanitize())
		}
		e.add("indexes", store.FindingError, "statements cannot use the index "+strings.Join(broken, ", "), strings.Join(remedies, "; "))
	default:
		e.ok("indexes", "all valid")
	}
}

// claim examines the plan of the statement with which nodes take jobs.
func (e *examination) claim(ctx context.Context) {
	const index = "job_ready"
	plan, err := rowwise.InTx(e.read(ctx, "examine the plan of the claim"), func(tx pgx.Tx) (plan []string, err error) {
		if _, err := tx.Exec(ctx, "prepare hourbell_examined as "+e.b.q(claimJobs), pgx.QueryExecModeSimpleProtocol); err != nil {
			return nil, err
		}
		nulls := strings.TrimSuffix(strings.Repeat("null,", len(strings.Fields(sources[claimJobs].params))), ",")
		if plan, err = collect(ctx, tx, pgx.RowTo[string], "explain execute hourbell_examined("+nulls+")", pgx.QueryExecModeSimpleProtocol); err != nil {
			return nil, err
		}
		_, err = tx.Exec(ctx, "deallocate hourbell_examined")
		return plan, err
	})
	text := strings.Join(plan, "\n")
	switch {
	case err != nil:
		e.failed("claim", err)
	case strings.Contains(text, " using "+index+" "):
		e.ok("claim", "jobs are found by the index "+index)
	case strings.Contains(text, "One-Time Filter: false"): // a server with Citus plans for the values, which are null here
		e.ok("claim", "the plan cannot be examined on a server with Citus")
	default:
		e.add("claim", store.FindingError, "jobs are not found by the index "+index+", so that claims read all jobs",
			"see that the index exists; `hourbell migrate print` has its statement")
	}
}

// upkeep examines what keeps the server from removing dead rows.
func (e *examination) upkeep(ctx context.Context) {
	if !e.server.autovacuum {
		e.add("vacuum", store.FindingError, "autovacuum or track_counts is off, so that tables grow without bound",
			"switch both on in the configuration of the server")
	}
	type transaction struct {
		process, seconds int64
		name             string
	}
	old, err := rowwise.InTx(e.read(ctx, "examine transactions"), func(tx pgx.Tx) (old transaction, err error) {
		err = tx.QueryRow(ctx, e.b.q(findOldTransaction), int64(longTransaction/time.Second)).Scan(&old.process, &old.name, &old.seconds)
		return old, err
	})
	process, name, open := old.process, old.name, time.Duration(old.seconds)*time.Second
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		e.ok("transactions", fmt.Sprintf("none is open for more than %v", longTransaction))
	case err != nil:
		e.failed("transactions", err)
	case process == 0:
		e.add("transactions", store.FindingWarning, fmt.Sprintf("the prepared transaction %q is open for %v, so that dead "+
			"rows stay and statements become slow", name, open),
			"commit it or roll it back (COMMIT PREPARED, ROLLBACK PREPARED)")
	default:
		e.add("transactions", store.FindingWarning, fmt.Sprintf("a transaction of process %d (%s) is open for %v, so that "+
			"dead rows stay and statements become slow", process, name, open),
			fmt.Sprintf("end the transaction in its program, or SELECT pg_terminate_backend(%d)", process))
	}
}
