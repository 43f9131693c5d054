package storetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/store/memory"
)

// TestAbilitiesAreComplete compares Abilities with the interfaces of package store
// that backends may implement.
func TestAbilitiesAreComplete(t *testing.T) {
	var declared, known []string
	files, err := filepath.Glob("../*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && strings.Contains(g.Doc.Text(), "is implemented by backends") {
				declared = append(declared, g.Specs[0].(*ast.TypeSpec).Name.Name)
			}
		}
	}
	for _, ability := range Abilities() {
		known = append(known, ability.Name)
		if ability.Of(Plain(memory.New())) {
			t.Errorf("a plain backend has the ability %s", ability.Name)
		}
	}
	slices.Sort(declared)
	if !slices.Equal(declared, known) {
		t.Errorf("package store declares the abilities %v, Abilities returns %v", declared, known)
	}
}
