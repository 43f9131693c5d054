package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestProgram builds the program, and reads its bill and its notices: every module of the program is in both, with its licence.
func TestProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	t.Setenv("GOWORK", "off") // as scripts/release builds
	const folder = "../../cmd/hourbell"
	file, notices := filepath.Join(t.TempDir(), "hourbell"), filepath.Join(t.TempDir(), "notices")
	build := exec.Command("go", "build", "-buildvcs=false", "-tags=lockstores", "-o", file, ".")
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var out bytes.Buffer
	must(t, run(t.Context(), folder, file, "1.2.3", notices, &out))
	var bom cdx.BOM
	must(t, cdx.NewBOMDecoder(&out, cdx.BOMFileFormatJSON).Decode(&bom))
	if main := bom.Metadata.Component; main.PackageURL != "pkg:golang/github.com/hourbell/hourbell/cmd/hourbell@1.2.3" || licenceOf(*main) != "Apache-2.0" {
		t.Errorf("the program is %+v", main)
	}
	licences := map[string]string{}
	for _, part := range *bom.Components {
		if part.Version == "" || part.Version == "(devel)" || licences[part.Name] != "" {
			t.Errorf("component %+v", part)
		}
		licences[part.Name] = licenceOf(part)
	}
	text, err := os.ReadFile(notices)
	must(t, err)
	listed, err := exec.Command("go", "version", "-m", file).Output()
	must(t, err)
	modules := 0
	for line := range strings.Lines(string(listed)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "dep" {
			continue
		}
		modules++
		if licences[fields[1]] == "" {
			t.Errorf("the bill has no licence of %s", fields[1])
		}
		if entry := fmt.Sprintf("\n%s %s: LICENSE", fields[1], fields[2]); !isOwn(fields[1]) && !bytes.Contains(text, []byte(entry)) {
			t.Errorf("the notices have no text of %s", fields[1])
		}
	}
	if modules < 30 {
		t.Errorf("the program has %d modules", modules)
	}
	for name, licence := range map[string]string{
		"std": "BSD-3-Clause", "golang.org/x/sys": "BSD-3-Clause", "github.com/go-sql-driver/mysql": "MPL-2.0",
		"modernc.org/sqlite": "BSD-3-Clause", "github.com/jackc/pgx/v5": "MIT", own + "/drivers/sqlite": "Apache-2.0",
	} {
		if licences[name] != licence {
			t.Errorf("%s has the licence %q, want %q", name, licences[name], licence)
		}
	}
	for _, part := range []string{
		"\nMozilla Public License Version 2.0\n", "\nGo standard library 1.", ": zstd/internal/xxhash/LICENSE.txt\n",
		"https://proxy.golang.org/github.com/go-sql-driver/mysql/@v/v", "musl libc",
	} {
		if !bytes.Contains(text, []byte(part)) {
			t.Errorf("%q is not in the notices", part)
		}
	}
	if err := run(t.Context(), folder, "main.go", "1.2.3", notices, &out); err == nil {
		t.Error("a text is a program")
	}
}

// TestLicences reads folders as they may be.
func TestLicences(t *testing.T) {
	apache, err := os.ReadFile("../../LICENSE")
	must(t, err)
	for _, c := range []struct {
		name, licence, error string
		files                map[string]string
		texts                int
	}{
		{name: "a licence", licence: "Apache-2.0", files: map[string]string{"LICENSE.txt": string(apache)}, texts: 1},
		{name: "none", error: "has no licence", files: map[string]string{"README": "text"}},
		{name: "only a notice", error: "has no licence", files: map[string]string{"NOTICE": "text"}},
		{name: "another licence", error: "no licence that is known", files: map[string]string{"LICENSE": "All rights reserved."}},
		{name: "a part and a source", licence: "Apache-2.0", files: map[string]string{"LICENSE": string(apache), "LICENSE-PART": "part", "notice.go": "code"}, texts: 2},
		{name: "of packages only where the program has them", licence: "Apache-2.0", files: map[string]string{
			"LICENSE": string(apache), "linked/LICENSE": string(apache), "other/LICENSE": "All rights reserved.",
		}, texts: 2},
	} {
		root := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(root, "linked", "deep"), 0o755))
		must(t, os.Mkdir(filepath.Join(root, "other"), 0o755))
		for name, content := range c.files {
			must(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o644))
		}
		m := module{path: "example.com/m"}
		err := m.read(sourceOf{root: root, packages: []string{filepath.Join(root, "linked", "deep")}})
		if c.error == "" && err != nil || c.error != "" && (err == nil || !strings.Contains(err.Error(), c.error)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.error)
		}
		if err == nil && (m.licence != c.licence || len(m.texts) != c.texts) {
			t.Errorf("%s: licence %q and %d texts, want %q and %d", c.name, m.licence, len(m.texts), c.licence, c.texts)
		}
	}
}

func licenceOf(c cdx.Component) string {
	if c.Licenses == nil || len(*c.Licenses) != 1 {
		return ""
	}
	if one := (*c.Licenses)[0]; one.License != nil {
		return one.License.ID
	}
	return (*c.Licenses)[0].Expression
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
