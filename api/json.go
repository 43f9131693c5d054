package api

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hourbell/hourbell/internal/jsons"
)

// jsonFormat reads bodies as the library reads args: any number that JSON can write is taken where any JSON is, as in args, which are
// kept byte for byte. The names of fields are exact, and given once.
var jsonFormat = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: readJSON}

// readJSON decodes a body. huma first asks for any value, which it compares with the description of the body, and then for the body.
func readJSON(text []byte, v any) error {
	whole, asked := v.(*any)
	if !asked {
		if err := json.Unmarshal(text, v); err != nil {
			return err
		}
		return jsons.CheckNames(text, reflect.TypeOf(v), "")
	}
	err := json.Unmarshal(text, whole)
	if _, outOfRange := err.(*json.UnmarshalTypeError); !outOfRange { //nolint:errorlint // json.Unmarshal wraps none
		return err
	}
	decoder := jsons.Numbers(text)
	if err := decoder.Decode(whole); err != nil {
		return err
	}
	*whole = inRange(*whole)
	return nil
}

// inRange returns a value with numbers as float64, which huma compares, except numbers that a float64 cannot have. Such a number is
// refused where the description asks for a number.
func inRange(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = inRange(v[name])
		}
	case []any:
		for i := range v {
			v[i] = inRange(v[i])
		}
	case json.Number:
		if number, err := v.Float64(); err == nil {
			return number
		}
	}
	return value
}
