package locksql

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// testDialect returns a dialect whose files have the given texts, by name, and
// otherwise are empty.
func testDialect(texts map[string]string) *Dialect {
	required := []string{"check", "check_shared", "extend", "free", "list", "look", "release", "tables", "take", "take_slot", "trigger"}
	content := fstest.MapFS{}
	for _, name := range slices.Concat(required, slices.Collect(maps.Keys(texts))) {
		content[name+".sql"] = &fstest.MapFile{Data: []byte(texts[name])}
	}
	return &Dialect{
		Files: content, Table: "lock", Qualified: true, TableAdvice: "give another name",
		Fits:  func(_, table string) bool { return len(table) < 10 },
		Quote: func(name string) string { return "<" + name + ">" },
		Macros: func(until, _ Column) map[string]Macro {
			return map[string]Macro{
				"now":   func(string) string { return "coalesce(:now, now())" },
				"until": func(x string) string { return "(" + x + ")::" + until.Kind },
			}
		},
	}
}

func compiled(t *testing.T, d *Dialect, s statement) []template {
	t.Helper()
	parts, err := d.compile(s, d.Macros(Column{Kind: "int"}, Column{}), d.names("a:b", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

func TestStatementsAreFilledIn(t *testing.T) {
	d := testDialect(map[string]string{
		"take": "-- no row: none\nUPDATE {table} SET until = {until({now} + :hold::int)} WHERE {now} > 1 AND owner ~ '[A-Z]{26}$' AND name = :name;\n\n" +
			"UPDATE {state} SET a = :name, b = :name, t = '12:30';\n",
	})
	parts := compiled(t, d, takeSQL)
	want := []string{
		"-- no row: none\nUPDATE <a:b>.<lock> SET until = (coalesce($1, now()) + $2::int)::int WHERE coalesce($1, now()) > 1 AND owner ~ '[A-Z]{26}$' AND name = $3",
		"UPDATE <a:b>.<lock_state> SET a = $1, b = $1, t = '12:30'",
	}
	commands := bind(parts, &values{pHold: int64(5), pName: "n"})
	if len(commands) != len(want) {
		t.Fatalf("%d statements, want %d", len(commands), len(want))
	}
	for i, c := range commands {
		if c.Text != want[i] {
			t.Errorf("got  %s\nwant %s", c.Text, want[i])
		}
	}
	if first := []any{nil, int64(5), "n"}; !slices.Equal(commands[0].Args, first) || !slices.Equal(commands[1].Args, []any{"n"}) {
		t.Errorf("the values are %v and %v", commands[0].Args, commands[1].Args)
	}
	d.QuestionMarks = true
	parts = compiled(t, d, takeSQL)
	if text := parts[1].text; text != "UPDATE <a:b>.<lock_state> SET a = ?, b = ?, t = '12:30'" || !slices.Equal(parts[1].order, []parameter{pName, pName}) {
		t.Errorf("got %s with %v", text, parts[1].order)
	}
}

func TestValidateFindsMistakes(t *testing.T) {
	if err := testDialect(nil).Validate(); err != nil {
		t.Errorf("without a mistake: %v", err)
	}
	for want, texts := range map[string]map[string]string{
		"no such statement":                      {"lokc": ""},
		"extend.sql: there is no parameter :nam": {"extend": "SELECT :nam"},
		"look.sql: {tabel} has no rule":          {"look": "SELECT * FROM {tabel}"},
	} {
		if err := testDialect(texts).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v; want %q", texts, err, want)
		}
	}
	d := testDialect(nil)
	delete(d.Files.(fstest.MapFS), "take_slot.sql")
	if err := d.Validate(); err == nil || !strings.Contains(err.Error(), "take_slot.sql") {
		t.Errorf("without take_slot: %v", err)
	}
}
