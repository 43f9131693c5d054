package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestBill reads the bill of the program of this test.
func TestBill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(self, "1.2.3", &out); err != nil {
		t.Fatal(err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(&out, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if main := bom.Metadata.Component; !strings.HasPrefix(main.PackageURL, "pkg:golang/github.com/hourbell/hourbell/deploy") || main.Version != "1.2.3" {
		t.Errorf("the program is %+v", main)
	}
	urls := map[string]bool{}
	for _, part := range *bom.Components {
		if part.Version == "" || urls[part.PackageURL] {
			t.Errorf("component %+v", part)
		}
		urls[part.PackageURL] = true
	}
	for _, name := range []string{"pkg:golang/std@", "pkg:golang/github.com/CycloneDX/cyclonedx-go@v"} {
		if !strings.Contains(out.String()+strings.Join(keys(urls), "\n"), name) {
			t.Errorf("%s is missing in %q", name, keys(urls))
		}
	}
	if err := run("main.go", "1.2.3", &out); err == nil {
		t.Error("a text is a program")
	}
}

func keys(set map[string]bool) (all []string) {
	for key := range set {
		all = append(all, key)
	}
	return all
}
