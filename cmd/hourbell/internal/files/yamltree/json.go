package yamltree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"github.com/hourbell/hourbell/check"
)

// jsonNumber is the grammar of a number in JSON.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// otherNumber matches texts that some YAML readers, old or new, take for a
// number and JSON does not: 007, 0x1f, 1_000, +1, .5, .inf.
var otherNumber = regexp.MustCompile(`^[-+]?(` +
	`0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|[0-9][0-9_]*|` +
	`[0-9_]*\.[0-9_]+([eE][-+]?[0-9]+)?|[0-9][0-9_]*\.[0-9_]*([eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+|` +
	`\.(inf|Inf|INF))$|^\.(nan|NaN|NAN)$`)

// A JSONError reports a value that cannot be written as JSON.
type JSONError struct {
	Line            int // of the part that is wrong; 0: the value as a whole
	Problem, Remedy string
}

// Error returns the problem and its remedy.
func (e *JSONError) Error() string { return e.Problem + "; " + e.Remedy }

// JSON returns the value as JSON: numbers digit for digit, keys in their order. Because aliases can make a small file
// mean a large value, it stops at the size limit of args. The error is a *[JSONError].
func (n *Node) JSON() ([]byte, error) {
	var out bytes.Buffer
	if err := writeJSON(&out, n, 0); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeJSON(out *bytes.Buffer, n *Node, depth int) error {
	switch {
	case out.Len() > check.MaxArgs:
		return &JSONError{Problem: "are larger than 1 MiB", Remedy: "pass a reference to larger data"}
	case depth > maxDepth:
		return &JSONError{Problem: "are nested too deeply", Remedy: fmt.Sprintf("use at most %d levels", maxDepth)}
	}
	switch n.Sort {
	case Scalar:
		return writeScalar(out, n)
	case List:
		return writeList(out, n, depth)
	case Mapping:
		return writeMapping(out, n, depth)
	}
	out.WriteString("null")
	return nil
}

func writeScalar(out *bytes.Buffer, n *Node) error {
	switch {
	case n.Plain && (isTrue(n.Text) || isFalse(n.Text)):
		out.WriteString(strconv.FormatBool(isTrue(n.Text)))
	case n.Plain && jsonNumber.MatchString(n.Text):
		out.WriteString(n.Text)
	case n.Plain && otherNumber.MatchString(n.Text):
		return &JSONError{
			Line: n.Line, Problem: fmt.Sprintf("%q is a number to some readers of YAML and a text to others", n.Text),
			Remedy: "write a decimal number like 12 or 0.5, or put quotes around a text",
		}
	default:
		return writeText(out, n.Text)
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

func writeList(out *bytes.Buffer, n *Node, depth int) error {
	out.WriteByte('[')
	for i, item := range n.Items {
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

func writeMapping(out *bytes.Buffer, n *Node, depth int) error {
	out.WriteByte('{')
	for i, f := range n.Fields {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeText(out, f.Key); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := writeJSON(out, f.Value, depth+1); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// The spellings of YAML 1.2; yes, no, on and off are plain texts.

func isTrue(text string) bool  { return text == "true" || text == "True" || text == "TRUE" }
func isFalse(text string) bool { return text == "false" || text == "False" || text == "FALSE" }
