package schedulefile

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/hourbell/hourbell/internal/declared"
)

// Schema returns the JSON Schema (draft 7, which most editors read) of schedule files, for editors
// and other checks outside Hourbell. It is made of the keys that Read knows. It accepts every
// file that Read accepts, and refuses unknown keys and values of another type; what a text has
// to be, such as a rule or a zone, only Read checks.
func Schema() ([]byte, error) {
	root := fileKeys.schema("Schedules for Hourbell. `hourbell check FILE` names all mistakes of a file.", "schedules")
	root.Schema, root.Title = "http://json-schema.org/draft-07/schema#", "Hourbell schedule file"
	root.Definitions = map[string]*schema{"hook": aHook(), "request": httpKeys.schema("An HTTP request", "url")}
	maps.Copy(root.Definitions, calendarDefinitions())
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(root)
	return out.Bytes(), err
}

// schema is a JSON Schema, as far as schedule files need it.
type schema struct {
	Schema        string             `json:"$schema,omitempty"`
	Ref           string             `json:"$ref,omitempty"`
	Title         string             `json:"title,omitempty"`
	Description   string             `json:"description,omitempty"`
	Type          types              `json:"type,omitempty"`
	Enum          []string           `json:"enum,omitempty"`
	Pattern       string             `json:"pattern,omitempty"`
	Minimum       *int64             `json:"minimum,omitempty"`
	Maximum       *int64             `json:"maximum,omitempty"`
	MinItems      int                `json:"minItems,omitempty"`
	Items         *schema            `json:"items,omitempty"`
	Properties    properties         `json:"properties,omitempty"`
	Additional    any                `json:"additionalProperties,omitempty"` // false, or the *schema of other keys
	Required      []string           `json:"required,omitempty"`
	MinProperties int                `json:"minProperties,omitempty"`
	MaxProperties int                `json:"maxProperties,omitempty"`
	Dependencies  map[string]any     `json:"dependencies,omitempty"` // []string or *schema
	AllOf         []*schema          `json:"allOf,omitempty"`
	AnyOf         []*schema          `json:"anyOf,omitempty"`
	OneOf         []*schema          `json:"oneOf,omitempty"`
	Definitions   map[string]*schema `json:"definitions,omitempty"`
}

// types are the types that a value may have.
type types []string

// MarshalJSON writes a list only of several types.
func (t types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// properties are the keys of a mapping, in the order of the reader's messages.
type properties []property

type property struct {
	name  string
	value *schema
}

// MarshalJSON writes an object.
func (p properties) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for i, one := range p {
		out.WriteByte("{,"[min(i, 1)])
		if err := encoder.Encode(one.name); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := encoder.Encode(one.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// The functions below return the schemas of values, as the reader's functions of similar names read
// them: a text may be any single value, because YAML writes 9 and true without quotes.

func aText() *schema { return &schema{Type: []string{"string", "number", "boolean"}} }

func aNumber(least, most int64) *schema {
	return &schema{Type: []string{"integer"}, Minimum: &least, Maximum: &most}
}

func aTruth() *schema { return &schema{Type: []string{"boolean"}} }

// aDuration is as time.ParseDuration reads it.
func aDuration() *schema {
	return &schema{Type: []string{"string"}, Pattern: `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`}
}

func aChoice(words ...string) *schema { return &schema{Enum: words} }

func aList(items *schema) *schema { return &schema{Type: []string{"array"}, Items: items} }

// oneOrMore is a text or a list of texts.
func oneOrMore() *schema { return &schema{AnyOf: []*schema{aText(), aList(aText())}} }

// named is a mapping whose keys are names.
func named(value *schema) *schema { return &schema{Type: []string{"object"}, Additional: value} }

func anything() *schema { return &schema{} }

func ref(name string) *schema { return &schema{Ref: "#/definitions/" + name} }

// aHook is one hook.
func aHook() *schema {
	mapping := hookKeys.schema("A hook in full")
	mapping.OneOf = needOne("command", "shell", "url")
	return &schema{
		Description: "A line for the shell, a URL, a mapping with command, shell or url, or none",
		AnyOf:       []*schema{{Type: []string{"string", "number", "boolean", "null"}}, mapping},
	}
}

// hooks is the value of a key of hooks.
func hooks() *schema {
	return &schema{AnyOf: []*schema{ref("hook"), aList(ref("hook"))}}
}

// needOne returns alternatives, one for each key, which requires the key.
func needOne(keys ...string) []*schema {
	alternatives := make([]*schema, len(keys))
	for i, key := range keys {
		alternatives[i] = &schema{Required: []string{key}}
	}
	return alternatives
}

// aSchedule is one schedule. Lists of requirements that one schema cannot hold twice are parts of
// AllOf.
func aSchedule() *schema {
	s := entryKeys.schema("A schedule: its name, when it rings, and what it runs", "name")
	s.AllOf = []*schema{{OneOf: needOne(ruleNames...)}, {OneOf: needOne(workNames...)}}
	s.Dependencies = map[string]any{"args": []string{"kind"}}
	s.Dependencies["shell_options"] = []string{"shell"}
	for _, key := range commandKeys.names() {
		s.Dependencies[key] = &schema{AnyOf: needOne("command", "shell")}
	}
	return s
}

// following is the value of the key after.
func following() *schema {
	one := &schema{AnyOf: []*schema{aText(), afterKeys.schema("An edge in full", "schedule")}}
	all := aList(one)
	all.MinItems = 1
	return &schema{AnyOf: append(one.AnyOf[:len(one.AnyOf):len(one.AnyOf)], all)}
}

// aPlace is the value of the key on.
func aPlace() *schema {
	mapping := placeKeys.schema("A host, a label of nodes, or every host with a label")
	mapping.MinProperties, mapping.MaxProperties = 1, 1
	return &schema{AnyOf: []*schema{aText(), mapping}}
}

// calendarDefinitions are the schemas of calendars and their rules.
func calendarDefinitions() map[string]*schema {
	return map[string]*schema{
		"calendar": calendarKeys.schema("What the calendar excludes"),
		"rule":     exclusionRuleKeys.schema("A rule whose instants are excluded"),
	}
}

// sharedValue is the schema of the value of a key that schedule files share with crontabs.
func sharedValue(k declared.Key) *schema {
	switch k.Name {
	case declared.ExcludeKey:
		return oneOrMore()
	case declared.PlaceKey:
		return aPlace()
	}
	switch k.Form.Type {
	case declared.IsNumber:
		return aNumber(k.Form.Least, k.Form.Most)
	case declared.IsTruth:
		return aTruth()
	case declared.IsDuration:
		if len(k.Form.Words) > 0 {
			return &schema{AnyOf: []*schema{aDuration(), aChoice(k.Form.Words...)}}
		}
		return aDuration()
	case declared.IsChoice:
		return aChoice(k.Form.Words...)
	}
	return aText()
}
