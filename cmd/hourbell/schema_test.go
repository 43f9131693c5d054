package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/schedulefile"
	"github.com/hourbell/hourbell/internal/declared"
)

// printedSchema returns what `hourbell schema` prints, compiled and as JSON.
func printedSchema(t *testing.T) (*jsonschema.Schema, map[string]any) {
	t.Helper()
	text := newBench(t).ok("schema")
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("hourbell.schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("hourbell.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled, document.(map[string]any)
}

// validate validates a YAML text.
func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(asJSON)))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

// TestSchemaAcceptsGoodFiles checks the schema with the files of the examples, and with the file of
// `hourbell init`.
func TestSchemaAcceptsGoodFiles(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	texts := map[string]string{"init.yaml": string(firstFile), "init.yaml with all its examples": uncommented(firstFile)}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	s, _ := printedSchema(t)
	for name, text := range texts {
		if err := validate(t, s, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// mapping is a mapping of a schedule file for TestSchemaAndReaderAgree: where it is in the schema, the
// keys that it needs, and a file around it.
type mapping struct {
	properties []string // the path in the schema
	need       map[string]string
	replaces   map[string]string // by tested key, the needed key that it stands for
	with       map[string]string // by tested key, other pairs, instead of the needed key that they stand for
	file       string            // %s is the mapping in flow style
}

const aCall = "url: https://example.org"

var mappings = map[string]mapping{
	"file": {
		properties: []string{"properties"}, need: map[string]string{"schedules": "[]"}, file: "%s",
	},
	"schedule": {
		properties: []string{"properties", "schedules", "items", "properties"},
		need:       map[string]string{"name": "a", "every": "1h", "shell": "date"},
		replaces: map[string]string{
			"cron": "every", "on_calendar": "every", "at": "every", "after": "every", "command": "shell", "http": "shell", "sql": "shell", "kind": "shell",
			"gap": "every", "fold": "every", "dialect": "every", "tz": "every", "args": "shell",
		},
		with: map[string]string{
			"gap": "cron: 0 3 * * *", "fold": "cron: 0 3 * * *", "dialect": "cron: 0 0 3 * * ?", "tz": "cron: 0 3 * * *", "args": "kind: k",
			"window": "misfire: all", "misfire_cap": "misfire: all",
		},
		file: "schedules: [%s, {name: b, every: 1h, shell: date}]",
	},
	"kind":  {properties: []string{"properties", "kinds", "additionalProperties", "properties"}, file: "{kinds: {k: %s}, schedules: []}"},
	"keep":  {properties: []string{"properties", "kinds", "additionalProperties", "properties", "keep", "properties"}, file: "{kinds: {k: {keep: %s}}, schedules: []}"},
	"group": {properties: []string{"properties", "groups", "additionalProperties", "properties"}, file: "{groups: {g: %s}, schedules: []}"},
	"limit": {
		properties: []string{"properties", "limits", "additionalProperties", "properties"}, need: map[string]string{"kind": "k", "concurrency": "1"},
		replaces: map[string]string{"rate": "kind", "burst": "kind"},
		with:     map[string]string{"rate": "queue: q", "burst": "queue: q, rate: 10/s", "weights": "by_key: true"},
		file:     "{limits: {l: %s}, schedules: []}",
	},
	"edge": {
		properties: []string{"properties", "schedules", "items", "properties", "after", "anyOf", "1", "properties"}, need: map[string]string{"schedule": "b"},
		file: "schedules: [{name: a, after: %s, shell: date}, {name: b, every: 1h, shell: date}]",
	},
	"place": {
		properties: []string{"properties", "schedules", "items", "properties", "on", "anyOf", "1", "properties"},
		file:       "schedules: [{name: a, every: 1h, shell: date, on: %s}]",
	},
	"every host": {
		properties: []string{"properties", "schedules", "items", "properties", "on", "anyOf", "1", "properties", "every", "properties"},
		file:       "schedules: [{name: a, every: 1h, shell: date, on: {every: %s}}]",
	},
	"http": {
		properties: []string{"definitions", "request", "properties"}, need: map[string]string{"url": "https://example.org"},
		file: "schedules: [{name: a, every: 1h, http: %s}]",
	},
	"sql": {
		properties: []string{"properties", "schedules", "items", "properties", "sql", "properties"}, need: map[string]string{"connection": "app", "statement": "SELECT 1"},
		file: "schedules: [{name: a, every: 1h, sql: %s}]",
	},
	"hook": {
		properties: []string{"definitions", "hook", "anyOf", "1", "properties"}, need: map[string]string{"shell": "date"},
		replaces: map[string]string{"command": "shell", "url": "shell", "method": "shell", "header": "shell", "body": "shell", "timeout": "shell", "retry": "shell", "redirects": "shell"},
		with:     map[string]string{"method": aCall, "header": aCall, "body": aCall, "timeout": aCall, "retry": aCall, "redirects": aCall},
		file:     "{on_failure: %s, schedules: []}",
	},
	"calendar": {properties: []string{"definitions", "calendar", "properties"}, file: "{calendars: {c: %s}, schedules: []}"},
	"rule": {
		properties: []string{"definitions", "rule", "properties"}, need: map[string]string{"cron": "0 3 * * *"},
		replaces: map[string]string{"every": "cron", "at": "cron", "dialect": "cron"},
		with:     map[string]string{"dialect": "cron: 0 0 3 * * ?", "every": "start: 2027-03-01T09:00:00Z"},
		file:     "{calendars: {c: {rules: [%s]}}, schedules: []}",
	},
}

// values are values of every type. Each text is a good value of some key.
var values = []string{
	"", "null", "true", "7", "-1", "1.5", `"7"`, `"true"`, "text", `""`, "90s", "1h30m", ".5h", "30d", "none", "weekly", `"@daily"`, `"* * * * *"`, "2027-03-01T09:00:00Z",
	"Europe/Prague", "success", "end", "either", "failure", "ignore", "keep", "node", "cron", "retry", "fail", "skip", "queue", "replace", "all", "once", "shift", "both", "quartz",
	"b", "b:failure:5m", "pipefail", "one", "every", "host=tower", "role=db", "12-24..12-26 Christmas", "sat", "5xx", "POST", "https://example.org", "linear:10s:1h", "SELECT 1", "10/s",
	"[]", "[a]", "[a, 1, true]", "[null]", "[[a]]", "[{a: b}]", "[sat]", "[b]", `["12-25"]`, "[5xx]", "[date, https://example.org]", "[{schedule: b}]", "[{every: 1h}]",
	"{}", "{a: b}", "{a: 1}", "{a: null}", "{a: [b]}", "{schedule: b, on: failure}", "{host: tower}", "{label: role=db}", "{shell: date}", "{url: https://example.org}",
	"{connection: app, statement: SELECT 1}", "{a: {keep: {completed: none}}}", "{a: {weekdays: [sat]}}", "{a: {on_failure: date}}", "{completed: 1h}", "{unknown: 1}",
}

// TestSchemaAndReaderAgree gives each key of each mapping values of every type: the schema accepts
// whatever the reader accepts, each key has a value that both accept, both refuse an unknown key, and
// the schema refuses a value of a type that the reader refuses, unless another value of the same type is good.
func TestSchemaAndReaderAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("reads thousands of files")
	}
	compiled, document := printedSchema(t)
	for name, m := range mappings {
		known := lookUp(t, document, m.properties)
		for key, description := range known {
			if text, _ := description.(map[string]any)["description"].(string); text == "" || strings.HasSuffix(text, ".") {
				t.Errorf("%s: %s has the description %q", name, key, text)
			}
			checkKey(t, compiled, name, m, key)
		}
		if read, valid := m.tries(t, compiled, "unknown", "1"); read || valid {
			t.Errorf("%s: an unknown key is read: %v, and valid: %v", name, read, valid)
		}
	}
}

// checkKey gives one key values of every type.
func checkKey(t *testing.T, s *jsonschema.Schema, name string, m mapping, key string) {
	t.Helper()
	good := 0
	readTypes := map[string]bool{} // the types with a value that the reader accepts
	validTypes := map[string]string{}
	for _, value := range values {
		read, valid := m.tries(t, s, key, value)
		kind := typeOf(t, value)
		switch {
		case read && !valid:
			t.Errorf("%s: %s: %s is read, and the schema refuses it", name, key, value)
		case read:
			good++
		}
		readTypes[kind] = readTypes[kind] || read
		if valid {
			validTypes[kind] = value
		}
	}
	if good == 0 {
		t.Errorf("%s: %s: no value is read", name, key)
	}
	for kind, value := range validTypes {
		if !readTypes[kind] && (kind == "mapping" || kind == "list" || kind == "null") {
			t.Errorf("%s: %s: the schema accepts %s, and the reader no value of this type", name, key, value)
		}
	}
}

// tries reports whether the reader and the schema accept a value of a key.
func (m mapping) tries(t *testing.T, s *jsonschema.Schema, key, value string) (read, valid bool) {
	t.Helper()
	pairs := []string{key + ": " + value}
	for needed, its := range m.need {
		if needed != key && m.replaces[key] != needed {
			pairs = append(pairs, needed+": "+its)
		}
	}
	if with := m.with[key]; with != "" {
		pairs = append(pairs, with)
	}
	text := fmt.Sprintf(m.file, "{"+strings.Join(pairs, ", ")+"}")
	_, err := schedulefile.Read("x.yaml", []byte(text))
	return err == nil, validate(t, s, text) == nil
}

// typeOf returns the type of a value in YAML.
func typeOf(t *testing.T, value string) string {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte("v: "+value), &v); err != nil {
		t.Fatal(err)
	}
	switch v := v.(map[string]any)["v"].(type) {
	case nil:
		return "null"
	case []any:
		return "list"
	case map[string]any:
		return "mapping"
	default:
		return fmt.Sprintf("%T", v)
	}
}

// lookUp follows a path in a JSON document.
func lookUp(t *testing.T, document any, path []string) map[string]any {
	t.Helper()
	for _, name := range path {
		switch d := document.(type) {
		case map[string]any:
			document = d[name]
		case []any:
			document = d[int(name[0]-'0')]
		}
	}
	found, _ := document.(map[string]any)
	if len(found) == 0 {
		t.Fatalf("the schema has nothing at %q", path)
	}
	return found
}

// TestSchemaRefusesWhatAScheduleLacks checks the requirements of several keys.
func TestSchemaRefusesWhatAScheduleLacks(t *testing.T) {
	s, _ := printedSchema(t)
	for _, entry := range []string{
		"{every: 1h, shell: date}", "{name: a, shell: date}", "{name: a, every: 1h}", "{name: a, every: 1h, cron: '* * * * *', shell: date}",
		"{name: a, every: 1h, shell: date, command: [date]}", "{name: a, every: 1h, shell: date, args: {}}", "{name: a, every: 1h, kind: k, dir: /}",
		"{name: a, every: 1h, http: {method: GET}}", "{name: a, every: 1h, sql: {connection: c}}", "{name: a, after: {on: success}, shell: date}",
	} {
		text := "schedules: [" + entry + "]"
		if _, err := schedulefile.Read("x.yaml", []byte(text)); err == nil {
			t.Errorf("%s is read", entry)
		}
		if validate(t, s, text) == nil {
			t.Errorf("the schema accepts %s", entry)
		}
	}
}

// TestSchemaKnowsEveryKey checks that each mapping of the schema with keys of its own is one of the mappings of
// TestSchemaAndReaderAgree, and that the schema has every key that schedule files share with crontabs.
func TestSchemaKnowsEveryKey(t *testing.T) {
	_, document := printedSchema(t)
	tested := 0
	for _, m := range mappings {
		tested += len(lookUp(t, document, m.properties))
	}
	all := map[string]bool{}
	countProperties(document, all)
	if len(all) != tested {
		t.Errorf("the schema has %d different keys of mappings, and the tests know %d", len(all), tested)
	}
	for _, key := range declared.KeyNames() {
		if _, known := lookUp(t, document, mappings["schedule"].properties)[key]; !known {
			t.Errorf("%s is not in the schema", key)
		}
	}
}

// countProperties collects every property of the schema, by the mapping that it belongs to.
func countProperties(document any, all map[string]bool) {
	switch d := document.(type) {
	case map[string]any:
		if properties, ok := d["properties"].(map[string]any); ok && d["additionalProperties"] == false {
			for name := range properties {
				all[fmt.Sprint(d["description"])+"\x00"+name] = true
			}
		}
		for _, value := range d {
			countProperties(value, all)
		}
	case []any:
		for _, value := range d {
			countProperties(value, all)
		}
	}
}
