// Shape prints how large the code is, and how much of it a change has to touch. Tests, suites, benchmarks,
// proofs and examples are not counted, unless a row says so.
//
//	go run ./shape        in the module proof; scripts/shape calls it
//
// A figure is counted, not judged: a row has no bound here.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fzipp/gocyclo"
)

// house is the code of the repository.
type house struct {
	root  string
	files []*file // of Go, in the order of their paths
	sql   []string
	fset  *token.FileSet
}

// file is a file of Go that counts.
type file struct {
	path   string // in the repository
	text   []byte
	syntax *ast.File
}

func main() {
	h, err := read()
	if err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
	for _, row := range h.rows() {
		fmt.Printf("%-44s %s\n", row.name, row.value)
	}
}

// row is a line of the output.
type row struct{ name, value string }

func (h *house) rows() []row {
	n := func(name string, value int) row { return row{name, fmt.Sprint(value)} }
	two := func(name string, a int, what string, b int) row {
		return row{name, fmt.Sprintf("%d, %s %d", a, what, b)}
	}
	methods, abilities := h.contract()
	structs, fields := h.requests()
	longest, where := h.longestOfClaims()
	lines, bodies := h.twins("drivers/mysql", "drivers/sqlite")
	trip, tripADRs := h.trip("## The trip of a job")
	exported, rootTypes := h.exported()
	most, all := h.complex(10)
	return []row{
		n("lines of Go", h.lines(func(*file) bool { return true })),
		two("methods of the storage contract", methods, "and of abilities", abilities),
		two("request and result structs", structs, "fields", fields),
		n("fields of the fetcher", h.fieldsOf("internal/work", "fetcher")),
		{"longest function of the path of a claim", fmt.Sprintf("%d lines (%s)", longest, where)},
		n("statements of PostgreSQL's claim", h.claimStatements()),
		two("common lines of drivers/mysql and sqlite", lines, "equal bodies", bodies),
		n("lines of statement tables by hand", h.lines(func(f *file) bool { return filepath.Base(f.path) == "statements.go" })),
		two("files that the trip of a job names", trip, "ADRs", tripADRs),
		two("exported names", exported, "types of the root package", rootTypes),
		n("type names that root, store and plan have", len(h.shared(".", "store", "internal/plan"))),
		two("files in the root folder", h.in("."), "internal packages", h.packages("internal/")),
		n("files in package main of the program", h.in("cmd/hourbell")),
		{"functions with a complexity above 10", fmt.Sprintf("%d of %d (%.1f %%)", most, all, 100*float64(most)/float64(max(all, 1)))},
		n("lines longer than 160 characters", h.longLines(160)),
		two("files that name MaxAttempts", h.naming(`\bMaxAttempts\b`), "SQL", h.sqlNaming(`\bmax_attempts\b`)),
		n("structs with Kind and MaxAttempts", h.structsWith("Kind", "MaxAttempts")),
		{"SQL files of the same name", h.sameSQL()},
	}
}

// aside matches the paths that do not count.
var aside = regexp.MustCompile(`_test\.go$|(^|/)(testdata|bench|proof|examples|storetest|locktest|zonetest|clienttest|testserver)/|^hourbelltest/`)

// read reads the files that Git knows.
func read() (*house, error) {
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	h := &house{root: strings.TrimSpace(string(top)), fset: token.NewFileSet()}
	list := exec.Command("git", "ls-files", "--", "*.go", "*.sql")
	list.Dir = h.root
	names, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of the repository: %w", err)
	}
	for path := range strings.Lines(string(names)) {
		path = strings.TrimSpace(path)
		if aside.MatchString(path) {
			continue
		}
		if strings.HasSuffix(path, ".sql") {
			h.sql = append(h.sql, path)
			continue
		}
		text, err := os.ReadFile(filepath.Join(h.root, path))
		if os.IsNotExist(err) { // deleted, not committed
			continue
		}
		if err != nil {
			return nil, err
		}
		syntax, err := parser.ParseFile(h.fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		h.files = append(h.files, &file{path, text, syntax})
	}
	return h, nil
}

// lines counts the lines of files.
func (h *house) lines(counts func(*file) bool) (n int) {
	for _, f := range h.files {
		if counts(f) {
			n += bytes.Count(f.text, []byte("\n"))
		}
	}
	return n
}

// of returns the files of a package, by its folder.
func (h *house) of(folder string) (files []*file) {
	for _, f := range h.files {
		if filepath.Dir(f.path) == folder {
			files = append(files, f)
		}
	}
	return files
}

func (h *house) in(folder string) int { return len(h.of(folder)) }

// packages counts the folders under a prefix that have files.
func (h *house) packages(prefix string) int {
	folders := map[string]bool{}
	for _, f := range h.files {
		if strings.HasPrefix(f.path, prefix) {
			folders[filepath.Dir(f.path)] = true
		}
	}
	return len(folders)
}

// types calls visit for each type that files declare.
func types(files []*file, visit func(*file, *ast.TypeSpec)) {
	for _, f := range files {
		for _, decl := range f.syntax.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok {
				for _, spec := range gen.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						visit(f, t)
					}
				}
			}
		}
	}
}

// contract counts the methods of the roles that a Backend has, and of the other interfaces of package
// store.
func (h *house) contract() (methods, abilities int) {
	own, embeds := map[string]int{}, map[string][]string{}
	types(h.of("store"), func(_ *file, t *ast.TypeSpec) {
		of, ok := t.Type.(*ast.InterfaceType)
		if !ok || !t.Name.IsExported() {
			return
		}
		for _, m := range of.Methods.List {
			if name, ok := m.Type.(*ast.Ident); ok && len(m.Names) == 0 {
				embeds[t.Name.Name] = append(embeds[t.Name.Name], name.Name)
			}
			own[t.Name.Name] += len(m.Names)
		}
	})
	roles := []string{"Backend"}
	for i := 0; i < len(roles); i++ {
		roles = append(roles, embeds[roles[i]]...)
	}
	for name, n := range own {
		if slices.Contains(roles, name) {
			methods += n
		} else {
			abilities += n
		}
	}
	return methods, abilities
}

// requests counts the structs of package store whose names end in Request or Result, and their fields.
func (h *house) requests() (structs, fields int) {
	types(h.of("store"), func(_ *file, t *ast.TypeSpec) {
		of, ok := t.Type.(*ast.StructType)
		if ok && (strings.HasSuffix(t.Name.Name, "Request") || strings.HasSuffix(t.Name.Name, "Result")) {
			structs++
			fields += fieldsIn(of)
		}
	})
	return structs, fields
}

func fieldsIn(of *ast.StructType) (n int) {
	for _, f := range of.Fields.List {
		n += max(len(f.Names), 1)
	}
	return n
}

// fieldsOf counts the fields of a struct.
func (h *house) fieldsOf(folder, name string) (n int) {
	types(h.of(folder), func(_ *file, t *ast.TypeSpec) {
		if of, ok := t.Type.(*ast.StructType); ok && t.Name.Name == name {
			n = fieldsIn(of)
		}
	})
	return n
}

// structsWith counts the structs that have all of these fields themselves.
func (h *house) structsWith(names ...string) (n int) {
	types(h.files, func(_ *file, t *ast.TypeSpec) {
		of, ok := t.Type.(*ast.StructType)
		if !ok {
			return
		}
		has := map[string]bool{}
		for _, f := range of.Fields.List {
			for _, name := range f.Names {
				has[name.Name] = true
			}
		}
		if !slices.ContainsFunc(names, func(name string) bool { return !has[name] }) {
			n++
		}
	})
	return n
}

// functions calls visit for each function of files.
func functions(files []*file, visit func(*file, *ast.FuncDecl)) {
	for _, f := range files {
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				visit(f, fn)
			}
		}
	}
}

func (h *house) length(fn *ast.FuncDecl) int {
	return h.fset.Position(fn.Body.Rbrace).Line - h.fset.Position(fn.Pos()).Line + 1
}

// ofClaims matches the files through which a claim goes.
var ofClaims = regexp.MustCompile(`^(internal/work/(fetch|claim|permits|suspects|gate|pace)|store/rowwise/(claim|lane|permit|gate|due)|drivers/[a-z]+/(claim|lanes|permits))[a-z_]*\.go$`)

// longestOfClaims returns the length of the longest function of the path of a claim.
func (h *house) longestOfClaims() (lines int, where string) {
	functions(h.files, func(f *file, fn *ast.FuncDecl) {
		if n := h.length(fn); ofClaims.MatchString(f.path) && n > lines {
			lines, where = n, fn.Name.Name+" in "+f.path
		}
	})
	return lines, where
}

// twins counts the lines that files of equal names in two folders have in common, without blank lines,
// comments, imports and lone brackets, and the functions of more than three lines whose bodies are equal.
func (h *house) twins(one, other string) (lines, bodies int) {
	texts := func(folder string) (byFile map[string]map[string]int, functionsOf map[string]string) {
		byFile, functionsOf = map[string]map[string]int{}, map[string]string{}
		for _, f := range h.of(folder) {
			set := map[string]int{}
			for line := range strings.Lines(string(f.text)) {
				line = strings.TrimSpace(line)
				if len(strings.Trim(line, "(){}[],;")) > 0 && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, `"`) &&
					!strings.HasPrefix(line, "package ") && !strings.HasPrefix(line, "import ") {
					set[line]++
				}
			}
			byFile[filepath.Base(f.path)] = set
		}
		functions(h.of(folder), func(f *file, fn *ast.FuncDecl) {
			if h.length(fn) > 3 {
				body := f.text[h.fset.Position(fn.Body.Pos()).Offset:h.fset.Position(fn.Body.End()).Offset]
				functionsOf[fn.Name.Name] = string(body)
			}
		})
		return byFile, functionsOf
	}
	a, aBodies := texts(one)
	b, bBodies := texts(other)
	for name, set := range a {
		for line, n := range set {
			lines += min(n, b[name][line])
		}
	}
	for name, body := range aBodies {
		if bBodies[name] == body {
			bodies++
		}
	}
	return lines, bodies
}

// trip counts the files that a section of ARCHITECTURE.md names, and its ADRs.
func (h *house) trip(heading string) (files, adrs int) {
	text, err := os.ReadFile(filepath.Join(h.root, "ARCHITECTURE.md"))
	if err != nil {
		return 0, 0
	}
	_, section, _ := strings.Cut(string(text), heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	seen := map[string]bool{}
	for _, quoted := range regexp.MustCompile("`[A-Za-z0-9_./-]+\\.(go|md)`").FindAllString(section, -1) {
		if seen[quoted] {
			continue
		}
		seen[quoted] = true
		if strings.Contains(quoted, "docs/adr/") {
			adrs++
		} else {
			files++
		}
	}
	return files, adrs
}

// exported counts the exported types, functions, methods, constants and variables of packages that
// programs can import, and the types of the root package.
func (h *house) exported() (names, rootTypes int) {
	var open []*file
	for _, f := range h.files {
		if !strings.Contains("/"+f.path, "/internal/") && f.syntax.Name.Name != "main" {
			open = append(open, f)
		}
	}
	for _, f := range open {
		for _, decl := range f.syntax.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
					names++
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						for _, name := range v.Names {
							if name.IsExported() {
								names++
							}
						}
					}
				}
			}
		}
	}
	types(open, func(f *file, t *ast.TypeSpec) {
		if t.Name.IsExported() {
			names++
			if filepath.Dir(f.path) == "." {
				rootTypes++
			}
		}
	})
	return names, rootTypes
}

// receiver returns the name of the type of a method.
func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}

// shared returns the names of exported types that all folders have.
func (h *house) shared(folders ...string) (names []string) {
	count := map[string]int{}
	for _, folder := range folders {
		types(h.of(folder), func(_ *file, t *ast.TypeSpec) {
			if t.Name.IsExported() {
				count[t.Name.Name]++
			}
		})
	}
	for name, n := range count {
		if n == len(folders) {
			names = append(names, name)
		}
	}
	return names
}

// complex counts the functions whose cyclomatic complexity is above a bound, and all functions.
func (h *house) complex(bound int) (above, all int) {
	var stats gocyclo.Stats
	for _, f := range h.files {
		stats = gocyclo.AnalyzeASTFile(f.syntax, h.fset, stats)
	}
	for _, one := range stats {
		if one.Complexity > bound {
			above++
		}
	}
	return above, len(stats)
}

// longLines counts the lines of Go with more characters than a bound.
func (h *house) longLines(bound int) (n int) {
	for _, f := range h.files {
		for line := range strings.Lines(string(f.text)) {
			if len([]rune(strings.TrimRight(line, "\n"))) > bound {
				n++
			}
		}
	}
	return n
}

// naming counts the files of Go that match.
func (h *house) naming(expression string) (n int) {
	match := regexp.MustCompile(expression)
	for _, f := range h.files {
		if match.Match(f.text) {
			n++
		}
	}
	return n
}

// sqlNaming counts the files of SQL that match.
func (h *house) sqlNaming(expression string) (n int) {
	match := regexp.MustCompile(expression)
	for _, path := range h.sql {
		if text, err := os.ReadFile(filepath.Join(h.root, path)); err == nil && match.Match(text) {
			n++
		}
	}
	return n
}

// claimStatements counts the statements that the files of PostgreSQL's claim declare: which lock due jobs, and which give jobs to a node.
func (h *house) claimStatements() (n int) {
	for _, path := range []string{"drivers/postgres/sql/claim_jobs.sql", "drivers/postgres/sql/lock_due_jobs.sql"} {
		text, _ := os.ReadFile(filepath.Join(h.root, path)) // without the file there are none
		n += strings.Count(string(text), "-- statement ")
	}
	return n
}

// sameSQL counts the names of statements that several drivers have, of all names.
func (h *house) sameSQL() string {
	drivers := map[string]int{}
	for _, path := range h.sql {
		if parts := strings.Split(path, "/"); len(parts) == 4 && parts[0] == "drivers" && parts[2] == "sql" {
			drivers[parts[3]]++
		}
	}
	same := 0
	for _, n := range drivers {
		if n > 1 {
			same++
		}
	}
	return fmt.Sprintf("%d of %d", same, len(drivers))
}
