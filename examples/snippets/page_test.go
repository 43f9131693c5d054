// Package snippets checks the fenced blocks of the documentation: Go is compiled, commands are run in a temporary folder and
// the output that a page shows is compared, schedule files and crontabs are read by hourbell check, and JSON is parsed.
//
//	page_test.go             finds the blocks of a page
//	go_test.go               compiles the Go blocks, in the surroundings of testdata/PAGE.go
//	session_test.go          runs the commands of a page, in the surroundings of testdata/PAGE.sh
//	testdata/exceptions.txt  blocks and commands that are not run, each with the reason
package snippets

import (
	"bufio"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the repository.
const root = "../.."

// languages are the languages of blocks; a block with another language fails the test, so that no block is left unchecked by a
// misspelling. A block in text is for what is neither code nor commands nor their output; a picture in mermaid is drawn by
// the site.
var languages = map[string]bool{
	"go": true, "sh": true, "console": true, "yaml": true, "crontab": true, "json": true, "sql": true, "ini": true, "java": true,
	"text": true, "mermaid": true,
}

// page is a page of the documentation.
type page struct {
	name   string // such as workers, or example-signup for examples/signup/README.md
	path   string // from the root
	blocks []block
}

// block is a fenced block.
type block struct {
	language string
	line     int    // of the first line of the text
	text     string // ends with a line feed
}

// pages reads the README, docs/*.md, and the READMEs of examples.
func pages(t *testing.T) (all []page) {
	t.Helper()
	paths := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "examples/README.md", "examples/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(found))
		}
		for _, path := range found {
			path, _ = filepath.Rel(root, path)
			paths = append(paths, filepath.ToSlash(path))
		}
	}
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		if name == "README" && path != "README.md" {
			name = "example-" + filepath.Base(filepath.Dir(path))
		}
		blocks, err := parse(string(text))
		if err != nil {
			t.Errorf("%s:%v", path, err)
		}
		all = append(all, page{name: name, path: path, blocks: blocks})
	}
	return all
}

// item matches the first line of an item of a list, whose further lines are indented.
var item = regexp.MustCompile(`^\s*([-*]|\d+\.) `)

// parse finds the blocks of a page. Code that is only indented is an error, because its language is not known.
func parse(text string) (blocks []block, err error) {
	var open *block
	list, blank := false, true
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(line, "\n")
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open == nil:
			open = &block{language: language, line: n + 1}
			if !languages[open.language] {
				return nil, fmt.Errorf("%d: a block has the language %q; use a language of page_test.go", n, open.language)
			}
		case fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		case blank && !list && strings.HasPrefix(line, "    "):
			return nil, fmt.Errorf("%d: write a fenced block with a language, instead of an indented one", n)
		case item.MatchString(line):
			list = true
		case line != "" && line[0] != ' ':
			list = false
		}
		blank = strings.TrimSpace(line) == ""
	}
	if open != nil {
		return nil, fmt.Errorf("%d: the block has no end", open.line)
	}
	return blocks, nil
}

// exceptions are the blocks and commands that are not run: the reason by the page and the first line.
type exceptions map[string]string

// readExceptions reads exceptions.txt: a page, the first line of a block or a command, and the reason, separated by tabs.
func readExceptions(t *testing.T) exceptions {
	t.Helper()
	file, err := os.Open("testdata/exceptions.txt")
	must(t, err)
	defer file.Close()
	all := exceptions{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 || fields[2] == "" {
			t.Fatalf("exceptions.txt: %q is not a page, a first line and a reason, separated by tabs", line)
		}
		all[fields[0]+"\t"+fields[1]] = fields[2]
	}
	return all
}

// has reports whether the block or the command that begins with this line is an exception of the page.
func (e exceptions) has(p page, text string) bool {
	_, found := e[key(p, text)]
	return found
}

func key(p page, text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return p.name + "\t" + strings.TrimSpace(first)
}

// TestExceptionsAreUsed fails for exceptions whose block or command is gone.
func TestExceptionsAreUsed(t *testing.T) {
	unused := readExceptions(t)
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			for line := range strings.Lines(b.text) {
				delete(unused, key(p, strings.TrimPrefix(line, "$ ")))
			}
		}
	}
	for key := range unused {
		t.Errorf("exceptions.txt: %q is in no block", key)
	}
}

// link matches a relative link, which may have an anchor.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)\s]*)?\)`)

// TestLinks follows the relative links of all pages; the site also follows the anchors.
func TestLinks(t *testing.T) {
	for _, p := range pages(t) {
		text, err := os.ReadFile(filepath.Join(root, p.path))
		must(t, err)
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(p.path), found[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", p.path, found[1])
			}
		}
	}
}

// testName matches the name of a test. A "…" at the end of the name stands for any end.
var testName = regexp.MustCompile("`(Test[A-Za-z0-9_]+)(…?)`")

// TestNamedTests looks for the tests that pages name as what shows their claims.
func TestNamedTests(t *testing.T) {
	declared := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "bin" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".."):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range declaration.FindAllSubmatch(text, -1) {
			declared[string(found[1])] = true
		}
		return err
	})
	must(t, err)
	for _, p := range pages(t) {
		text, err := os.ReadFile(filepath.Join(root, p.path))
		must(t, err)
		for _, found := range testName.FindAllStringSubmatch(string(text), -1) {
			begins := func(name string) bool { return strings.HasPrefix(name, found[1]) }
			if !declared[found[1]] && (found[2] == "" || !slices.ContainsFunc(slices.Collect(maps.Keys(declared)), begins)) {
				t.Errorf("%s names %s, which does not exist", p.path, found[1])
			}
		}
	}
}
