package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServePages checks what the pages of a node show besides its store: the files that
// the node has loaded, and the locks.
func TestServePages(t *testing.T) {
	startsProcesses(t)
	eachStore(t, func(t *testing.T, b *bench) {
		var in []string
		if url := b.env[storeVariable]; strings.HasPrefix(url, "postgres") {
			schema := newSchemaName()
			t.Cleanup(func() { dropSchema(t, url, schema) })
			in = []string{"--schema", schema}
		}
		file := filepath.Join(t.TempDir(), "s.yaml")
		if err := os.WriteFile(file, []byte("owner: ops\nschedules:\n- {name: nightly, every: 1h, command: [\"true\"]}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := b.serve(append(in, "--listen", "127.0.0.1:0", "--file", file)...)
		base := "http://" + p.apiAddress()
		shows := func(path, part string) {
			t.Helper()
			eventually(t, path+" shows "+part, func() bool {
				code, body := call(t, http.DefaultClient, "GET", base+path, "")
				return code == http.StatusOK && strings.Contains(body, part)
			})
		}
		shows("/", "Overview")
		shows("/files", "s.yaml")
		shows("/schedules", "nightly")
		shows("/locks", "No lock was ever held.")
		b.ok(append(append([]string{"exec", "once"}, in...), "--at-most", "1m", "--", "true")...)
		shows("/locks", ">once<")
	})
}
