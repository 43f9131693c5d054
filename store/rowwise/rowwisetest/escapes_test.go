package rowwisetest

import (
	"slices"
	"strings"
	"testing"
)

// TestEscapes reads functions that keep to the rule and functions that do not.
func TestEscapes(t *testing.T) {
	const head = `package p
var counter int
func f(s *state, list []int, out T) (err error) {
	var found bool
`
	const tail = "\n\treturn err\n}\n"
	for name, test := range map[string]struct {
		body string
		want []string // the names that are reported
	}{
		"returns":               {`run(func(tx Tx) (T, error) { out, err := tx.read(); return out, err })`, nil},
		"named results":         {`run(func(tx Tx) (out T, err error) { out, err = tx.read(); return out, err })`, nil},
		"own variables":         {`run(func(tx Tx) error { var a []int; a = append(a, 1); a[0]++; b := &a; delete(m(), *b); return nil })`, nil},
		"a loop of its own":     {`run(func(tx Tx) error { for i, one := range tx.rows() { i++; one.x = 1 }; return nil })`, nil},
		"other types":           {`run(func(tx Other) error { out = T{}; return nil })`, nil},
		"a name of another":     {`run(func(tx Tx) error { return tx.note(T{out: 1}) })`, nil},
		"an assignment":         {`run(func(tx Tx) error { out, err = tx.read(); return err })`, []string{"out", "err"}},
		"a field":               {`run(func(tx Tx) error { s.made = true; return nil })`, []string{"s"}},
		"an element":            {`run(func(tx Tx) error { list[0] += 1; return nil })`, []string{"list"}},
		"an address":            {`run(func(tx Tx) error { return tx.scan(&out.Now) })`, []string{"out"}},
		"a function within":     {`run(func(tx Tx) error { return tx.each(func() { found = true }) })`, []string{"found"}},
		"the package":           {`run(func(tx Tx) error { counter++; return nil })`, []string{"counter"}},
		"a loop over an outer":  {`run(func(tx Tx) error { for found = range tx.rows() { }; return nil })`, []string{"found"}},
		"a list that is copied": {`run(func(tx Tx) error { copy(list, tx.rows()); return nil })`, []string{"list"}},
		"a reason":              {"run(func(tx Tx) error {\n// kept: a count of tries\ncounter++\nfound = true // kept: a hint\nreturn nil })", nil},
		"a reason elsewhere":    {"run(func(tx Tx) error {\n// kept: a count of tries\nx := 1\ncounter += x\nreturn nil })", []string{"counter"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, functions, err := escapes("p.go", []byte(head+test.body+tail), []string{"Tx"})
			if err != nil {
				t.Fatal(err)
			}
			for i := range found {
				found[i] = found[i][strings.LastIndex(found[i], " ")+1:]
			}
			if !slices.Equal(found, test.want) || (functions == 0) != (name == "other types") {
				t.Errorf("%q of %d functions, want %q", found, functions, test.want)
			}
		})
	}
}
