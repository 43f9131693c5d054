package kinds

import (
	"cmp"
	"reflect"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/jsons"
	"github.com/hourbell/hourbell/internal/redact"
)

// CheckArgs returns what is wrong with the arguments of a job of a kind of this
// package, or nil. It accepts any arguments of other kinds, except that they may not have a hidden value in place of a
// secret: a definition that was read from a listing and is written again would lose the secret. The error is a
// *check.FieldError, or several that are joined.
func CheckArgs(kind string, args []byte) error {
	var err error
	switch kind {
	case CommandKind:
		_, err = DecodeCommand(args)
		err = cmp.Or(err, jsons.CheckNames(args, reflect.TypeFor[Command](), "args"))
	case HTTPKind:
		_, err = DecodeHTTP(args)
		err = cmp.Or(err, jsons.CheckNames(args, reflect.TypeFor[HTTP](), "args"))
	case SQLKind:
		_, err = DecodeSQL(args)
		err = cmp.Or(err, jsons.CheckNames(args, reflect.TypeFor[SQL](), "args"))
	}
	if err != nil {
		return err
	}
	own := kind == CommandKind || kind == HTTPKind || kind == SQLKind
	if value, ok := decodeAny(args); ok {
		if field := redact.Placeholder(value, "args", own); field != "" {
			return &check.FieldError{
				Field: field, Value: redact.Hidden, Problem: "has a value that a listing has hidden",
				Remedy: "write the value itself, or read it with --show-secrets or ?secrets=true",
			}
		}
	}
	return nil
}
