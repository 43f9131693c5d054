package check

import (
	"strings"
	"testing"
)

func TestHost(t *testing.T) {
	for text, good := range map[string]bool{
		"web1": true, "db-2.example.org": true, "A_b": true, strings.Repeat("h", 63): true,
		"": false, strings.Repeat("h", 64): false, "a b": false, "a@b": false, "role=db": false, "a/b": false, "a\n": false, "ž": false,
	} {
		if err := Host("host", text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLabel(t *testing.T) {
	for text, good := range map[string]bool{
		"role=db": true, "zone=eu-1.b": true,
		"": false, "role": false, "role=": false, "=db": false, "role=db=x": false, "role=d b": false, "a@b=c": false,
	} {
		if err := Label("label", text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
