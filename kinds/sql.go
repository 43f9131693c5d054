package kinds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
)

// SQLKind is the kind of the jobs that run an SQL statement.
const SQLKind = "sql"

// SQL is the arguments of a job that runs one SQL statement.
type SQL struct {
	// Connection is the name of a connection of the node; see SQLWorker.
	Connection string `json:"connection"`
	// Statement is one statement: SELECT, INSERT, UPDATE, DELETE, MERGE,
	// REPLACE, WITH, VALUES, CALL, REFRESH or TRUNCATE. Its parameters are
	// written as the database writes them ($1 in PostgreSQL, ? in SQLite). It has
	// no semicolon except at its end: a text with a semicolon is given in Args.
	Statement string `json:"statement"`
	// Args are the values of the parameters: texts, numbers, truth values and
	// null. The object {"job": "id"} stands for the number of the job, and so
	// do token (the fencing token), attempt, and slot (RFC 3339 in UTC, or null).
	Args []any `json:"args,omitempty"`
	// Timeout bounds the statement and the commit. 0: only the job's timeout.
	Timeout Duration `json:"timeout,omitzero"`
}

// Kind returns SQLKind.
func (SQL) Kind() string { return SQLKind }

// Encode returns the statement as the arguments of a job; equal statements have
// equal bytes.
func (s SQL) Encode() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return encode(s)
}

// DecodeSQL reads the arguments of a job of this kind. It refuses unknown
// fields. Numbers in Args become json.Number.
func DecodeSQL(args []byte) (SQL, error) {
	var s SQL
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if err := decoder.Decode(&s); err != nil {
		return SQL{}, &check.FieldError{
			Field: "args", Problem: "are not an SQL statement: " + strings.TrimPrefix(err.Error(), "json: "),
			Remedy: `write {"connection":"…","statement":"…"}, with args and timeout if needed`,
		}
	}
	return s, s.Validate()
}

// statementWords are the first words of the statements that a job may run.
// Others end the transaction, change the session or its role, or reach other
// databases and files.
var statementWords = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "WITH", "VALUES", "CALL", "REFRESH", "TRUNCATE"}

// Validate reports everything that is wrong with the statement, each as a
// *check.FieldError joined by errors.Join, or nil. The messages do not contain
// the statement or its args, because they may be secret.
func (s SQL) Validate() error {
	errs := []error{check.Name("connection", s.Connection), checkUTF8("statement", s.Statement)}
	text := trimStatement(s.Statement)
	switch {
	case text == "":
		errs = append(errs, &check.FieldError{Field: "statement", Problem: "is empty", Remedy: "write one SQL statement"})
	case !slices.Contains(statementWords, firstWord(text)):
		errs = append(errs, &check.FieldError{
			Field:   "statement",
			Problem: "begins with another word than " + strings.Join(statementWords, ", "),
			Remedy:  "put other work into a function or procedure of the database",
		})
	case strings.ContainsAny(text, ";\x00"):
		errs = append(errs, &check.FieldError{
			Field: "statement", Problem: "has a semicolon before its end",
			Remedy: "give one statement, and a text with a semicolon in args",
		})
	}
	for i, arg := range s.Args {
		if _, err := s.value(arg, nil); err != nil {
			errs = append(errs, &check.FieldError{
				Field: fmt.Sprintf("args[%d]", i), Problem: err.Error(),
				Remedy: `use a text, a number, true, false, null, or {"job": "token"}; write JSON as a text`,
			})
		}
	}
	if s.Timeout < 0 || time.Duration(s.Timeout) > hourbell.MaxDuration {
		errs = append(errs, &check.FieldError{
			Field: "timeout", Value: time.Duration(s.Timeout).String(),
			Problem: "is out of range", Remedy: "use a positive duration such as 30s, or leave it out",
		})
	}
	return errors.Join(errs...)
}

// trimStatement removes white space around a statement, and its last semicolon.
func trimStatement(text string) string {
	return strings.TrimRightFunc(strings.TrimSuffix(strings.TrimSpace(text), ";"), unicode.IsSpace)
}

// firstWord returns the first word of a statement in upper case.
func firstWord(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		end = len(text)
	}
	return strings.ToUpper(text[:end])
}

// value returns an element of Args as package database/sql takes it. Without a
// job it only checks the element.
func (s SQL) value(arg any, job *hourbell.JobRow) (any, error) {
	switch arg := arg.(type) {
	case nil, bool, string, int, int64, float64:
		return arg, nil
	case json.Number:
		if n, err := arg.Int64(); err == nil {
			return n, nil
		}
		return arg.Float64()
	case map[string]any:
		what, _ := arg["job"].(string)
		if len(arg) == 1 {
			return jobValue(what, job)
		}
	}
	return nil, errors.New("is a value that no parameter can have")
}

// jobValue returns a value of the job for a parameter.
func jobValue(what string, job *hourbell.JobRow) (any, error) {
	if job == nil {
		job = &hourbell.JobRow{}
	}
	switch what {
	case "id":
		return job.ID, nil
	case "token":
		return job.Token, nil
	case "attempt":
		return int64(job.Attempt), nil
	case "slot":
		if job.Slot.IsZero() {
			return nil, nil
		}
		return job.Slot.UTC().Format(time.RFC3339Nano), nil
	}
	return nil, errors.New("names no value of the job: use id, token, attempt or slot")
}

// values returns the values of all parameters.
func (s SQL) values(job *hourbell.JobRow) ([]any, error) {
	values := make([]any, len(s.Args))
	for i, arg := range s.Args {
		var err error
		if values[i], err = s.value(arg, job); err != nil {
			return nil, err
		}
	}
	return values, nil
}
