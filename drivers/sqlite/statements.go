package sqlite

import (
	"embed"
	"fmt"
	"sync"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
	"github.com/hourbell/hourbell/store/sqltext"
)

//go:generate go run github.com/hourbell/hourbell/store/sqltext/declare

//go:embed sql/*.sql sql/macros/*.sql
var sqlFiles embed.FS

// statement is one of the SQL statements that the driver sends. Each has a file in
// sql/; a file whose lines depend on conditions has several statements.
type statement = sqlrows.Statement

// allTexts returns what readTexts reads. The texts are the same for all files, so a process reads
// them once.
var allTexts = sync.OnceValues(readTexts)

// readTexts reads the text of each statement.
func readTexts() ([]sqlrows.Text, error) {
	return sources.Read(sqlFiles, sqltext.Rules{Words: store.OriginWords(), Lists: sqlrows.Lists()}, nil)
}

// valuesOf returns the arguments of a statement. Arguments that the statement
// lacks, and missing arguments, are an error.
func valuesOf(name statement, t *sqlrows.Text, a args) ([]any, error) {
	list := make([]any, 0, len(a))
	for _, parameterName := range t.Params {
		value, passed := a[parameterName]
		if !passed {
			return nil, fmt.Errorf("statement %v: parameter %s is not passed", sources[name], parameterName)
		}
		list = append(list, parameter(parameterName, value))
	}
	if len(list) != len(a) {
		return nil, fmt.Errorf("statement %v has the parameters %v only", sources[name], t.Params)
	}
	return list, nil
}
