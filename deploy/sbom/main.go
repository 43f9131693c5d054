// Sbom prints the software bill of materials of a Go program, in the format CycloneDX: the modules that were linked into it, with
// their licences. It also writes the notices that have to go with the program: the texts of these licences.
//
//	go run ./deploy/sbom PACKAGE FILE VERSION NOTICES
//
// FILE is the program, NOTICES the file to write, and PACKAGE the folder of the package from which the program was built: the
// program itself names its modules, and the source of its packages has their licences. Modules of this repository have the version
// of the program. A module without a licence, or with an unknown licence, is an error.
package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: sbom PACKAGE FILE VERSION NOTICES")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// own is the path with which the modules of this repository begin.
const own = "github.com/hourbell/hourbell"

func isOwn(path string) bool { return path == own || strings.HasPrefix(path, own+"/") }

func run(ctx context.Context, folder, file, version, notices string, out io.Writer) error {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	modules, err := linked(info, version)
	if err != nil {
		return err
	}
	if err := readLicences(ctx, modules, folder, info); err != nil {
		return err
	}
	var text bytes.Buffer
	writeNotices(&text, version, modules)
	if err := os.WriteFile(notices, text.Bytes(), 0o644); err != nil { //nolint:gosec // everybody may read notices
		return err
	}
	encoder := cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	return encoder.EncodeVersion(bill(modules), cdx.SpecVersion1_6)
}

// module is a module that was linked into a program.
type module struct {
	path, version string
	texts         []text // of its licences and notices
	licence       string // an SPDX expression
}

// standard is the path by which bills name the standard library of Go.
const standard = "std"

// linked returns the modules of a program: first its own module, then the standard library, then the others.
func linked(info *buildinfo.BuildInfo, version string) ([]*module, error) {
	if info.Main.Path == "" {
		return nil, fmt.Errorf("the program was built from files, and does not name its module: build a package")
	}
	modules := []*module{
		{path: info.Main.Path, version: version},
		{path: standard, version: strings.TrimPrefix(info.GoVersion, "go")},
	}
	for _, dep := range info.Deps {
		switch {
		case isOwn(dep.Path):
			modules = append(modules, &module{path: dep.Path, version: version})
		case dep.Replace != nil && dep.Replace.Version != "":
			modules = append(modules, &module{path: dep.Replace.Path, version: dep.Replace.Version})
		default:
			modules = append(modules, &module{path: dep.Path, version: dep.Version})
		}
	}
	return modules, nil
}

// bill returns the bill of a program. It has no serial number and no time, so that the same program has the same bill.
func bill(modules []*module) *cdx.BOM {
	program := component(modules[0])
	program.Type = cdx.ComponentTypeApplication
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &program}
	var parts []cdx.Component
	var needs []string
	for _, one := range modules[1:] {
		part := component(one)
		parts, needs = append(parts, part), append(needs, part.BOMRef)
	}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &needs}}
	return bom
}

// component returns a module as a component.
func component(m *module) cdx.Component {
	url := "pkg:golang/" + m.path + "@" + m.version
	return cdx.Component{
		BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: m.path, Version: m.version, PackageURL: url, Scope: cdx.ScopeRequired,
		Licenses: &cdx.Licenses{licenceChoice(m.licence)},
	}
}

// licenceChoice returns a licence as CycloneDX has it: one licence by its id, several as an expression.
func licenceChoice(expression string) cdx.LicenseChoice {
	if strings.Contains(expression, " ") {
		return cdx.LicenseChoice{Expression: expression}
	}
	return cdx.LicenseChoice{License: &cdx.License{ID: expression}}
}
