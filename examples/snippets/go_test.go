package snippets

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestGo compiles the Go blocks as far as the compiler's checks of types go. A block is a whole file, declarations, or
// statements of a function that returns an error. The blocks of a page, testdata/common.go and testdata/PAGE.go are one
// package; the page's declarations and imports replace common ones of the same name. A line with "…" stands for
// further lines. Variables and imports without a use are no mistakes, because a block is a part of a program.
func TestGo(t *testing.T) {
	except := readExceptions(t)
	fset := token.NewFileSet()
	type unit struct {
		name  string
		files []*ast.File
	}
	var units []unit
	imports := map[string]bool{}
	add := func(name string, files ...*ast.File) {
		units = append(units, unit{name, files})
		for _, file := range files {
			for _, spec := range file.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				imports[path] = true
			}
		}
	}
	for _, p := range pages(t) {
		var whole, parts []block
		for _, b := range p.blocks {
			switch {
			case b.language != "go" || except.has(p, b.text):
			case isFile(b.text):
				whole = append(whole, b)
			default:
				parts = append(parts, b)
			}
		}
		for _, b := range whole {
			file, err := parser.ParseFile(fset, "", position(p, b)+b.text, parser.SkipObjectResolution)
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			add(p.path, file)
		}
		if len(parts) == 0 {
			continue
		}
		files, header := surroundings(t, fset, p.name)
		for _, b := range parts {
			file, err := parsePart(fset, p, b, header)
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			files = append(files, file)
		}
		add(p.path, files...)
	}

	config := types.Config{
		Importer: importer.ForCompiler(fset, "gc", exports(t, imports)),
		Error: func(err error) {
			var mistake types.Error
			if !errors.As(err, &mistake) || !mistake.Soft {
				t.Error(err)
			}
		},
	}
	n := 0
	for _, u := range units {
		_, _ = config.Check(u.name, fset, u.files, nil) // Error has every mistake
		n += len(u.files)
	}
	if n < 20 {
		t.Errorf("only %d files were compiled", n)
	}
}

func isFile(text string) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly)
	return err == nil && file.Name != nil
}

// position lets mistakes have the line of the page.
func position(p page, b block) string { return fmt.Sprintf("//line %s:%d\n", p.path, b.line) }

// parsePart parses declarations or statements.
func parsePart(fset *token.FileSet, p page, b block, header string) (*ast.File, error) {
	var text strings.Builder
	for line := range strings.Lines(b.text) {
		if strings.TrimSpace(line) == "…" {
			line = "\n"
		}
		text.WriteString(line)
	}
	file, err := parser.ParseFile(fset, "", header+position(p, b)+text.String(), parser.SkipObjectResolution)
	if err == nil {
		return file, nil
	}
	return parser.ParseFile(fset, "", header+"func _() error {\n"+position(p, b)+text.String()+"\nreturn nil\n}\n", parser.SkipObjectResolution)
}

// version matches the last part of a path that is the version of a module.
var version = regexp.MustCompile(`/v\d+$`)

// surroundings returns what the blocks of a page may use: the files of testdata, and the clauses of package and imports with
// which each block begins.
func surroundings(t *testing.T, fset *token.FileSet, name string) (files []*ast.File, header string) {
	t.Helper()
	imports := map[string]string{} // the path by the name
	declared := map[string]bool{}
	for _, path := range []string{filepath.Join("testdata", name+".go"), filepath.Join("testdata", "common.go")} {
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			used := version.ReplaceAllString(strings.Trim(spec.Path.Value, `"`), "")
			used = used[strings.LastIndex(used, "/")+1:]
			if spec.Name != nil {
				used = spec.Name.Name
			}
			if _, found := imports[used]; !found {
				imports[used] = spec.Path.Value
			}
		}
		file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
			names := namesOf(d)
			again := slices.ContainsFunc(names, func(n string) bool { return declared[n] })
			for _, n := range names {
				declared[n] = true
			}
			return again
		})
		files = append(files, file)
	}
	var text strings.Builder
	text.WriteString("package page\n")
	for _, used := range slices.Sorted(maps.Keys(imports)) {
		if !declared[used] {
			fmt.Fprintf(&text, "import %s %s\n", used, imports[used])
		}
	}
	return files, text.String()
}

// namesOf returns the names that a declaration other than a method and an import declares.
func namesOf(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// exports returns the function that opens the compiled types of a package. The go command compiles what is missing.
func exports(t *testing.T, imports map[string]bool) func(path string) (io.ReadCloser, error) {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}}\t{{.Export}}{{end}}", "--"},
		slices.Sorted(maps.Keys(imports))...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, file, found := strings.Cut(strings.TrimSpace(line), "\t"); found {
			files[path] = file
		}
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}
