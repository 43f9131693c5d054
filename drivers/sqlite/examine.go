package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
	"github.com/hourbell/hourbell/store/sqltext"
)

const (
	// slowLock is how long the write lock may be held by others before it is reported.
	slowLock = time.Second
	// longWAL is the size in bytes from which on a -wal file shows that it cannot be emptied.
	longWAL = 256 << 20
	// checkTime is how long the check of the file's content may take.
	checkTime = 5 * time.Second
)

// Examine looks for what keeps nodes from working on the file, or makes them slow. It changes
// nothing: it takes the write lock for a moment, and writes nothing. Each finding is about one subject,
// in the order in which findings are to be mended; what cannot be examined because of an earlier
// finding is left out. A file that does not exist is no error.
func (b *Backend) Examine(ctx context.Context) []store.Finding {
	e := &examination{b: b}
	if e.file() && e.schema(ctx) {
		e.lock(ctx)
		e.claim(ctx)
		e.content(ctx)
	}
	return e.Findings
}

// ExamineLimits finds nothing: a file has neither connections nor statements that a server limits.
func (*Backend) ExamineLimits(context.Context) ([]store.Finding, error) { return nil, nil }

// examination collects findings.
type examination struct {
	store.Examination
	b *Backend
}

// file examines the file and its folder, and reports whether the file can be read and written.
func (e *examination) file() bool {
	folder := filepath.Dir(e.b.path)
	info, err := os.Stat(e.b.path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing:
		e.OK("file", fmt.Sprintf("%s does not exist yet; `hourbell migrate up`, or the first node, makes it", e.b.path))
	case err != nil:
		e.Failed("file", err)
	default:
		e.OK("file", fmt.Sprintf("%s, %d bytes, rights %04o", e.b.path, info.Size(), info.Mode().Perm()))
	}
	writable := err == nil || missing
	for _, path := range []string{folder, e.b.path, e.b.path + "-wal", e.b.path + "-shm"} {
		if mayWrite(path) == nil {
			continue
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		e.Add("rights", store.FindingError, "this user may not write to "+path,
			"give the user rights to the file, and to its folder, in which SQLite keeps two more files")
		writable = false
	}
	switch sort := fileSystem(folder); {
	case networks[sort]:
		e.Add("file system", store.FindingError, "the file is on a network share ("+sort+"), where the locks of SQLite do "+
			"not work", "put the file on a disk of this machine, or use PostgreSQL")
	case sort == "tmpfs":
		e.Add("file system", store.FindingWarning, "the file is in memory (tmpfs), and is gone after a restart of the machine", "put the file on a disk")
	case sort != "":
		e.OK("file system", "a file system of this machine")
	}
	return writable && !missing
}

// networks are the file systems on which SQLite's locks and shared memory do not work.
var networks = map[string]bool{"nfs": true, "cifs": true, "smb": true, "ceph": true, "afs": true}

// schema examines the tables, and reports whether they can be examined further.
func (e *examination) schema(ctx context.Context) bool {
	steps, err := e.b.MigrateStatus(ctx)
	if !e.Steps(steps, err, "the file", "run `hourbell migrate up`") {
		return false
	}
	if err := e.b.CheckSchema(ctx); err != nil { // too new, or not in WAL mode
		e.Failed("schema", err)
		return false
	}
	e.OK("schema", fmt.Sprintf("the schema is at step %d, as this release needs it, and the file is in WAL mode", len(steps)))
	return true
}

// lock takes the write lock for a moment, and looks at what has not been written into the file yet.
func (e *examination) lock(ctx context.Context) {
	const remedy = "find the program that holds a transaction open on the file (fuser, lsof), and end the transaction"
	began := time.Now()
	err := e.takeLock(ctx)
	switch took := time.Since(began).Round(time.Millisecond); {
	case err != nil:
		e.Add("lock", store.FindingError, e.b.explain(ctx, "take the write lock", err).Error(), remedy)
	case took > slowLock:
		e.Add("lock", store.FindingWarning, fmt.Sprintf("the write lock was free only after %v", took), remedy)
	default:
		e.OK("lock", fmt.Sprintf("the write lock was free after %v", took))
	}
	if wal, err := os.Stat(e.b.path + "-wal"); err == nil && wal.Size() > longWAL {
		e.Add("wal", store.FindingWarning, fmt.Sprintf("%s-wal has %d bytes, because a reader keeps it from being emptied", e.b.path, wal.Size()), remedy)
	}
}

func (e *examination) takeLock(ctx context.Context) error {
	conn, err := e.b.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := patiently(ctx, func() error { _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); return err }); err != nil {
		return err
	}
	_, err = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return err
}

// claim examines the plan of the statement with which nodes take jobs.
func (e *examination) claim(ctx context.Context) {
	const index = "hourbell_job_ready"
	text := e.b.texts[claimJobs].SQL
	var nothing []any
	for _, name := range sqltext.Parameters(text) {
		nothing = append(nothing, sql.Named(name, nil))
	}
	var plan strings.Builder
	rows, err := e.b.reader.QueryContext(ctx, "EXPLAIN QUERY PLAN "+text, nothing...) //nolint:rowserrcheck // EachRow returns rows.Err
	err = sqlrows.EachRow(rows, err, func(r row) error {
		var id, parent, unused int
		var detail string
		err := r.Scan(&id, &parent, &unused, &detail)
		plan.WriteString(detail + "\n")
		return err
	})
	switch {
	case err != nil:
		e.Failed("claim", e.b.explain(ctx, "examine the plan of the claim", err))
	case strings.Contains(plan.String(), " INDEX "+index+" "):
		e.OK("claim", "jobs are found by the index "+index)
	default:
		e.Add("claim", store.FindingError, "jobs are not found by the index "+index+", so that claims read all jobs",
			"see that the index exists; `hourbell migrate print` has its statement")
	}
}

// content checks the structure of the file, as far as there is time.
func (e *examination) content(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	result, err := pragma(limited, e.b.reader, "quick_check(1)")
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		e.OK("content", fmt.Sprintf("not damaged as far as it was read in %v; PRAGMA quick_check reads all", checkTime))
	case err != nil:
		e.Failed("content", e.b.explain(ctx, "check the content", err))
	case result != "ok":
		e.Add("content", store.FindingError, "the file is damaged: "+result,
			"stop all nodes, and restore a backup; .recover of the sqlite3 program saves what can be read")
	default:
		e.OK("content", "not damaged")
	}
}
