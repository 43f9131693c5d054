package redact

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Value hides the secrets of a value that was decoded from JSON, with numbers as json.Number, in its place, and returns it: a field with the name of
// a secret as a whole, and in the other texts what Text hides. hid reports whether there were any.
func Value(value any) (shown any, hid bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if one, found := valueOf(name, field); found {
				v[name], hid = one, true
			}
		}
	case []any:
		for i := range v {
			if one, found := Value(v[i]); found {
				v[i], hid = one, true
			}
		}
	case string:
		text := Text(v)
		return text, text != v
	}
	return value, hid
}

// valueOf is Value for a field.
func valueOf(name string, field any) (shown any, hid bool) {
	if hides(name, field) {
		return Hidden, true
	}
	if text, isText := field.(string); isText && hooks(name) {
		shown := webhook(text)
		return shown, shown != text
	}
	return Value(field)
}

// hides reports whether a field is hidden as a whole. A number with a plural name is a count, as of tokens.
func hides(name string, value any) bool {
	secret, plural := secretName(name)
	switch v := value.(type) {
	case nil, bool:
		return false
	case string:
		return secret && v != ""
	case json.Number:
		return secret && !plural
	case []any:
		return secret && len(v) > 0
	case map[string]any:
		return secret && len(v) > 0
	}
	return secret
}

// Placeholder returns the path of a text in which something is hidden, below a path; empty: there is none. A text that is Hidden
// and nothing else counts if its field has the name of a secret, or if all is set.
func Placeholder(value any, path string, all bool) string {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if found := Placeholder(v[name], path+"."+name, all || SecretName(name)); found != "" {
				return found
			}
		}
	case []any:
		for i, one := range v {
			if found := Placeholder(one, path+"["+strconv.Itoa(i)+"]", all); found != "" {
				return found
			}
		}
	case string:
		if Masked(v) && (v != Hidden || all) {
			return path
		}
	}
	return ""
}
