package schedulefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/kinds"
)

// encodable is the arguments of a ready-made kind.
type encodable interface {
	Kind() string
	Encode() ([]byte, error)
}

// readyMade reads the job of a ready-made kind, whose arguments are a mapping
// under key; it returns an empty job after recording what is wrong.
func (e *entry) readyMade(key string, known keys, read func(*entry) encodable) hourbell.RawArgs {
	f := e.find(key)
	if f == nil {
		return hourbell.RawArgs{}
	}
	if f.Value.Sort != yamltree.Mapping {
		e.add(key, "is "+f.Value.Sort.String(), "write its details as keys")
		return hourbell.RawArgs{}
	}
	one := &entry{reader: e.reader, node: f.Value, label: strings.TrimPrefix(e.label+": "+key, ": ")}
	one.checkKeys(known)
	args := read(one)
	text, err := args.Encode()
	for _, problem := range declared.Fields(err) {
		if problem.Name != "args" {
			problem.Value = "" // the value may be a secret
		}
		one.addField(problem)
	}
	return hourbell.RawArgs{Name: args.Kind(), JSON: text}
}

// http reads an HTTP request.
func (e *entry) http() encodable {
	return kinds.HTTP{
		URL: e.text("url"), Method: e.properName("method"), Header: e.texted("header"), Body: e.text("body"),
		Timeout: e.duration("timeout"), Retry: e.words("retry"), Redirects: int(e.number("redirects", 0, 10)),
	}
}

// sql reads an SQL statement.
func (e *entry) sql() encodable {
	s := kinds.SQL{Connection: e.text("connection"), Statement: e.text("statement"), Timeout: e.duration("timeout")}
	text := e.args()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if text != nil && decoder.Decode(&s.Args) != nil {
		e.add("args", "are not a list", "list the values of the parameters")
	}
	return s
}

// duration reads a duration.
func (e *entry) duration(key string) kinds.Duration {
	text := e.properName(key)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		e.add(key, fmt.Sprintf("%q is not a positive duration", declared.Label(text, 60)), "write a number with its unit, like 90s, 15m or 1h30m")
		return 0
	}
	return kinds.Duration(d)
}
