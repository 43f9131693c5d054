package locksql

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hourbell/hourbell/store/sqltext"
)

// statement is one of the statements of a dialect.
type statement uint8

const (
	checkSQL statement = iota
	checkSharedSQL
	columnsSQL
	extendSQL
	freeSQL
	listSQL
	lookSQL
	ownedSQL
	releaseSQL
	seedSQL
	tablesSQL
	takeSQL
	takeSlotSQL
	touchSQL
	touchSharedSQL
	triggerSQL
	statementCount
)

// files has the name of each statement's file, without ".sql".
var files = [statementCount]string{
	checkSQL: "check", checkSharedSQL: "check_shared", columnsSQL: "columns", extendSQL: "extend", freeSQL: "free", listSQL: "list", lookSQL: "look",
	ownedSQL: "owned", releaseSQL: "release", seedSQL: "seed", tablesSQL: "tables", takeSQL: "take", takeSlotSQL: "take_slot",
	touchSQL: "touch", touchSharedSQL: "touch_shared", triggerSQL: "trigger",
}

// optional reports whether a dialect may lack a statement.
func (s statement) optional() bool {
	return s == columnsSQL || s == ownedSQL || s == seedSQL || s == touchSQL || s == touchSharedSQL
}

// parameter is a named parameter of the statements.
type parameter uint8

const (
	pAfter parameter = iota
	pAnchor
	pAtLeast
	pFrom
	pHold
	pLimit
	pName
	pNames
	pNow
	pOwner
	pPatience
	pRest
	pSchema
	pSeen
	pSlot
	pStep
	pTable
	pToken
	pUntil
	parameterCount
)

// parameters has the name of each parameter in the statements.
var parameters = [parameterCount]string{
	pAfter: "after", pAnchor: "anchor", pAtLeast: "at_least", pFrom: "from", pHold: "hold", pLimit: "limit", pName: "name", pNames: "names",
	pNow: "now", pOwner: "owner", pPatience: "patience", pRest: "rest", pSchema: "schema", pSeen: "seen", pSlot: "slot", pStep: "step",
	pTable: "table", pToken: "token", pUntil: "until",
}

// values are the values of the parameters; nil is null.
type values [parameterCount]any

// template is a statement with the placeholders of its database, and the
// parameter for each placeholder.
type template struct {
	text  string
	order []parameter
}

// bind returns the commands of a statement with their values.
func bind(parts []template, v *values) []Command {
	commands := make([]Command, len(parts))
	for i, part := range parts {
		args := make([]any, len(part.order))
		for j, p := range part.order {
			args[j] = v[p]
		}
		commands[i] = Command{part.text, args}
	}
	return commands
}

// has reports whether a dialect has a statement, which may be optional.
func (d *Dialect) has(s statement) bool {
	_, err := fs.Stat(d.Files, files[s]+".sql")
	return err == nil
}

// read returns the text of a statement's file.
func (d *Dialect) read(s statement) (string, error) {
	text, err := fs.ReadFile(d.Files, files[s]+".sql")
	if err != nil {
		return "", fmt.Errorf("read statement: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// separator is between the statements of a file.
const separator = ";\n\n"

// compile makes the templates of a file's statements. It replaces macros first,
// then parameters, and names last, because names may contain anything.
func (d *Dialect) compile(s statement, macros map[string]Macro, names sqltext.Rules) ([]template, error) {
	text, err := d.read(s)
	if err != nil {
		return nil, err
	}
	var parts []template
	for part := range strings.SplitSeq(sqltext.Expand(text, macros), separator) {
		compiled, err := d.parameterise(strings.TrimSuffix(part, ";"))
		if err == nil {
			compiled.text, err = names.Fill(compiled.text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s.sql: %w", files[s], err)
		}
		parts = append(parts, compiled)
	}
	return parts, nil
}

// parameterise replaces named parameters by placeholders.
func (d *Dialect) parameterise(text string) (t template, err error) {
	used := sqltext.Parameters(text)
	if t.text, err = sqltext.Number(text, used); err != nil {
		return t, err
	}
	for _, name := range used {
		p := slices.Index(parameters[:], name)
		if p < 0 {
			return t, fmt.Errorf("there is no parameter :%s", name)
		}
		t.order = append(t.order, parameter(p))
	}
	if !d.QuestionMarks {
		return t, nil
	}
	numbered := t.order
	t.order = nil
	t.text = regexp.MustCompile(`\$\d+`).ReplaceAllStringFunc(t.text, func(placeholder string) string {
		n, _ := strconv.Atoi(placeholder[1:])
		t.order = append(t.order, numbered[n-1])
		return "?"
	})
	return t, nil
}

// Validate returns the mistakes in the statements of a dialect: a missing file,
// an unknown file, parameter or word in braces. It is for the tests of a
// driver.
func (d *Dialect) Validate() error {
	entries, err := fs.ReadDir(d.Files, ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !slices.Contains(files[:], strings.TrimSuffix(entry.Name(), ".sql")) {
			return fmt.Errorf("%s: there is no such statement", entry.Name())
		}
	}
	names, macros := d.names("schema", "table"), d.Macros(Column{Precision: 6}, Column{Precision: 6})
	for s := range statementCount {
		if s.optional() && !d.has(s) {
			continue
		}
		if _, err := d.compile(s, macros, names); err != nil {
			return err
		}
	}
	return nil
}
