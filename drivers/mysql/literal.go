package mysql

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
	"github.com/hourbell/hourbell/store/sqltext"
)

// complete returns a statement with literals in the place of its parameters. Arguments that the
// statement lacks, and missing arguments, are an error. given are further conditions of a listing.
func (t *text) complete(s statement, a args, given ...string) (string, error) {
	pieces := t.pieces
	if sources[s].Lists {
		given = append(strings.Fields(sources[s].Given), given...)
		pieces = sqltext.Pieces(sqltext.Pick(t.SQL, given...))
	} else if len(a) != len(t.Params) {
		return "", fmt.Errorf("statement %v has the parameters %v, %d are passed", sources[s], t.Params, len(a))
	}
	out, err := appendPieces(nil, pieces, s, a)
	return string(out), err
}

// appendPieces appends a part of a statement with literals in the place of its parameters.
func appendPieces(out []byte, pieces []sqltext.Piece, s statement, a args) ([]byte, error) {
	for _, piece := range pieces {
		out = append(out, piece.Code...)
		if piece.Parameter == "" {
			continue
		}
		value, passed := a[piece.Parameter]
		if !passed {
			return nil, fmt.Errorf("statement %v: parameter %s is not passed", sources[s], piece.Parameter)
		}
		var err error
		if out, err = appendLiteral(out, value); err != nil {
			return nil, fmt.Errorf("statement %v: parameter %s: %w", sources[s], piece.Parameter, err)
		}
	}
	return out, nil
}

// appendLiteral appends a value as SQL. The driver writes values into its statements, so that
// a statement is one message, also in a transaction of the program, and so that a list is a value.
// What it writes consists of letters, digits and a few signs that mean the same in every
// session, whatever its sql_mode and character set; all other bytes are in hexadecimal.
func appendLiteral(out []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(out, "NULL"...), nil
	case string:
		return appendText(out, v), nil
	case code:
		return append(out, v...), nil
	case driver.Valuer:
		plain, err := v.Value()
		if err != nil {
			return nil, err
		}
		return appendLiteral(out, plain)
	}
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(out, '1'), nil
		}
		return append(out, '0'), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(out, v.Int(), 10), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return strconv.AppendUint(out, v.Uint(), 10), nil
	case reflect.String:
		return appendText(out, v.String()), nil
	case reflect.Pointer:
		if v.IsNil() {
			return append(out, "NULL"...), nil
		}
		return appendLiteral(out, v.Elem().Interface())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return appendBytes(out, v.Bytes()), nil
		}
		return appendList(out, v)
	}
	return nil, fmt.Errorf("a value of type %T cannot be a parameter", value)
}

// code is SQL as a parameter, which the driver has made and which has no text of a caller.
type code string

// datetime is an instant as code: NULL for none. In a row of many, the server would take longer to compute it from a number.
func datetime(t time.Time) code {
	switch year := t.UTC().Year(); {
	case t.IsZero():
		return "NULL"
	case year < 1000 || year > 9999:
		return code(fmt.Sprintf("TIMESTAMP'1970-01-01 00:00:00.000000' + INTERVAL %d MICROSECOND", t.UnixMicro()))
	}
	return code("TIMESTAMP'" + t.UTC().Format("2006-01-02 15:04:05.000000") + "'")
}

// serverClock is the present time of the server, as the number that statements have for an instant. It is one instant in all of a
// statement.
const serverClock code = "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00.000000', UTC_TIMESTAMP(6))"

// instantOf is the instant of a call as a parameter: the instant of the request, or else the server's clock, which then needs no
// statement of its own.
func instantOf(asked time.Time) any {
	if asked.IsZero() {
		return serverClock
	}
	return sqlrows.Micros(sqlrows.Instant(asked))
}

// before is an instant that is earlier than the instant of a call, as a parameter.
func before(asked time.Time, by time.Duration) any {
	if asked.IsZero() {
		return serverClock + code(fmt.Sprintf(" - %d", by.Microseconds()))
	}
	return sqlrows.Micros(sqlrows.Instant(asked.Add(-by)))
}

// later is an instant after another, both as code.
func later(instant code, delay time.Duration) code {
	if delay.Microseconds() == 0 {
		return instant
	}
	return code(fmt.Sprintf("%s + INTERVAL %d MICROSECOND", instant, delay.Microseconds()))
}

// appendList appends the elements of a list, separated by commas, for IN. NULL stands for an
// empty list, because nothing is in a list of NULL.
func appendList(out []byte, list reflect.Value) (_ []byte, err error) {
	if list.Len() == 0 {
		return append(out, "NULL"...), nil
	}
	for i := range list.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = appendLiteral(out, list.Index(i).Interface()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// appendBytes appends bytes; nil is NULL.
func appendBytes(out, bytes []byte) []byte {
	if bytes == nil {
		return append(out, "NULL"...)
	}
	return append(hex.AppendEncode(append(out, "x'"...), bytes), '\'')
}

// appendText appends a text, in UTF-8.
func appendText(out []byte, text string) []byte {
	out = append(out, "_utf8mb4"...)
	for i := range len(text) {
		if !plain(text[i]) {
			out = hex.AppendEncode(append(out, " x'"...), []byte(text))
			return append(out, '\'')
		}
	}
	out = append(append(out, '\''), text...)
	return append(out, '\'')
}

// plain reports whether a byte of a text is the same in all character sets and modes.
func plain(c byte) bool {
	switch c {
	case ' ', '.', ':', '@', '_', '-':
		return true
	}
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
