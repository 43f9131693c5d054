package mysql

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

const (
	// latencyProbes is how many round trips measure the latency and the clock.
	latencyProbes = 10
	// slowTrip is the round trip from which on nodes are slow: a job takes some round trips.
	slowTrip = 20 * time.Millisecond
	// clockGap is the difference between the server's clock and the clock of this machine from which on
	// people are misled who compare their logs.
	clockGap = 2 * time.Second
	// longTransaction is how long a transaction may be open before it makes statements slow.
	longTransaction = 10 * time.Minute
	// smallPacket is the max_allowed_packet, in bytes, below which large jobs are refused.
	smallPacket = 8 << 20
	// fewConnections is how many free connections a node may take.
	fewConnections = 10
	// shortStatements is the least time for statements with which nodes work as they should.
	shortStatements = 10 * time.Second
)

// Examine looks for what keeps nodes from working on the database, or makes them slow. It changes
// nothing. Each finding is about one subject, in the order in which findings are to be mended; what
// cannot be examined because of an earlier finding is left out.
func (b *Backend) Examine(ctx context.Context) []store.Finding {
	e := &examination{b: b}
	if !e.server(ctx) {
		return e.Findings
	}
	e.distance(ctx)
	if e.schema(ctx) && e.tables(ctx) && e.rights(ctx) {
		e.claim(ctx)
	}
	e.transactions(ctx)
	return e.Findings
}

// ExamineLimits returns the findings of Examine about connections that are left, and about timeouts: what a node examines again and again,
// with its own user. None: all is well.
func (b *Backend) ExamineLimits(ctx context.Context) ([]store.Finding, error) {
	e := &examination{b: b}
	err := e.limits(ctx)
	return e.Findings, err
}

// examination collects findings.
type examination struct {
	store.Examination
	b *Backend
}

// failed adds an error. Most errors contain the remedy.
func (e *examination) failed(ctx context.Context, check string, err error) {
	e.Add(check, store.FindingError, e.b.explain(ctx, "examine the database", err).Error(), "")
}

// each runs a statement that finds rows.
func (e *examination) each(ctx context.Context, name statement, a args, scan func(row) error) error {
	text, err := e.b.texts[name].complete(name, a)
	if err != nil {
		return err
	}
	//nolint:rowserrcheck // EachRow returns rows.Err
	rows, err := e.b.db.QueryContext(ctx, text)
	return sqlrows.EachRow(rows, err, scan)
}

// serverFacts are the columns of readServer.
type serverFacts struct {
	version, database, user string
	readOnly, flushes       int64
	hasLog                  bool
	syncs                   int64
	packet                  int64
	clock                   float64
}

// read reads the facts, and returns how long the answer took.
func (e *examination) read(ctx context.Context) (s serverFacts, took time.Duration, err error) {
	began := time.Now()
	err = e.each(ctx, readServer, nil, func(r row) error {
		return r.Scan(&s.version, &s.database, &s.user, &s.readOnly, &s.flushes, &s.hasLog, &s.syncs, &s.packet, &s.clock)
	})
	return s, time.Since(began), err
}

// server examines the server, the database and the user, and reports whether the server answers.
func (e *examination) server(ctx context.Context) bool {
	s, _, err := e.read(ctx)
	if err != nil {
		e.failed(ctx, "connection", err)
		return false
	}
	name := "MySQL"
	if e.b.server.mariaDB {
		name = "MariaDB"
	}
	e.OK("connection", fmt.Sprintf("%s %s, database %s, user %s", name, s.version, s.database, s.user))
	if s.readOnly != 0 {
		e.Add("server", store.FindingError, "the server is read-only, as replicas are", "name the primary server in the URL")
	}
	c, err := e.readCluster(ctx)
	if err != nil {
		e.failed(ctx, "cluster", err)
		return true
	}
	e.Findings = append(e.Findings, durability(s, c))
	if s.packet < smallPacket {
		e.Add("packet", store.FindingWarning, fmt.Sprintf("max_allowed_packet is %d bytes, so that batches of large jobs are "+
			"refused", s.packet), "set max_allowed_packet to 16M or more")
	}
	if e.b.server.galera {
		e.cluster(c)
	}
	if err := e.limits(ctx); err != nil {
		e.failed(ctx, "connections", err)
	}
	return true
}

// limits examines how many connections are left, of the server and of the user, and how long statements may take.
func (e *examination) limits(ctx context.Context) error {
	set := map[string]float64{}
	for _, show := range []string{
		"SHOW VARIABLES WHERE Variable_name IN ('max_connections', 'max_user_connections', 'max_statement_time', 'max_execution_time')",
		"SHOW GLOBAL STATUS WHERE Variable_name = 'Threads_connected'",
	} {
		//nolint:rowserrcheck // EachRow returns rows.Err
		rows, err := e.b.db.QueryContext(ctx, show)
		err = sqlrows.EachRow(rows, err, func(r row) error {
			var name, value string
			err := r.Scan(&name, &value)
			set[name], _ = strconv.ParseFloat(value, 64)
			return err
		})
		if err != nil {
			return err
		}
	}
	var ofUser int64
	if err := e.each(ctx, countUserConnections, nil, func(r row) error { return r.Scan(&ofUser) }); err != nil {
		return err
	}
	e.Findings = append(e.Findings, judgeLimits(set, ofUser)...)
	return nil
}

// judgeLimits judges settings and figures of a server, by their names. ofUser is how many connections the user has.
func judgeLimits(set map[string]float64, ofUser int64) (found []store.Finding) {
	left := int64(set["max_connections"] - set["Threads_connected"])
	ofUserLeft, limited := int64(set["max_user_connections"])-ofUser, set["max_user_connections"] > 0
	switch {
	case limited && ofUserLeft < min(fewConnections, left):
		found = append(found, store.Finding{
			Check: "connections", Level: store.FindingWarning, Found: fmt.Sprintf("the user has %d of its connections left", max(ofUserLeft, 0)),
			Remedy: "ALTER USER … WITH MAX_USER_CONNECTIONS, or max_user_connections of the server, with a greater number",
		})
	case left < fewConnections:
		found = append(found, store.Finding{
			Check: "connections", Level: store.FindingWarning, Found: fmt.Sprintf("the server has %d of its connections left", max(left, 0)),
			Remedy: "raise max_connections of the server",
		})
	}
	for name, unit := range map[string]time.Duration{"max_statement_time": time.Second, "max_execution_time": time.Millisecond} { // a server has one of them
		if limit := time.Duration(set[name] * float64(unit)); limit > 0 && limit < shortStatements {
			found = append(found, store.Finding{
				Check: "timeouts", Level: store.FindingWarning,
				Found:  fmt.Sprintf("%s is %v, so that the server ends statements of upkeep and of listings before they are done", name, limit),
				Remedy: fmt.Sprintf("set %s to 0, or to at least %v: for the server, for the user, or in the URL, wherever it is set", name, shortStatements),
			})
		}
	}
	return found
}

// durability judges what becomes of acknowledged work at a loss of power.
func durability(s serverFacts, c clusterFacts) store.Finding {
	f := store.Finding{Check: "durability", Level: store.FindingWarning, Remedy: "set it to 1"}
	switch {
	case c.nodes > 1:
		f.Level, f.Found, f.Remedy = store.FindingOK, "what was committed is on the other nodes of the cluster", ""
	case s.flushes != 1:
		f.Found = fmt.Sprintf("innodb_flush_log_at_trx_commit is %d, so that the last second of acknowledged work is lost with the power", s.flushes)
	case s.hasLog && s.syncs != 1:
		f.Found = fmt.Sprintf("sync_binlog is %d, so that replicas and backups may lack acknowledged work after a loss of power", s.syncs)
	default:
		f.Level, f.Found, f.Remedy = store.FindingOK, "a commit waits for the disk", ""
	}
	return f
}

// clusterFacts are what a node of a Galera cluster reports; of other servers they are empty.
type clusterFacts struct {
	ready, state string
	nodes        int // that form the cluster at present, with this server
}

// readCluster reads the facts of a node of a Galera cluster.
func (e *examination) readCluster(ctx context.Context) (c clusterFacts, err error) {
	if !e.b.server.galera {
		return c, nil
	}
	//nolint:rowserrcheck // EachRow returns rows.Err
	rows, err := e.b.db.QueryContext(ctx, "SHOW STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_size', 'wsrep_local_state_comment')")
	err = sqlrows.EachRow(rows, err, func(r row) error {
		var name, value string
		err := r.Scan(&name, &value)
		switch name {
		case "wsrep_ready":
			c.ready = value
		case "wsrep_local_state_comment":
			c.state = value
		default:
			c.nodes, _ = strconv.Atoi(value) // 0 while the server is outside its cluster
		}
		return err
	})
	return c, err
}

// cluster examines a node of a Galera cluster.
func (e *examination) cluster(c clusterFacts) {
	if c.ready != "ON" {
		e.Add("cluster", store.FindingError, "the server is no working part of its Galera cluster: "+c.state,
			"name another node of the cluster in the URL, or mend this node")
		return
	}
	e.OK("cluster", fmt.Sprintf("the Galera cluster has the size %d", c.nodes))
}

// distance measures the latency, and compares the server's clock with the clock of this machine. Hourbell
// uses the server's clock only, so that another time does no harm to jobs.
func (e *examination) distance(ctx context.Context) {
	var trips []time.Duration
	var gap time.Duration
	for range latencyProbes {
		sent := time.Now()
		s, took, err := e.read(ctx)
		if err != nil {
			e.failed(ctx, "latency", err)
			return
		}
		if len(trips) == 0 || took < slices.Min(trips) {
			gap = time.UnixMicro(int64(s.clock * 1e6)).Sub(sent.Add(took / 2))
		}
		trips = append(trips, took)
	}
	slices.Sort(trips)
	latency, slowest := trips[len(trips)/2], trips[len(trips)-1]
	found := fmt.Sprintf("%.2f ms for a round trip, at most %.2f ms", latency.Seconds()*1000, slowest.Seconds()*1000)
	if latency > slowTrip {
		e.Add("latency", store.FindingWarning, found, "a job takes some round trips: run nodes near the database")
	} else {
		e.OK("latency", found)
	}
	side := "ahead of"
	if gap < 0 {
		side = "behind"
	}
	found = fmt.Sprintf("the clock of the server is %.1f s %s the clock of this machine", gap.Abs().Seconds(), side)
	if gap.Abs() > clockGap {
		e.Add("clock", store.FindingWarning, found, "jobs are not affected, because only the server's clock counts; set the clocks, because people compare logs")
	} else {
		e.OK("clock", found)
	}
}

// schema examines the steps of the schema, and reports whether the tables can be examined.
func (e *examination) schema(ctx context.Context) bool {
	steps, err := e.b.MigrateStatus(ctx)
	applied := 0
	for _, step := range steps {
		if step.Applied {
			applied++
		}
	}
	switch {
	case err != nil:
		e.failed(ctx, "schema", err)
		return false
	case applied == 0:
		e.OK("schema", "the database has no tables of Hourbell yet; `hourbell migrate up`, or the first node, makes them")
		return false
	case applied < len(steps):
		e.Add("schema", store.FindingError, fmt.Sprintf("the schema is at step %d, and this release needs step %d", applied,
			len(steps)), "run `hourbell migrate up` as a user who may change tables")
		return false
	}
	if err := e.b.calls.CheckSchema(ctx); err != nil { // too new
		e.failed(ctx, "schema", err)
		return false
	}
	e.OK("schema", fmt.Sprintf("the schema is at step %d, as this release needs it", len(steps)))
	return true
}

// tables looks for tables without transactions, and reports whether there are none.
func (e *examination) tables(ctx context.Context) bool {
	wrong, err := e.b.wrongTables(ctx, e.b.db)
	switch {
	case err != nil:
		e.failed(ctx, "tables", err)
	case wrong.found != "":
		e.Add("tables", store.FindingError, wrong.found, wrong.remedy)
	default:
		e.OK("tables", "all in InnoDB")
	}
	return err == nil && wrong.found == ""
}

// rights examines what the user may do with the tables, and reports whether nothing is missing. The server
// checks the rights of a statement that it only explains.
func (e *examination) rights(ctx context.Context) bool {
	tables, columns := []string{}, []string{}
	err := e.each(ctx, findColumns, nil, func(r row) error {
		var table, column string
		err := r.Scan(&table, &column)
		tables, columns = append(tables, quoted(table)), append(columns, quoted(column))
		return err
	})
	if err != nil {
		e.failed(ctx, "rights", err)
		return false
	}
	var missing []string
	for i, table := range tables {
		for right, text := range map[string]string{
			"SELECT": "SELECT * FROM " + table, "INSERT": "INSERT INTO " + table + " (" + columns[i] + ") VALUES (NULL)",
			"UPDATE": "UPDATE " + table + " SET " + columns[i] + " = NULL", "DELETE": "DELETE FROM " + table,
		} {
			//nolint:rowserrcheck // EachRow returns rows.Err
			rows, err := e.b.db.QueryContext(ctx, "EXPLAIN "+text)
			err = sqlrows.EachRow(rows, err, func(row) error { return nil })
			switch numberOf(err) {
			case errTableAccessDenied, errColumnAccessDenied, errDatabaseDenied:
				missing = append(missing, right+" on "+table)
			}
		}
	}
	if len(missing) == 0 {
		e.OK("rights", "the user has all rights that a node needs")
		return true
	}
	slices.Sort(missing)
	const most = 3
	shown := strings.Join(missing[:min(most, len(missing))], "; ")
	if len(missing) > most {
		shown += fmt.Sprintf("; and %d more", len(missing)-most)
	}
	e.Add("rights", store.FindingError, "the user lacks "+shown, "GRANT SELECT, INSERT, UPDATE, DELETE on the tables hourbell_* to the user")
	return false
}

// claim looks for the index with which nodes take jobs.
func (e *examination) claim(ctx context.Context) {
	const index = "hourbell_job_ready"
	//nolint:rowserrcheck // EachRow returns rows.Err
	rows, err := e.b.db.QueryContext(ctx, "EXPLAIN SELECT id FROM hourbell_job FORCE INDEX ("+index+") WHERE queue = '' "+
		"AND state = 0 AND priority = 1 ORDER BY run_at, id LIMIT 1")
	err = sqlrows.EachRow(rows, err, func(row) error { return nil })
	switch {
	case numberOf(err) == errNoIndex:
		e.Add("claim", store.FindingError, "the index "+index+", by which jobs are found, is missing", "make it again; `hourbell migrate print` has its definition")
	case err != nil:
		e.failed(ctx, "claim", err)
	default:
		e.OK("claim", "jobs are found by the index "+index)
	}
}

// transactions looks for what keeps the server from removing old versions of rows.
func (e *examination) transactions(ctx context.Context) {
	var connection, seconds int64
	err := e.each(ctx, findOldTransaction, args{"seconds": int64(longTransaction / time.Second)}, func(r row) error { return r.Scan(&connection, &seconds) })
	switch {
	case numberOf(err) == errNoPrivilege:
		e.OK("transactions", "not examined, because the user lacks the right PROCESS")
	case err != nil:
		e.failed(ctx, "transactions", err)
	case seconds > 0:
		e.Add("transactions", store.FindingWarning,
			fmt.Sprintf("a transaction of connection %d is open for %v, so that old versions of rows stay and statements become "+
				"slow", connection, time.Duration(seconds)*time.Second),
			fmt.Sprintf("end the transaction in its program, or KILL %d", connection))
	default:
		e.OK("transactions", fmt.Sprintf("none is open for more than %v", longTransaction))
	}
}
