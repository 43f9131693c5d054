package sqltext_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hourbell/hourbell/store/sqltext"
)

var rules = sqltext.Rules{
	Words:  map[string]string{"schema": `"my: schema"`},
	Macros: map[string]string{"within": "($1 = $2 OR {under($1, $2)})", "under": "$1 LIKE $2 || '{%'"},
	Lists:  map[string]string{"spec": "kind text, max_attempts smallint", "plain": "a, b"},
}

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		text  string
		given string
		want  string
	}{
		{"SELECT 1 FROM {schema}.job", "", `SELECT 1 FROM "my: schema".job`},
		{"a {spec} b", "", "a kind, max_attempts b"},
		{"{j.spec}", "", "j.kind, j.max_attempts"},
		{"{:spec::type[]}", "", ":kind::text[], :max_attempts::smallint[]"},
		{"{value ->> 'spec'}", "", "value ->> 'kind', value ->> 'max_attempts'"},
		{"{plain}", "", "a, b"},
		{"NOT {within(j.queue, :name::text)} {spec}", "", "NOT (j.queue = :name::text OR j.queue LIKE :name::text || '{%') kind, max_attempts"},
		{"'{4}' '{3,5}' '{}'", "", "'{4}' '{3,5}' '{}'"},
		{"a\nb -- if x\nc -- if y\nd", "x", "a\nb -- if x\nd"},
		{"a\nb -- if x\nc -- if y\nd", "x y", "a\nb -- if x\nc -- if y\nd"},
		{"a -- if this is no condition", "", "a -- if this is no condition"},
	} {
		got, err := rules.Complete(c.text, strings.Fields(c.given)...)
		if err != nil || got != c.want {
			t.Errorf("Complete(%q, %q) = %q, %v; want %q", c.text, c.given, got, err, c.want)
		}
	}
}

func TestCompleteRefuses(t *testing.T) {
	for _, c := range []struct{ text, given, want string }{
		{"SELECT {nothing}", "", "{nothing} has no rule"},
		{"SELECT {nothing(a, b)}", "", "{nothing(a, b)} has no rule"},
		{"a -- if x", "y", "no line has the condition y"},
	} {
		if _, err := rules.Complete(c.text, strings.Fields(c.given)...); err == nil || err.Error() != c.want {
			t.Errorf("Complete(%q, %q) returned error %v, want %q", c.text, c.given, err, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	const text = "-- The jobs :b.\nSELECT :a::text, x::bigint, '12:30', :b, :a + :a_b -- not :c\n"
	got, err := sqltext.Number(text, []string{"b", "a", "a_b"})
	if want := "-- The jobs :b.\nSELECT $2::text, x::bigint, '12:30', $1, $2 + $3 -- not :c\n"; err != nil || got != want {
		t.Errorf("Number = %q, %v; want %q", got, err, want)
	}
	if got := sqltext.Parameters(text); !slices.Equal(got, []string{"a", "b", "a_b"}) {
		t.Errorf("Parameters = %q", got)
	}
	for names, want := range map[string]string{"a b": "parameter a_b is not passed", "a b a_b c": "parameter c is not used"} {
		if _, err := sqltext.Number(text, strings.Fields(names)); err == nil || err.Error() != want {
			t.Errorf("Number with %q returned error %v, want %q", names, err, want)
		}
	}
}

func TestWithMacros(t *testing.T) {
	files := fstest.MapFS{
		"sql/a.sql":          {Data: []byte("SELECT 1")},
		"sql/macros/due.sql": {Data: []byte("-- A job is due.\n(run_at <= $1\n    AND {within(queue, $2)})\n")},
	}
	with, err := rules.WithMacros(files, "sql/macros")
	if err != nil {
		t.Fatal(err)
	}
	got, err := with.Complete("WHERE {due(:now, :queue)} -- if due", "due")
	if want := "WHERE (run_at <= :now AND (queue = :queue OR queue LIKE :queue || '{%')) -- if due"; err != nil || got != want {
		t.Errorf("Complete = %q, %v; want %q", got, err, want)
	}
	if _, changed := rules.Macros["due"]; changed {
		t.Error("WithMacros changed the rules that it was called on")
	}
}

func TestConditions(t *testing.T) {
	if got := sqltext.Conditions("a -- if y\nb -- if x\nc\nd -- if y\n"); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("Conditions = %q", got)
	}
}

func TestNames(t *testing.T) {
	if got := rules.Names("id {spec} args"); !slices.Equal(got, []string{"id", "kind", "max_attempts", "args"}) {
		t.Errorf("Names = %q", got)
	}
}

func TestExpand(t *testing.T) {
	macros := map[string]func(string) string{
		"now": func(string) string { return "now()" },
		"up":  func(x string) string { return "ceil(" + x + ")" },
	}
	for text, want := range map[string]string{
		"{up({now} + :hold * (1 + 2))} > {now}": "ceil(now() + :hold * (1 + 2)) > now()",
		"{up({up(1)})} FROM {table}":            "ceil(ceil(1)) FROM {table}",
		"'[A-Z]{26}$' {down({now})}":            "'[A-Z]{26}$' {down(now())}",
		"a { b":                                 "a { b",
	} {
		if got := sqltext.Expand(text, macros); got != want {
			t.Errorf("Expand(%q) = %q, want %q", text, got, want)
		}
	}
	if _, err := rules.Fill(sqltext.Expand("{down({now})}", macros)); err == nil {
		t.Error("a macro that is not known must be an error")
	}
}

func TestPieces(t *testing.T) {
	got := sqltext.Pieces("-- The jobs :b.\nSELECT :a + x -- not :c\nFROM y WHERE z = '12:30' AND q IN (:b)")
	want := []sqltext.Piece{{Code: "SELECT ", Parameter: "a"}, {Code: " + x\nFROM y WHERE z = '12:30' AND q IN (", Parameter: "b"}, {Code: ")"}}
	if !slices.Equal(got, want) {
		t.Errorf("Pieces = %q, want %q", got, want)
	}
}
