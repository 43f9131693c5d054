package event

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	const limit = 100
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"short", "fine", "fine"},
		{"just short enough", strings.Repeat("a", 100), strings.Repeat("a", 100)},
		{"a byte too long", strings.Repeat("a", 101), "a… (101 bytes in all)"},
		{"not storable", "a\x00b\xffc", "a\uFFFDb\uFFFDc"},
		{"long", strings.Repeat("a", 50<<20), "… (52,428,800 bytes in all)"},
		{"long runes", strings.Repeat("é", 1000), "… (2,000 bytes in all)"},
		{"grows as it is mended", strings.Repeat("\x00", 90), "… (90 bytes in all)"},
		{"grows, and is long", strings.Repeat("a\xff", 5000), "… (10,000 bytes in all)"},
	} {
		got := Text(test.text, limit)
		if len(got) > limit || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("%s: %d bytes: %q", test.name, len(got), got)
		}
		if !strings.HasSuffix(got, test.want) {
			t.Errorf("%s: got %q, want it to end with %q", test.name, got, test.want)
		}
		if again := Text(got, limit); again != got {
			t.Errorf("%s: the second time: %q", test.name, again)
		}
	}
	if got, want := Text(strings.Repeat("a", 101), limit), strings.Repeat("a", limit-len("… (101 bytes in all)"))+"… (101 bytes in all)"; got != want {
		t.Errorf("a byte too long: got %q, want %q", got, want)
	}
	long := strings.Repeat("a", 1<<20)
	if got, want := Text(Text(long, 64<<10), 4<<10), Text(long, 4<<10); got != want {
		t.Errorf("shortened twice: it ends with %q", got[len(got)-40:])
	}
	if got := Text(strings.Repeat("a", 200)+"… (x bytes in all)", limit); !strings.HasSuffix(got, "… (220 bytes in all)") {
		t.Errorf("an end that names no size: %q", got)
	}
}
