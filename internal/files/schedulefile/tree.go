package schedulefile

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

// sort is the type of a node.
type sort int

const (
	null sort = iota
	scalar
	list
	mapping
)

// String returns the word for the type in messages.
func (s sort) String() string {
	return [...]string{"empty", "a single value", "a list", "a mapping"}[s]
}

// node is a value of the file. Aliases share their anchor's node, so the tree
// is never larger than the file, although it may be reached by many paths.
type node struct {
	sort   sort
	line   int
	text   string // of a scalar, as written
	plain  bool   // a scalar without quotes, which may mean a number or a truth value
	items  []*node
	fields []field
}

// field is a key of a mapping and its value.
type field struct {
	key   string
	line  int
	value *node
}

// builder converts the parser's tree to the tree of this package, and records
// what is wrong with it.
type builder struct {
	file    string
	errs    *declared.FileError
	anchors map[string]*node
	merged  int // fields copied by <<
}

// parse returns the root of the file's only document, or nil after recording
// why there is none.
func parse(name string, text []byte, errs *declared.FileError) *node {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	b := &builder{file: name, errs: errs, anchors: map[string]*node{}}
	tree, err := parseYAML(string(text))
	if err != nil {
		b.syntax(err)
		return nil
	}
	body := b.onlyDocument(tree)
	if body == nil {
		return nil
	}
	root := b.node(body)
	if b.merged > maxMerge {
		return nil
	}
	return root
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

func (b *builder) onlyDocument(tree *ast.File) ast.Node {
	var body ast.Node
	for _, document := range tree.Docs {
		if _, directive := document.Body.(*ast.DirectiveNode); directive || document.Body == nil {
			continue
		}
		if body != nil {
			b.add(lineOf(document.Body), "a second document begins", "keep one document in a file: remove the line --- and what follows, or put it into a file of its own")
			return nil
		}
		body = document.Body
	}
	if body == nil {
		b.add(0, "the file declares nothing", "write owner, revision and schedules; an empty set is schedules: []")
	}
	return body
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// node converts one value. It never returns nil.
func (b *builder) node(n ast.Node) *node {
	line := lineOf(n)
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return &node{line: line}
	case *ast.StringNode:
		plain := n.Token.Type != token.SingleQuoteType && n.Token.Type != token.DoubleQuoteType
		return &node{sort: scalar, line: line, text: n.Value, plain: plain}
	case *ast.LiteralNode:
		return &node{sort: scalar, line: line, text: n.Value.Value}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return &node{sort: scalar, line: line, text: n.GetToken().Value, plain: true}
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
	return &node{line: line}
}

func (b *builder) list(n *ast.SequenceNode, line int) *node {
	out := &node{sort: list, line: line, items: make([]*node, len(n.Values))}
	for i, value := range n.Values {
		out.items[i] = b.node(value)
	}
	return out
}

func (b *builder) alias(n *ast.AliasNode, line int) *node {
	name := n.Value.GetToken().Value
	value, ok := b.anchors[name]
	if !ok {
		b.add(line, fmt.Sprintf("*%s refers to no anchor above it", name), fmt.Sprintf("mark the value it stands for with &%s", name))
		return &node{line: line}
	}
	return value
}

func (b *builder) tagged(n *ast.TagNode, line int) *node {
	value := b.node(n.Value)
	if tag := n.GetToken().Value; tag != "!!str" || value.sort == list || value.sort == mapping {
		b.add(line, fmt.Sprintf("the tag %s is not accepted", tag), "remove it")
		return value
	}
	return &node{sort: scalar, line: line, text: value.text}
}

// mapping converts keys and values. Duplicate keys are recorded; keys of merged
// mappings (<<) give way to the mapping's own keys.
func (b *builder) mapping(values []*ast.MappingValueNode, line int) *node {
	out := &node{sort: mapping, line: line}
	seen := map[string]int{}
	var merges []field
	for _, value := range values {
		if _, merge := value.Key.(*ast.MergeKeyNode); merge {
			merges = append(merges, field{"<<", lineOf(value.Key), b.node(value.Value)})
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
		out.fields = append(out.fields, field{key, at, b.node(value.Value)})
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

func (b *builder) merge(into *node, seen map[string]int, from field) {
	sources := []*node{from.value}
	if from.value.sort == list {
		sources = from.value.items
	}
	for _, source := range sources {
		if source.sort != mapping {
			b.add(from.line, "<< is given "+source.sort.String(), "give it a mapping, as in <<: *anchor")
			continue
		}
		if b.merged > maxMerge {
			return // recorded as a mistake already
		}
		if b.merged += len(source.fields); b.merged > maxMerge {
			b.add(from.line, "<< copies too much", "write fewer or smaller anchors")
			return
		}
		for _, f := range source.fields {
			if _, own := seen[f.key]; !own {
				seen[f.key] = f.line
				into.fields = append(into.fields, f)
			}
		}
	}
}
