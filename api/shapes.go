package api

import (
	"maps"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hourbell/hourbell/internal/view"
)

// Parts of shapes.
const (
	control   = `\x00-\x1F\x7F-\x9F\u2028\u2029\uFFFD`
	aDate     = `([1-9][0-9]{3}|0([1-9][0-9]{2}|0[1-9][0-9]|00[1-9]))-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])`
	anInstant = aDate + `([T ]([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?`
	aDuration = `\+?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)`
)

// shapes are patterns of texts, by the values of the tag shape. The description of the API has them, so that callers know what
// is accepted. They match at least all texts that are accepted. huma does not compare them with requests, because the library
// checks the texts, and its errors have the remedy.
var shapes = map[string]string{
	"name":     `^[^\s` + control + `]([^` + control + `]{0,198}[^\s` + control + `])?$`,
	"duration": `^` + aDuration + `$`,
	"timeout":  `^(none|` + aDuration + `)$`,
	"instant":  `^` + anInstant + `$`,
	"since":    `^(` + anInstant + `|` + aDuration + `|\+?[0-9]+d)$`,
	"backoff":  `^(default|(constant|linear|exponential):` + aDuration + `(:` + aDuration + `)?)$`,
	"etag":     `^("[1-9][0-9]*")?$`,
	"args":     `^[^.=` + control + `]+([.][^.=` + control + `]+)*=([^` + control + `]*[^\s` + control + `])?$`,
	"any":      `^\*?$`,
	"cursor":   `^[A-Za-z0-9_-]+$`,
}

// choices are lists of words, by the values of the tag shape. As with shapes, huma does not compare them with requests.
var choices = map[string][]string{"state": view.ListedStates()}

// tagged returns the tags of the fields of a type by their names, which the tag where has.
func tagged(t reflect.Type, where string) map[string]reflect.StructTag {
	found := map[string]reflect.StructTag{}
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get(where), ","); name != "" {
			found[name] = field.Tag
		}
	}
	return found
}

// shapeBody adds the shapes and the descriptions of the fields of a body to its schema.
func shapeBody(t reflect.Type, schema *huma.Schema) {
	for name, tag := range tagged(t, "json") {
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		property.Description = view.Describe(tag)
		if shape := tag.Get("shape"); shape != "" {
			shapeText(property, shape)
		}
	}
}

// shapeParameters adds the shapes and the descriptions of the parameters of an operation to its description.
func shapeParameters(t reflect.Type, op *huma.Operation) {
	all := map[string]reflect.StructTag{}
	for _, where := range []string{"query", "path", "header"} {
		maps.Copy(all, tagged(t, where))
	}
	for _, p := range op.Parameters {
		p.Description = view.Describe(all[p.Name])
		p.Schema.Description = p.Description
		if shape := all[p.Name].Get("shape"); shape != "" {
			shapeText(p.Schema, shape)
		} else if one := 1; p.In == "query" && p.Schema.Type == huma.TypeString && p.Schema.Enum == nil {
			p.Schema.MinLength = &one // see checkQuery
		}
	}
}

// shapeText adds the shape of a text, or of each text of a list.
func shapeText(schema *huma.Schema, shape string) {
	if schema.Items != nil {
		schema = schema.Items
	}
	words, isChoice := choices[shape]
	if !isChoice {
		schema.Pattern = shapes[shape]
		return
	}
	enum := []any{}
	for _, word := range words {
		enum = append(enum, word)
	}
	if schema.Nullable {
		enum = append(enum, nil)
	}
	schema.Extensions = map[string]any{"enum": enum} // huma would compare requests with the field Enum
}
