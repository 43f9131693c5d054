// Package yamltree reads YAML text as a small tree whose values know their lines, so that a reader can name every mistake
// with its line. Files from elsewhere must not harm the process: depth, keys and what aliases expand to are bounded, and
// keys that are given twice are mistakes.
package yamltree

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/hourbell/hourbell/internal/declared"
)

// Sort is the type of a node.
type Sort int

// The types.
const (
	Null Sort = iota
	Scalar
	List
	Mapping
)

// String returns the word for the type in messages.
func (s Sort) String() string {
	return [...]string{"empty", "a single value", "a list", "a mapping"}[s]
}

// Node is a value of the file. Aliases share their anchor's node, so the tree
// is never larger than the file, although it may be reached by many paths.
type Node struct {
	Sort   Sort
	Line   int
	Text   string // of a scalar, as written
	Plain  bool   // a scalar without quotes, which may mean a number or a truth value
	Items  []*Node
	Fields []Field
}

// Field is a key of a mapping and its value.
type Field struct {
	Key   string
	Line  int
	Value *Node
}

// Find returns the field of a mapping with this key, or nil. n may be nil.
func (n *Node) Find(key string) *Field {
	if n == nil {
		return nil
	}
	for i := range n.Fields {
		if n.Fields[i].Key == key {
			return &n.Fields[i]
		}
	}
	return nil
}

// Value returns the value of the field of a mapping with this key, or nil. n may be nil.
func (n *Node) Value(key string) *Node {
	if f := n.Find(key); f != nil {
		return f.Value
	}
	return nil
}

// builder converts the parser's tree to the tree of this package, and records
// what is wrong with it.
type builder struct {
	file    string
	errs    *declared.FileError
	anchors map[string]*Node
	merged  int // fields copied by <<
}

// Parse returns the root of the file's only document, or nil after recording why there is none.
func Parse(name string, text []byte, errs *declared.FileError) *Node {
	switch all := ParseAll(name, text, errs); {
	case errs.Err() != nil && len(all) == 0:
	case len(all) == 0:
		errs.Add(declared.Error{
			File: name, Problem: "the file declares nothing", Remedy: "write owner, revision and schedules; an empty set is schedules: []",
		})
	case len(all) > 1:
		errs.Add(declared.Error{
			File: name, Line: all[1].Line, Problem: "a second document begins",
			Remedy: "keep one document in a file: remove the line --- and what follows, or put it into a file of its own",
		})
	default:
		return all[0]
	}
	return nil
}

// ParseAll returns the roots of the file's documents. A file without a document, or with a mistake that was recorded,
// may have no root.
func ParseAll(name string, text []byte, errs *declared.FileError) []*Node {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	b := &builder{file: name, errs: errs}
	tree, err := parseYAML(string(text))
	if err != nil {
		b.syntax(err)
		return nil
	}
	var roots []*Node
	for _, document := range tree.Docs {
		b.anchors = map[string]*Node{} // an anchor holds within its document
		if _, directive := document.Body.(*ast.DirectiveNode); !directive && document.Body != nil {
			roots = append(roots, b.node(document.Body))
		}
	}
	if b.merged > maxMerge {
		return nil
	}
	return roots
}

// parseYAML calls the parser. The parser is a third-party package, and a file
// must not end a node: a panic in the parser also refuses the file.
func parseYAML(text string) (tree *ast.File, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("cannot be read as YAML")
		}
	}()
	tokens := lexer.Tokenize(text)
	if trouble := checkShape(tokens); trouble != nil {
		return nil, &yaml.SyntaxError{Message: trouble.reason, Token: &token.Token{Position: &token.Position{Line: trouble.line}}}
	}
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

func (b *builder) add(line int, problem, remedy string) {
	b.errs.Add(declared.Error{File: b.file, Line: line, Problem: problem, Remedy: remedy})
}

func (b *builder) syntax(err error) {
	line, problem := 0, err.Error()
	var detail yaml.Error
	if errors.As(err, &detail) {
		problem = detail.GetMessage()
		if t := detail.GetToken(); t != nil && t.Position != nil {
			line = t.Position.Line
		}
	}
	remedy := "correct the YAML"
	if strings.Contains(problem, `'\t'`) || strings.Contains(problem, "'\t'") {
		problem, remedy = "a tab is not allowed here", "indent with spaces"
	}
	b.add(line, problem, remedy)
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// node converts one value. It never returns nil.
func (b *builder) node(n ast.Node) *Node {
	line := lineOf(n)
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return &Node{Line: line}
	case *ast.StringNode:
		plain := n.Token.Type != token.SingleQuoteType && n.Token.Type != token.DoubleQuoteType
		return &Node{Sort: Scalar, Line: line, Text: n.Value, Plain: plain}
	case *ast.LiteralNode:
		return &Node{Sort: Scalar, Line: line, Text: n.Value.Value}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return &Node{Sort: Scalar, Line: line, Text: n.GetToken().Value, Plain: true}
	case *ast.SequenceNode:
		return b.list(n, line)
	case *ast.MappingNode:
		return b.mapping(n.Values, line)
	case *ast.MappingValueNode:
		return b.mapping([]*ast.MappingValueNode{n}, lineOf(n.Key))
	case *ast.AnchorNode:
		value := b.node(n.Value)
		b.anchors[n.Name.GetToken().Value] = value
		return value
	case *ast.AliasNode:
		return b.alias(n, line)
	case *ast.TagNode:
		return b.tagged(n, line)
	}
	b.add(line, "this form of YAML is not accepted here", "write a plain value, list or mapping")
	return &Node{Line: line}
}

func (b *builder) list(n *ast.SequenceNode, line int) *Node {
	out := &Node{Sort: List, Line: line, Items: make([]*Node, len(n.Values))}
	for i, value := range n.Values {
		out.Items[i] = b.node(value)
	}
	return out
}

func (b *builder) alias(n *ast.AliasNode, line int) *Node {
	name := n.Value.GetToken().Value
	value, ok := b.anchors[name]
	if !ok {
		b.add(line, fmt.Sprintf("*%s refers to no anchor above it", name), fmt.Sprintf("mark the value it stands for with &%s", name))
		return &Node{Line: line}
	}
	return value
}

func (b *builder) tagged(n *ast.TagNode, line int) *Node {
	value := b.node(n.Value)
	if tag := n.GetToken().Value; tag != "!!str" || value.Sort == List || value.Sort == Mapping {
		b.add(line, fmt.Sprintf("the tag %s is not accepted", tag), "remove it")
		return value
	}
	return &Node{Sort: Scalar, Line: line, Text: value.Text}
}

// mapping converts keys and values. Duplicate keys are recorded; keys of merged
// mappings (<<) give way to the mapping's own keys.
func (b *builder) mapping(values []*ast.MappingValueNode, line int) *Node {
	out := &Node{Sort: Mapping, Line: line}
	seen := map[string]int{}
	var merges []Field
	for _, value := range values {
		if _, merge := value.Key.(*ast.MergeKeyNode); merge {
			merges = append(merges, Field{"<<", lineOf(value.Key), b.node(value.Value)})
			continue
		}
		key, ok := b.key(value.Key)
		if !ok {
			continue
		}
		at := lineOf(value.Key)
		if first, twice := seen[key]; twice {
			b.add(at, fmt.Sprintf("the key %q is given twice, first in line %d", key, first), "remove one of them")
			continue
		}
		seen[key] = at
		out.Fields = append(out.Fields, Field{key, at, b.node(value.Value)})
	}
	for _, merge := range merges {
		b.merge(out, seen, merge)
	}
	return out
}

func (b *builder) key(key ast.MapKeyNode) (string, bool) {
	switch key := key.(type) {
	case *ast.StringNode:
		return key.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return key.GetToken().Value, true
	}
	b.add(lineOf(key), "a key is not a plain text", "write it as key: value")
	return "", false
}

func (b *builder) merge(into *Node, seen map[string]int, from Field) {
	sources := []*Node{from.Value}
	if from.Value.Sort == List {
		sources = from.Value.Items
	}
	for _, source := range sources {
		if source.Sort != Mapping {
			b.add(from.Line, "<< is given "+source.Sort.String(), "give it a mapping, as in <<: *anchor")
			continue
		}
		if b.merged > maxMerge {
			return // recorded as a mistake already
		}
		if b.merged += len(source.Fields); b.merged > maxMerge {
			b.add(from.Line, "<< copies too much", "write fewer or smaller anchors")
			return
		}
		for _, f := range source.Fields {
			if _, own := seen[f.Key]; !own {
				seen[f.Key] = f.Line
				into.Fields = append(into.Fields, f)
			}
		}
	}
}
