package hourbell

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"github.com/hourbell/hourbell/check"
)

// Keys that begin with reservedKeys are made by Hourbell only, so that a key
// that is made from args never is a key that a program chose.
const (
	reservedKeys = "hourbell:"
	argsKeys     = reservedKeys + "args:"
)

// argsKey is what UniqueArgs asks for.
type argsKey struct {
	given  bool
	fields []string // with dots; none: all args
}

// check checks the names of the fields.
func (k argsKey) check() error {
	for i, field := range k.fields {
		switch {
		case slices.Contains(strings.Split(field, "."), ""):
			return &check.FieldError{Field: "unique_args", Value: check.Shorten(field), Problem: "has an empty name", Remedy: "use the names of fields, such as customer or address.zip"}
		case slices.Contains(k.fields[:i], field):
			return &check.FieldError{Field: "unique_args", Value: check.Shorten(field), Problem: "is named twice", Remedy: "name each field once"}
		}
	}
	return nil
}

// of returns the key for args, which are JSON. The digest does not depend on
// the version of package encoding/json, because jobs with one key may be
// enqueued by different builds of a program.
func (k argsKey) of(args []byte) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", fmt.Errorf("read args for unique_args: %w", err)
	}
	d := digest{sha256.New()}
	if len(k.fields) == 0 {
		d.value(value)
	}
	for _, field := range slices.Sorted(slices.Values(k.fields)) {
		part, found := fieldOf(value, field)
		if !found {
			return "", &check.FieldError{
				Field: "unique_args", Value: check.Shorten(field), Problem: "is not a field of the args",
				Remedy: "name a field that all args of the kind have; omitempty leaves out an empty field",
			}
		}
		d.text('f', field)
		d.value(part)
	}
	return argsKeys + hex.EncodeToString(d.Sum(nil)), nil
}

// fieldOf returns the field of a value that a name with dots names.
func fieldOf(value any, name string) (part any, found bool) {
	part = value
	for one := range strings.SplitSeq(name, ".") {
		object, _ := part.(map[string]any)
		if part, found = object[one]; !found {
			return nil, false
		}
	}
	return part, true
}

// digest digests JSON values, so that different values never have the same
// bytes: a letter for the type, then the length, then the content.
type digest struct{ hash.Hash }

func (d digest) value(value any) {
	switch v := value.(type) {
	case nil:
		d.head('n', 0)
	case bool:
		if v {
			d.head('b', 1)
		} else {
			d.head('b', 0)
		}
	case json.Number:
		d.text('d', v.String())
	case string:
		d.text('s', v)
	case []any:
		d.head('a', len(v))
		for _, element := range v {
			d.value(element)
		}
	case map[string]any:
		d.head('o', len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			d.text('f', name)
			d.value(v[name])
		}
	}
}

func (d digest) head(letter byte, length int) {
	d.Write(binary.BigEndian.AppendUint64([]byte{letter}, uint64(length)))
}

func (d digest) text(letter byte, text string) {
	d.head(letter, len(text))
	d.Write([]byte(text))
}
