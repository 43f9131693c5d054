// Package rowwisetest has a test of drivers: that what a transaction has found out is returned by the function that commits it.
package rowwisetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// NothingEscapes reads the Go files of a folder, and reports each function literal with a parameter of one of the types, which are the
// transactions of a driver, that changes a variable outside of itself: what it writes there outlives a rollback, and stays from one try
// to the next. Such functions return what they have found out; see rowwise.InTx. It finds assignments, addresses that are taken, and
// calls of clear, delete and copy.
//
// A change that does no harm after a rollback has a comment on its line or on the line before, which begins with "kept:" and has the
// reason.
func NothingEscapes(t *testing.T, folder string, types ...string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no Go files in %s: %v", folder, err)
	}
	functions := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found, n, err := escapes(path, source, types)
		if err != nil {
			t.Fatal(err)
		}
		functions += n
		for _, escape := range found {
			t.Errorf("%s outlives the transaction: return it; see rowwise.InTx", escape)
		}
	}
	if functions == 0 {
		t.Errorf("no function literal in %s has a parameter of the types %v", folder, types)
	}
}

// escapes returns the changes that NothingEscapes reports, as positions and names, and how many functions it has read.
func escapes(path string, source []byte, types []string) (found []string, functions int, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.ParseComments)
	if err != nil {
		return nil, 0, err
	}
	line := func(pos token.Pos) int { return files.Position(pos).Line }
	kept := map[int]bool{} // the lines with such a comment, and the lines after them
	for _, group := range file.Comments {
		if strings.HasPrefix(group.Text(), "kept:") {
			kept[line(group.Pos())], kept[line(group.End())+1] = true, true
		}
	}
	type place struct {
		line int
		name string
	}
	var places []place
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.FuncLit)
		if !ok || !takes(literal.Type, types) {
			return true
		}
		functions++
		for _, name := range outer(literal) {
			if at := (place{line(name.Pos()), name.Name}); !kept[at.line] && !slices.Contains(places, at) {
				places = append(places, at)
				found = append(found, files.Position(name.Pos()).String()+": "+name.Name)
			}
		}
		return true
	})
	return found, functions, nil
}

// takes reports whether a function has a parameter of one of the types.
func takes(f *ast.FuncType, types []string) bool {
	return slices.ContainsFunc(f.Params.List, func(p *ast.Field) bool { return slices.Contains(types, text(p.Type)) })
}

// text is a type as it is written: a name, with its package and a star, or empty.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return "*" + text(e.X)
	case *ast.SelectorExpr:
		return text(e.X) + "." + e.Sel.Name
	}
	return ""
}

// outer returns the names of variables outside of a function that the function changes, where it does so.
func outer(f *ast.FuncLit) (names []*ast.Ident) {
	changed := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			name := root(e)
			if name == nil || name.Name == "_" {
				continue
			}
			// The parser knows what is declared in this file. The rest are variables of the package.
			if name.Obj == nil || name.Obj.Pos() < f.Pos() || name.Obj.Pos() >= f.End() {
				names = append(names, name)
			}
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				changed(n.Lhs...)
			}
		case *ast.IncDecStmt:
			changed(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				changed(n.Key, n.Value)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				changed(n.X)
			}
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"clear", "delete", "copy"}, name.Name) {
				changed(n.Args[0])
			}
		}
		return true
	})
	return names
}

// root is the variable that an expression is a part of, or nil.
func root(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.SliceExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return nil
}
