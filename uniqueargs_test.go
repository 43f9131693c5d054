package hourbell

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestKeysFromArgs(t *testing.T) {
	seen := map[string]string{}
	for _, group := range [][]string{ // equal within a group, different between groups
		{`{"a":1,"b":[1,2]}`, `{ "b" : [ 1, 2 ] , "a" : 1 }`, "{\n\"a\":0,\"a\":1,\"b\":[1,2]}"},
		{`{"a":1,"b":[2,1]}`},
		{`{"a":1.0,"b":[1,2]}`},
		{`{"a":"1","b":[1,2]}`},
		{`{"a":1}`},
		{`{"a":1,"b":null}`},
		{`{"b":[1,2]}`},
		{`"é"`, ` "\u00e9" `},
		{`"e"`},
		{`""`},
		{`null`, " null\n"},
		{`true`},
		{`false`},
		{`0`},
		{`-0`},
		{`[]`},
		{`{}`},
		{`[null]`},
		{`[[]]`},
		{`[{}]`},
		{`12345678901234567890`},
		{`12345678901234567891`},
		{`{"a":{"b":1}}`},
		{`{"a.b":1}`},
		{`["ab"]`},
		{`["a","b"]`},
	} {
		var first string
		for i, args := range group {
			key, err := argsKey{given: true}.of([]byte(args))
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 && key != first {
				t.Errorf("%s and %s must have one key", group[0], args)
			}
			first = key
			if other, found := seen[key]; found && other != group[0] {
				t.Errorf("%s and %s must have different keys", other, args)
			}
			seen[key] = group[0]
		}
	}
}

// TestAKeyFromArgsStaysTheSame pins keys: a program and its next release must agree on them.
func TestAKeyFromArgsStaysTheSame(t *testing.T) {
	const args = `{"customer":7,"address":{"zip":"10115","city":"Köln"},"ok":true,"none":null,"list":[1.5,"x"]}`
	for _, pinned := range []struct {
		fields []string
		key    string
	}{
		{nil, "hourbell:args:6e45dd872f6037a13d4e5887369598f38a05ab11264de79b5f6456be2bab5078"},
		{[]string{"customer", "address.zip"}, "hourbell:args:2591e475f46726d2f7d504225acb0dc1c41d0f6d42a4a5347b690cdc23c601ed"},
	} {
		key, err := argsKey{given: true, fields: pinned.fields}.of([]byte(args))
		if err != nil || key != pinned.key {
			t.Errorf("the key of fields %v is %s, %v, want %s", pinned.fields, key, err, pinned.key)
		}
	}
}

func TestKeysFromFields(t *testing.T) {
	key := func(args string, fields ...string) string {
		t.Helper()
		key, err := argsKey{given: true, fields: fields}.of([]byte(args))
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	const args = `{"customer":7,"address":{"zip":"10115","city":"Berlin"},"at":1}`
	other := strings.NewReplacer(`"at":1`, `"at":2`, "Berlin", "Köln").Replace(args)
	if key(args, "customer", "address.zip") != key(other, "address.zip", "customer") {
		t.Error("fields that are not named, and the order of the names, must not matter")
	}
	if key(args, "address") == key(other, "address") || key(args, "customer") == key(args, "address.zip") || key(args) == key(other) {
		t.Error("named fields must matter, with their names")
	}
	if key(`{"a":7,"b":7}`, "a") == key(`{"a":7,"b":7}`, "b") {
		t.Error("equal values of different fields must have different keys")
	}
	for _, missing := range []string{"custmer", "address.zap", "customer.zip", "at.x"} {
		if _, err := (argsKey{given: true, fields: []string{missing}}).of([]byte(args)); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("field %s is not in the args: the error %v must name it", missing, err)
		}
	}
}

// TestRandomKeysFromArgs compares keys of random values with keys of the same values, written
// differently, and of values that differ in one place.
func TestRandomKeysFromArgs(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var write func(depth int, order *rand.Rand, change bool) string
	write = func(depth int, order *rand.Rand, change bool) string {
		n := 1 + rng.IntN(3)
		if depth == 0 {
			leaf := []string{"1", `"x"`, "null", "true", "[]", "{}"}[rng.IntN(6)]
			if change {
				return `"changed"`
			}
			return leaf
		}
		parts := make([]string, n)
		changed := rng.IntN(n)
		for i := range parts {
			parts[i] = fmt.Sprintf(`"f%d"%s:%s`, i, strings.Repeat(" ", order.IntN(2)), write(depth-1, order, change && i == changed))
		}
		order.Shuffle(n, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		return "{" + strings.Join(parts, ", ") + "}"
	}
	for range 2000 {
		value := rng.Uint64()
		written := func(order uint64, change bool) string {
			rng = rand.New(rand.NewPCG(value, 1))
			return write(3, rand.New(rand.NewPCG(order, 2)), change)
		}
		texts := []string{written(1, false), written(2, false), written(1, true)}
		var keys []string
		for _, text := range texts {
			key, err := argsKey{given: true}.of([]byte(text))
			if err != nil {
				t.Fatal(text, err)
			}
			keys = append(keys, key)
		}
		if keys[0] != keys[1] || keys[0] == keys[2] {
			t.Fatalf("keys of %s", strings.Join(texts, "\n"))
		}
		rng = rand.New(rand.NewPCG(value, 3))
	}
}
