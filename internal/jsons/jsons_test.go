package jsons

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/check"
)

func TestEncode(t *testing.T) {
	text, err := Encode(map[string]string{"a": "<b> & c"})
	if err != nil || string(text) != `{"a":"<b> & c"}` {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := Encode(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}

type embedded struct {
	Inner string `json:"inner"`
}

type sample struct {
	embedded
	Kind  string            `json:"kind,omitempty"`
	Args  json.RawMessage   `json:"args"`
	Any   any               `json:"any"`
	List  []*sample         `json:"list"`
	Named map[string]sample `json:"named"`
	Env   map[string]string `json:"env"`
	Plain int
	Left  int `json:"-"`
}

func TestCheckNames(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"k","args":{"A":1,"a":2,"a":3,"n":1e400},"any":{"a":1,"a":2},"Plain":1}`: "",
		`{"list":[{"kind":"a"},{"kind":"b"}],"named":{"x":{"kind":"k"},"X":{}}}`:          "",
		`{"unknown":1,"list":null,"kind":7,"inner":""}`:                                   "",
		`{"env":{"A":"1","a":"2"}}`:                                                       "",
		`[{"kind":1}]`:                                                                    "",
		`not JSON`:                                                                        "",
		`{"kind":"a","KIND":"b"}`:                                                         "args.KIND",
		`{"Args":1}`:                                                                      "args.Args",
		`{"plain":1}`:                                                                     "args.plain",
		`{"INNER":""}`:                                                                    "args.INNER",
		`{"kind":"a","kind":"a"}`:                                                         "args.kind",
		`{"list":[{},{"Kind":"a"}]}`:                                                      "args.list[1].Kind",
		`{"named":{"x":{"kind":"a","kind":"b"}}}`:                                         "args.named.x.kind",
		`{"env":{"A":"1","A":"2"}}`:                                                       "args.env.A",
	} {
		err := CheckNames([]byte(text), reflect.TypeFor[sample](), "args")
		var field *check.FieldError
		if errors.As(err, &field) != (want != "") || field != nil && (field.Field != want || field.Remedy == "") || field == nil && err != nil {
			t.Errorf("%s: %v, not a mistake in %q", text, err, want)
		}
	}
	deep := `{"any":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}"
	if err := CheckNames([]byte(deep), reflect.TypeFor[sample](), ""); err != nil {
		t.Error(err)
	}
}
