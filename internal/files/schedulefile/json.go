package schedulefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/hourbell/hourbell/check"
)

// jsonNumber is the grammar of a number in JSON.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// otherNumber matches texts that some YAML readers, old or new, take for a
// number and JSON does not: 007, 0x1f, 1_000, +1, .5, .inf.
var otherNumber = regexp.MustCompile(`^[-+]?(0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|[0-9][0-9_]*|[0-9_]*\.[0-9_]+([eE][-+]?[0-9]+)?|[0-9][0-9_]*\.[0-9_]*([eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+|\.(inf|Inf|INF))$|^\.(nan|NaN|NAN)$`)

var (
	errTooLarge = errors.New("args too large")
	errTooDeep  = errors.New("args too deep")
)

// numberError reports a plain scalar that only some readers take for a number.
type numberError struct {
	line int
	text string
}

func (e *numberError) Error() string { return fmt.Sprintf("%s is not a number in JSON", e.text) }

// toJSON writes a value as JSON: numbers digit for digit, keys in their order.
// Because aliases can make a small file mean a large value, it stops at the
// size limit of args.
func toJSON(n *node) ([]byte, error) {
	var out bytes.Buffer
	if err := writeJSON(&out, n, 0); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeJSON(out *bytes.Buffer, n *node, depth int) error {
	switch {
	case out.Len() > check.MaxArgs:
		return errTooLarge
	case depth > maxDepth:
		return errTooDeep
	}
	switch n.sort {
	case scalar:
		return writeScalar(out, n)
	case list:
		return writeList(out, n, depth)
	case mapping:
		return writeMapping(out, n, depth)
	}
	out.WriteString("null")
	return nil
}

func writeScalar(out *bytes.Buffer, n *node) error {
	switch {
	case n.plain && (isTrue(n.text) || isFalse(n.text)):
		out.WriteString(strconv.FormatBool(isTrue(n.text)))
	case n.plain && jsonNumber.MatchString(n.text):
		out.WriteString(n.text)
	case n.plain && otherNumber.MatchString(n.text):
		return &numberError{n.line, n.text}
	default:
		return writeText(out, n.text)
	}
	return nil
}

func writeText(out *bytes.Buffer, text string) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the encoder appends a newline
	return nil
}

func writeList(out *bytes.Buffer, n *node, depth int) error {
	out.WriteByte('[')
	for i, item := range n.items {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeJSON(out, item, depth+1); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

func writeMapping(out *bytes.Buffer, n *node, depth int) error {
	out.WriteByte('{')
	for i, f := range n.fields {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeText(out, f.key); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := writeJSON(out, f.value, depth+1); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// The spellings of YAML 1.2; yes, no, on and off are plain texts.

func isTrue(text string) bool  { return text == "true" || text == "True" || text == "TRUE" }
func isFalse(text string) bool { return text == "false" || text == "False" || text == "FALSE" }
