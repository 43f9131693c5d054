package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"modernc.org/sqlite"

	"github.com/hourbell/hourbell/store"
)

// SQLite's primary result codes (the low byte of an extended one) that have a
// remedy; see https://sqlite.org/rescode.html.
const (
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeIOErr    = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeTooBig   = 18
	codeMismatch = 20
	codeNotADB   = 26

	codeConstraint = 19

	codeBusySnapshot = 5 | 2<<8
)

// codeOf returns SQLite's extended result code, or 0.
func codeOf(err error) int {
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		return failure.Code()
	}
	return 0
}

// isBusy reports whether another connection held a lock for too long.
func isBusy(err error) bool {
	code := codeOf(err) & 0xff
	return code == codeBusy || code == codeLocked
}

// explain wraps an error of SQLite: what was being done, the cause, the remedy.
func (b *Backend) explain(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%s: %w (%w)", doing, cause, err)
	}
	if codeOf(err)&0xff == codeCantOpen {
		if _, statErr := os.Stat(b.path); errors.Is(statErr, os.ErrNotExist) {
			return fmt.Errorf("%s: %w: the file %s does not exist; create it with `hourbell migrate up`, or Client.Migrate", doing, store.ErrSchema, b.path)
		}
	}
	return explain(doing, err)
}

// explain is the part of Backend.explain that needs no backend.
func explain(doing string, err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("%s: %w: %w", doing, store.ErrTxEnded, err)
	}
	if missesSchema(err) {
		return fmt.Errorf("%s: %w: %w; %s", doing, store.ErrSchema, err, store.MissingRemedy)
	}
	if rejects(codeOf(err)) {
		return fmt.Errorf("%s: %w; see what constraints and triggers that were added to the tables forbid: %w", doing, store.ErrRejected, err)
	}
	if remedy := remedyFor(codeOf(err)); remedy != "" {
		return fmt.Errorf("%s: %w: %s", doing, err, remedy)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// missesSchema reports whether a table, view or column of Hourbell is missing.
func missesSchema(err error) bool {
	if codeOf(err) != 1 {
		return false
	}
	return strings.Contains(err.Error(), "no such table: hourbell_") || strings.Contains(err.Error(), "no such column: ")
}

// rejects reports whether a code means a rejected value: too big, against a
// constraint, or refused by a trigger.
func rejects(code int) bool {
	switch code & 0xff {
	case codeTooBig, codeConstraint, codeMismatch:
		return true
	}
	return false
}

func remedyFor(code int) string {
	if code == codeBusySnapshot {
		return "the transaction read before it wrote, and someone else wrote in between; begin it with the write lock (_txlock=immediate in the DSN) and run it again"
	}
	switch code & 0xff {
	case codeBusy, codeLocked:
		return "someone else kept the write lock for too long; look for a transaction left open, in another program or in this one"
	case codeReadOnly:
		return "give this user the right to write the file, its -wal and -shm files and their folder"
	case codeIOErr:
		return "the disk failed or is full; look at the system's log and free space, nothing of this call was kept"
	case codeCorrupt:
		return "the file is damaged; stop all programs that use it, check it with PRAGMA integrity_check and restore a backup"
	case codeFull:
		return "the disk is full or the file reached max_page_count; free space, nothing of this call was kept"
	case codeCantOpen:
		return "check that the folder exists and that this user may write there"
	case codeNotADB:
		return "this file is not a SQLite database; give the path of another file"
	}
	return ""
}
