package redact

import (
	"net/url"
	"testing"
)

func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://ada:hunter2@h:5/db?sslmode=off": "postgres://ada@h:5/db",
		"https://x.example/hook?key=hunter2#top":    "https://x.example/hook",
		"https://:hunter2@x.example/":               "https://@x.example/",
		"redis://cache:6379":                        "redis://cache:6379",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := URL(u); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
