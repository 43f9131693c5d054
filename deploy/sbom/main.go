// Sbom prints the software bill of materials of a Go program: the modules that were linked into it, in the format
// CycloneDX.
//
//	go run ./deploy/sbom FILE VERSION
//
// It reads the program, and no module files, so that it lists what the program contains. Modules of this repository
// have the version of the program.
package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom FILE VERSION")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// own is the path with which the modules of this repository begin.
const own = "github.com/hourbell/hourbell"

func run(file, version string, out io.Writer) error {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	encoder := cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	return encoder.EncodeVersion(bill(info, version), cdx.SpecVersion1_6)
}

// bill returns the bill of a program. It has no serial number and no time, so that the same program has the same bill.
func bill(info *buildinfo.BuildInfo, version string) *cdx.BOM {
	program := component(info.Main.Path, version)
	program.Type = cdx.ComponentTypeApplication
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &program}
	goroot := component("std", strings.TrimPrefix(info.GoVersion, "go"))
	parts := []cdx.Component{goroot}
	needs := []string{goroot.BOMRef}
	for _, module := range info.Deps {
		if module.Replace != nil && module.Replace.Version != "" {
			module = module.Replace
		}
		its := module.Version
		if module.Path == own || strings.HasPrefix(module.Path, own+"/") {
			its = version
		}
		part := component(module.Path, its)
		parts, needs = append(parts, part), append(needs, part.BOMRef)
	}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &needs}}
	return bom
}

// component returns a module as a component.
func component(path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url, Scope: cdx.ScopeRequired}
}
