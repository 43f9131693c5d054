package main

import (
	"go/ast"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// members are the fields and methods of a type, and the types that it embeds.
type members struct {
	names    map[string]bool
	embedded []string // "folder Type"; of a type that is not in the repository, the empty text
}

// TestCommentsNameWhatExists finds comments that name a field or a method, as in ClaimRequest.Queue or store.ClaimRequest.Queue, that
// the type does not have.
func TestCommentsNameWhatExists(t *testing.T) {
	h, err := read()
	if err != nil {
		t.Fatal(err)
	}
	all := membersOf(h)
	qualified := regexp.MustCompile(`(^|[^\w./])(?:([a-z]\w*)\.)?([A-Z]\w*)\.([A-Z]\w*)`)
	looked := 0
	for _, f := range h.files {
		imports := importsOf(f)
		for _, group := range f.syntax.Comments {
			for _, found := range qualified.FindAllStringSubmatch(group.Text(), -1) {
				folder := filepath.Dir(f.path)
				if found[2] != "" {
					folder = imports[found[2]]
				}
				key := folder + " " + found[3]
				if folder == "" || all[key] == nil {
					continue
				}
				looked++
				if !all.has(key, found[4]) {
					t.Errorf("%s: a comment names %s.%s, which does not exist", h.fset.Position(group.Pos()), found[3], found[4])
				}
			}
		}
	}
	if looked < 300 {
		t.Errorf("only %d names were looked up", looked)
	}
}

type memberIndex map[string]*members

// has reports whether a type has a member, itself or by an embedded type.
func (all memberIndex) has(key, name string) bool {
	m := all[key]
	if m == nil || m.names[name] { // what is outside of the repository is not known
		return true
	}
	for _, embedded := range m.embedded {
		if all.has(embedded, name) {
			return true
		}
	}
	return false
}

func membersOf(h *house) memberIndex {
	all := memberIndex{}
	types(h.files, func(f *file, t *ast.TypeSpec) {
		m := &members{names: map[string]bool{}}
		folder := filepath.Dir(f.path)
		all[folder+" "+t.Name.Name] = m
		var list *ast.FieldList
		switch of := t.Type.(type) {
		case *ast.StructType:
			list = of.Fields
		case *ast.InterfaceType:
			list = of.Methods
		default:
			m.embedded = append(m.embedded, embeddedIn(f, t.Type))
			return
		}
		for _, one := range list.List {
			for _, name := range one.Names {
				m.names[name.Name] = true
			}
			if len(one.Names) == 0 {
				m.embedded = append(m.embedded, embeddedIn(f, one.Type))
				m.names[lastName(one.Type)] = true
			}
		}
	})
	for _, f := range h.files {
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
				if m := all[filepath.Dir(f.path)+" "+receiver(fn)]; m != nil {
					m.names[fn.Name.Name] = true
				}
			}
		}
	}
	return all
}

// embeddedIn returns the key of a type; of a type that is not named, the empty text.
func embeddedIn(f *file, t ast.Expr) string {
	switch of := t.(type) {
	case *ast.StarExpr:
		return embeddedIn(f, of.X)
	case *ast.IndexExpr:
		return embeddedIn(f, of.X)
	case *ast.Ident:
		return filepath.Dir(f.path) + " " + of.Name
	case *ast.SelectorExpr:
		if pkg, ok := of.X.(*ast.Ident); ok {
			return importsOf(f)[pkg.Name] + " " + of.Sel.Name
		}
	}
	return ""
}

func lastName(t ast.Expr) string {
	switch of := t.(type) {
	case *ast.StarExpr:
		return lastName(of.X)
	case *ast.IndexExpr:
		return lastName(of.X)
	case *ast.Ident:
		return of.Name
	case *ast.SelectorExpr:
		return of.Sel.Name
	}
	return ""
}

// importsOf returns the folders of the packages of the repository that a file imports, by the names by which it calls them.
func importsOf(f *file) map[string]string {
	const module = "github.com/hourbell/hourbell"
	imports := map[string]string{}
	for _, spec := range f.syntax.Imports {
		whole, _ := strconv.Unquote(spec.Path.Value)
		folder, ok := strings.CutPrefix(whole, module)
		if !ok {
			continue
		}
		if folder = strings.TrimPrefix(folder, "/"); folder == "" {
			folder = "."
		}
		name := path.Base(whole)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = folder
	}
	return imports
}
