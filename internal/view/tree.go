package view

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// Tree is nodes that follow each other, to be drawn.
type Tree struct {
	Nodes []TreeNode
	Edges []TreeEdge
	// Root is the number of the node that was asked for, which is marked.
	Root int64
	// Note, if not empty, is printed at the end: what was left out.
	Note string
}

// TreeNode is a node. Label and State may be any text.
type TreeNode struct {
	ID    int64
	Label string
	State string
}

// TreeEdge leads from a predecessor to a dependent. Label may be empty.
type TreeEdge struct {
	From, To int64
	Label    string
}

// edgeLabel returns the label of an edge. An edge that waits for success without a delay has
// none.
func edgeLabel(on store.On, delay time.Duration) string {
	switch {
	case delay > 0:
		return fmt.Sprintf("%v +%v", on, delay)
	case on != store.OnSuccess:
		return on.String()
	}
	return ""
}

// text returns what is shown of a node.
func (n TreeNode) text() string { return plain.Clean(strings.TrimSpace(n.Label + " " + n.State)) }

// Text draws the tree with lines. Each node is drawn under one of its predecessors; under
// the others it is only named.
func (t Tree) Text(w io.Writer) error {
	out := bufio.NewWriter(w)
	d := drawing{tree: t, out: out, nodes: map[int64]TreeNode{}, next: map[int64][]TreeEdge{}, drawn: map[int64]bool{}}
	first := map[int64]bool{}
	for _, n := range t.Nodes {
		d.nodes[n.ID], first[n.ID] = n, true
	}
	for _, e := range t.Edges {
		d.next[e.From] = append(d.next[e.From], e)
		first[e.To] = false
	}
	for _, n := range t.Nodes {
		if first[n.ID] {
			d.draw(n.ID, "", "", "")
		}
	}
	if t.Note != "" {
		fmt.Fprintln(out, t.Note)
	}
	return out.Flush()
}

// drawing is one run of Tree.Text.
type drawing struct {
	tree  Tree
	out   *bufio.Writer
	nodes map[int64]TreeNode
	next  map[int64][]TreeEdge
	drawn map[int64]bool
}

// draw draws a node and the nodes under it. The line of the node begins with before, and the lines below it
// begin with under.
func (d *drawing) draw(id int64, before, under, label string) {
	text := d.nodes[id].text()
	if label != "" {
		text = "[" + plain.Clean(label) + "] " + text
	}
	if id == d.tree.Root {
		text += "  <--"
	}
	if d.drawn[id] && len(d.next[id]) > 0 {
		fmt.Fprintf(d.out, "%s%s (above)\n", before, text)
		return
	}
	d.drawn[id] = true
	fmt.Fprintf(d.out, "%s%s\n", before, text)
	for i, e := range d.next[id] {
		if i == len(d.next[id])-1 {
			d.draw(e.To, under+"└─ ", under+"   ", e.Label)
		} else {
			d.draw(e.To, under+"├─ ", under+"│  ", e.Label)
		}
	}
}

// DOT writes the tree for Graphviz.
func (t Tree) DOT(w io.Writer) error {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "digraph hourbell {\n  node [shape=box];")
	for _, n := range t.Nodes {
		more := ""
		if n.ID == t.Root {
			more = " style=bold"
		}
		fmt.Fprintf(out, "  n%d [label=\"%s\"%s];\n", n.ID, escape.Replace(n.text()), more)
	}
	for _, e := range t.Edges {
		fmt.Fprintf(out, "  n%d -> n%d", e.From, e.To)
		if e.Label != "" {
			fmt.Fprintf(out, " [label=\"%s\"]", escape.Replace(plain.Clean(e.Label)))
		}
		fmt.Fprintln(out, ";")
	}
	fmt.Fprintln(out, "}")
	if t.Note != "" {
		fmt.Fprintln(out, "//", plain.Clean(t.Note))
	}
	return out.Flush()
}

// Mermaid writes the tree for Mermaid.
func (t Tree) Mermaid(w io.Writer) error {
	escape := strings.NewReplacer(`#`, "#35;", `"`, "#quot;", `<`, "#lt;", `>`, "#gt;", `&`, "#amp;", `\`, "#92;", "`", "#96;", `|`, "#124;")
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "flowchart TD")
	for _, n := range t.Nodes {
		fmt.Fprintf(out, "  n%d[\"%s\"]\n", n.ID, escape.Replace(n.text()))
	}
	for _, e := range t.Edges {
		if e.Label == "" {
			fmt.Fprintf(out, "  n%d --> n%d\n", e.From, e.To)
		} else {
			fmt.Fprintf(out, "  n%d -->|\"%s\"| n%d\n", e.From, escape.Replace(plain.Clean(e.Label)), e.To)
		}
	}
	if t.Root != 0 {
		fmt.Fprintf(out, "  style n%d stroke-width:3px\n", t.Root)
	}
	if t.Note != "" {
		fmt.Fprintln(out, "%%", plain.Clean(t.Note))
	}
	return out.Flush()
}
