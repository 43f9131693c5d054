package yamltree

import "github.com/goccy/go-yaml/token"

// Limits of a file's content, so that the parser's time and memory stay in
// proportion to the file's size.
const (
	maxDepth = 100     // of nested lists and mappings
	maxKeys  = 10_000  // in one mapping
	maxMerge = 200_000 // keys copied by << in the whole file
)

// shape is a violation of the limits, found in a file's tokens before parsing.
type shape struct {
	line   int
	reason string
}

// level is a list or mapping that is open while the tokens are walked.
type level struct {
	column int // where its entries begin; 0 in flow style
	keys   int
}

// checkShape looks for too much depth and too many keys before a tree is built.
// Depth in block style is counted by columns.
func checkShape(tokens token.Tokens) *shape {
	open := make([]level, 1, maxDepth+1)
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open = append(open, level{})
		case token.SequenceEndType, token.MappingEndType:
			if len(open) > 1 && open[len(open)-1].column == 0 {
				open = open[:len(open)-1]
			}
		case token.SequenceEntryType, token.MappingKeyType:
			open = enter(open, t.Position.Column)
		case token.MappingValueType:
			if open[len(open)-1].column != 0 || len(open) == 1 {
				open = enter(open, keyColumn(t))
			}
			open[len(open)-1].keys++
		}
		if len(open) > maxDepth {
			return &shape{t.Position.Line, "lists and mappings are nested too deeply"}
		}
		if open[len(open)-1].keys > maxKeys {
			return &shape{t.Position.Line, "a mapping has too many keys"}
		}
	}
	return nil
}

// enter returns the open levels after moving to the block whose entries begin
// at the column.
func enter(open []level, column int) []level {
	last := len(open) - 1
	if open[last].column == 0 && last > 0 {
		return open // in flow style columns have no meaning
	}
	for last > 0 && open[last].column > column {
		last--
	}
	if last > 0 && open[last].column == column {
		return open[:last+1]
	}
	return append(open[:last+1], level{column: column})
}

// keyColumn returns the column of the key before a colon.
func keyColumn(colon *token.Token) int {
	if colon.Prev == nil || colon.Prev.Position.Line != colon.Position.Line {
		return colon.Position.Column
	}
	return colon.Prev.Position.Column
}
