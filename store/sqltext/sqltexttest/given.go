package sqltexttest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Given fails if no code in the folders names a parameter of a statement, so that no call can pass it. A call itself
// fails if it passes other parameters than its statement has.
func Given(t *testing.T, statement string, parameters []string, code map[string]bool) {
	t.Helper()
	for _, name := range parameters {
		if !code[name] {
			t.Errorf("%s: no caller names the parameter %s", statement, name)
		}
	}
}

// Strings returns the strings that the Go code in folders has, without tests.
func Strings(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has %d files of Go: %v", folder, len(files), err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					if text, err := strconv.Unquote(literal.Value); err == nil {
						found[text] = true
					}
				}
				return true
			})
		}
	}
	return found
}
