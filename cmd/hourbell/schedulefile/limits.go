package schedulefile

import "github.com/goccy/go-yaml/token"

// What a file may hold, so that the parser's time and memory stay in
// proportion to its size.
const (
	maxDepth = 100     // lists and mappings within each other
	maxKeys  = 10_000  // in one mapping
	maxMerge = 200_000 // keys copied by << in the whole file
)

// shape is the trouble that a file's tokens foretell.
type shape struct {
	line   int
	reason string
}

// level is a list or mapping that is open while the tokens are walked.
type level struct {
	column int // of its entries; 0 in flow style
	keys   int
}

// checkShape looks for too much depth and too many keys before anything is
// built. Depth in block style is counted by columns.
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

// enter goes to the block whose entries begin at the column.
func enter(open []level, column int) []level {
	last := len(open) - 1
	if open[last].column == 0 && last > 0 {
		return open // within flow style columns mean nothing
	}
	for last > 0 && open[last].column > column {
		last--
	}
	if last > 0 && open[last].column == column {
		return open[:last+1]
	}
	return append(open[:last+1], level{column: column})
}

// keyColumn is where the key before a colon begins.
func keyColumn(colon *token.Token) int {
	if colon.Prev == nil || colon.Prev.Position.Line != colon.Position.Line {
		return colon.Position.Column
	}
	return colon.Prev.Position.Column
}
