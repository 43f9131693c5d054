// Package jsons has what the readers and writers of JSON share: values are written as they are, and the names of fields are read exactly.
package jsons

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/hourbell/hourbell/check"
)

// Encode is json.Marshal, except that the characters <, > and & stay as they are, so that a text has about the size that its reader sees.
func Encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// Numbers returns a decoder of a text that keeps the digits of numbers, as json.Number.
func Numbers(text []byte) *json.Decoder {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder
}

// CheckNames returns why the names of fields in a text do not fit a type to which encoding/json would decode it, or nil. encoding/json also
// takes a name in another letter case, and the last of several values for one name; both are refused. path is put before the names of
// fields in the error, a *check.FieldError. Names that the type does not have, and texts that are not JSON, are left to the decoder.
func CheckNames(text []byte, t reflect.Type, path string) error {
	if !json.Valid(text) {
		return nil
	}
	return checkNames(Numbers(text), t, path)
}

// checkNames checks the next value of a decoder, whose text is valid.
func checkNames(d *json.Decoder, t reflect.Type, path string) error {
	for t != nil && t.Kind() == reflect.Pointer && !decodesItself(t) {
		t = t.Elem()
	}
	if t == nil || decodesItself(t) || !hasParts(t) {
		var skipped json.RawMessage
		return d.Decode(&skipped)
	}
	begin, err := d.Token()
	switch {
	case err != nil:
		return err
	case begin == json.Delim('['):
		return checkArray(d, t, path)
	case begin == json.Delim('{'):
		return checkObject(d, t, path)
	}
	return nil
}

// hasParts reports whether values of a type may have names in them.
func hasParts(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Map || t.Kind() == reflect.Slice
}

// checkArray checks the rest of an array, behind its bracket.
func checkArray(d *json.Decoder, t reflect.Type, path string) error {
	var element reflect.Type
	if t.Kind() == reflect.Slice {
		element = t.Elem()
	}
	for i := 0; d.More(); i++ {
		if err := checkNames(d, element, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// checkObject checks the rest of an object.
func checkObject(d *json.Decoder, t reflect.Type, path string) error {
	fields, seen := fieldsOf(t), map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		inner := strings.TrimPrefix(path+"."+name, ".")
		if seen[name] {
			return &check.FieldError{Field: check.Shorten(inner), Problem: "is given twice", Remedy: "give it once"}
		}
		seen[name] = true
		field, known := fields[name]
		if !known {
			for other := range fields {
				if strings.EqualFold(name, other) {
					return &check.FieldError{Field: check.Shorten(inner), Problem: "is not a field", Remedy: fmt.Sprintf("write %q, in these letters", other)}
				}
			}
			if t.Kind() == reflect.Map {
				field = t.Elem()
			}
		}
		if err := checkNames(d, field, inner); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// fieldsOf returns the fields of a struct by their names in JSON; of other types none.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return fields
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported() || field.Anonymous && name == "":
		case name == "":
			fields[field.Name] = field.Type
		default:
			fields[name] = field.Type
		}
	}
	return fields
}

// decodesItself reports whether a type has its own way to be decoded.
func decodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}
