package storetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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

// TestNoBackendHidesAbilities finds the types that embed a store.Backend, outside
// of tests: such a type hides every ability of the backend, without an error, unless it
// has the method Unwrap, by which store.Able finds them.
func TestNoBackendHidesAbilities(t *testing.T) {
	onPurpose := []string{
		"../../store/storetest/abilities.go",      // Plain
		"../../internal/travel/backend.go",        // what the store would do by its own clock; the other abilities are passed on
		"../../internal/clienttest/lostclaims.go", // a store that loses the answers of claims, which are not made in part
		"../../hourbelltest/expectation.go",       // a store that only keeps an insert
	}
	found := map[string]int{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		unwraps := unwrapping(file)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && unwraps[spec.Name.Name] {
				return false
			}
			if s, ok := n.(*ast.StructType); ok && slices.ContainsFunc(s.Fields.List, embedsBackend) {
				found[path]++
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range onPurpose {
		if found[path] != 1 {
			t.Errorf("%s has %d such structs, want 1", path, found[path])
		}
		delete(found, path)
	}
	for path := range found {
		t.Errorf("%s: a struct embeds store.Backend; pass its abilities on as package intercept does, and compare them with Abilities in a test", path)
	}
}

// unwrapping returns the names of the types of a file that have the method Unwrap.
func unwrapping(file *ast.File) map[string]bool {
	types := map[string]bool{}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv == nil || f.Name.Name != "Unwrap" {
			continue
		}
		of := f.Recv.List[0].Type
		if pointer, ok := of.(*ast.StarExpr); ok {
			of = pointer.X
		}
		if receiver, ok := of.(*ast.Ident); ok {
			types[receiver.Name] = true
		}
	}
	return types
}

// embedsBackend reports whether a field is an embedded store.Backend.
func embedsBackend(field *ast.Field) bool {
	of, ok := field.Type.(*ast.SelectorExpr)
	if !ok || len(field.Names) > 0 {
		return false
	}
	from, ok := of.X.(*ast.Ident)
	return ok && from.Name == "store" && of.Sel.Name == "Backend"
}
