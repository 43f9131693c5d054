package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"

	mysql "github.com/go-sql-driver/mysql"

	"github.com/hourbell/hourbell/store"
)

// The server's error numbers that a Backend handles besides the numbers that its locks handle.
const (
	errNotNull         = 1048
	errDuplicate       = 1062
	errTooManyValues   = 1136
	errPacketTooLarge  = 1153
	errNoDatabase      = 1049
	errDatabaseDenied  = 1044
	errTruncated       = 1265
	errOutOfRange      = 1264
	errBadValue        = 1292
	errBadText         = 1366
	errTooLong         = 1406
	errForeignKey      = 1452
	errSignal          = 1644
	errCheck           = 3819 // of MySQL
	errConstraint      = 4025 // of MariaDB
	errTableFull       = 1114
	errDiskFull        = 1021
	errInvalidCharText = 1300

	errColumnExists  = 1060
	errIndexExists   = 1061
	errNothingToDrop = 1091

	errColumnAccessDenied = 1143
	errNoIndex            = 1176
	errNoPrivilege        = 1227
	errNotInCluster       = 1047 // of a server that has lost its Galera cluster
	errLockedNow          = 3572 // of MySQL; MariaDB has errLockWaitTimeout
)

// explain wraps an error of the server: what was being done, the cause, the remedy.
func (b *Backend) explain(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%s: %w (%w)", doing, cause, err)
	}
	switch number := numberOf(err); {
	case errors.Is(err, sql.ErrTxDone):
		return fmt.Errorf("%s: %w: %w", doing, store.ErrTxEnded, err)
	case number == errNoTable || number == errNoColumn:
		return fmt.Errorf("%s: %w: %w; %s", doing, store.ErrSchema, err, store.MissingRemedy)
	case errors.Is(err, mysql.ErrPktTooLarge) || number == errPacketTooLarge:
		return fmt.Errorf("%s: %w: the server's max_allowed_packet is too small for it; raise max_allowed_packet: %w", doing, store.ErrRejected, err)
	case rejects(number):
		return fmt.Errorf("%s: %w; see what constraints and triggers that were added to the tables forbid: %w", doing, store.ErrRejected, err)
	}
	if number := numberOf(err); number == errStatementTimeout || number == errExecutionTimeout {
		return fmt.Errorf("%s: %w: see max_statement_time (MariaDB) or max_execution_time (MySQL) of the user and of the server: %w",
			doing, store.ErrTimeLimit, err)
	}
	if remedy := remedyFor(numberOf(err)); remedy != "" {
		return fmt.Errorf("%s: %w: %s", doing, err, remedy)
	}
	return explain(doing, err)
}

// explainIn is explain for a transaction of the program, which only the program can begin again.
func (b *Backend) explainIn(ctx context.Context, doing string, err error) error {
	switch numberOf(err) {
	case errDeadlock, errRecordChanged:
		if ctx.Err() == nil {
			return fmt.Errorf("%s: %w: another transaction was first, and the server has rolled this transaction back or "+
				"refuses its old snapshot; begin a new transaction, and run it from its beginning", doing, err)
		}
	}
	return b.explain(ctx, doing, err)
}

// mayOnlyRead reports whether an error means that the user, or the server, does not write.
func mayOnlyRead(err error) bool {
	switch numberOf(err) {
	case errTableAccessDenied, errColumnAccessDenied, errDatabaseDenied, errReadOnly:
		return true
	}
	return false
}

// rejects reports whether a number means a rejected value: too long, not of its type, against a
// constraint, or refused by a trigger.
func rejects(number uint16) bool {
	switch number {
	case errNotNull, errTooManyValues, errTruncated, errOutOfRange, errBadValue, errBadText, errInvalidCharText,
		errTooLong, errForeignKey, errSignal, errCheck, errConstraint, errDuplicate:
		return true
	}
	return false
}

func remedyFor(number uint16) string {
	switch number {
	case errLockWaitTimeout:
		return "another transaction kept rows locked for too long; look for a transaction left open, in another program or in this one"
	case errDeadlock, errRecordChanged:
		return "other transactions changed the same rows again and again; run it again"
	case errTableAccessDenied, errDatabaseDenied:
		return "grant the user SELECT, INSERT, UPDATE and DELETE on the tables hourbell_*, and for `hourbell migrate up` CREATE, ALTER, INDEX and DROP"
	case errNoDatabase:
		return "see that the URL names the database rightly, or create it"
	case errTableFull, errDiskFull:
		return "the disk of the database server is full; free space, nothing of this call was kept"
	case errNotInCluster:
		return "the server is no working part of its Galera cluster now; it goes on when it is, or name another node of the cluster in the URL"
	case errTooManyConnections:
		return "the server has no connection left; raise its max_connections"
	case errTooManyOfUser:
		return "the server's max_user_connections, which holds for each user, is reached; raise it"
	case errUserLimit:
		return "a limit of the user is reached; raise it: ALTER USER … WITH MAX_USER_CONNECTIONS, or the limit that the error names"
	}
	return ""
}

// perhaps marks the error of a commit where the connection broke before the answer: the
// transaction may have been committed. It leaves errors where no connection was made, in a program's own pool as far as
// the server could not be reached.
func perhaps(err error) error {
	if err == nil || numberOf(err) != 0 || errors.Is(err, sql.ErrTxDone) || wasEnded(err) {
		return err
	}
	var dial *net.OpError
	if errors.As(err, new(unsent)) || errors.As(err, &dial) && dial.Op == "dial" {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUnknown, err)
}
