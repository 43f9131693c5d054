// Package sqltext completes the SQL files of a driver when the driver is made. Each
// statement is then written once, as SQL that can be read as it stands. Users of
// Hourbell do not need this package.
//
// A file has one statement, with these additions to SQL:
//
//   - :name is a parameter. Where a database knows numbered parameters only, [Number]
//     gives each name its number.
//   - A line that ends in "-- if NAME" belongs to the statement only if the condition
//     NAME is given. See [Pick].
//   - {name} is replaced by a text, such as the quoted name of a schema.
//   - {name(argument, argument)} is replaced by a text that has the arguments. See [Rules.WithMacros]. A caller
//     of [Expand] makes the text itself.
//   - {spec} is replaced by the names of the columns of the list "spec", separated by
//     commas. Further text in the braces is repeated for each column, and the word
//     "type" stands for its type: {j.spec} is j.kind, j.queue, and so on;
//     {:spec::type[]} is :kind::text[], :queue::text[], and so on. See [Rules].
package sqltext

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Rules are what is put in the place of braces. A Rules is not changed, so that
// concurrent calls are allowed.
type Rules struct {
	// Words has texts by names.
	Words map[string]string
	// Macros has texts with $1, $2 and so on in the place of arguments, by names. A text may have braces itself.
	Macros map[string]string
	// Lists has lists of columns by names: the columns' names, each with its type
	// behind a space if statements use the type, separated by commas.
	Lists map[string]string
}

// WithMacros returns the rules with a further macro from each file of a folder: NAME.sql is the macro NAME, without the
// lines that begin with "--". The macro is one line, because a statement may have it in a line that has a condition.
func (r Rules) WithMacros(files fs.FS, folder string) (Rules, error) {
	names, err := fs.Glob(files, folder+"/*.sql")
	if err != nil {
		return r, err
	}
	macros := maps.Clone(r.Macros)
	if macros == nil {
		macros = map[string]string{}
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return r, fmt.Errorf("read macros: %w", err)
		}
		var lines []string
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
				lines = append(lines, line)
			}
		}
		macros[strings.TrimSuffix(path.Base(name), ".sql")] = strings.Join(lines, " ")
	}
	r.Macros = macros
	return r, nil
}

// Complete returns a statement: the lines of text whose conditions are given, with
// the braces replaced. A condition that no line has, or braces without a rule, are an
// error.
func (r Rules) Complete(text string, given ...string) (string, error) {
	for _, condition := range given {
		if !slices.Contains(Conditions(text), condition) {
			return "", fmt.Errorf("no line has the condition %s", condition)
		}
	}
	return r.Fill(Pick(text, given...))
}

// Fill replaces the braces in a text. Braces without a letter, such as '{4}', are left
// as they are; other braces without a rule are an error.
func (r Rules) Fill(text string) (string, error) {
	var unknown error
	text = braces.ReplaceAllStringFunc(text, func(found string) string {
		inner := found[1 : len(found)-1]
		if word, known := r.Words[inner]; known {
			return word
		}
		if macro, arguments, known := r.macro(inner); known {
			replaced, err := r.Fill(arguments.Replace(macro))
			unknown = cmp.Or(unknown, err)
			return replaced
		}
		for _, name := range wordPattern.FindAllString(inner, -1) {
			if list, known := r.Lists[name]; known {
				return repeat(inner, name, list)
			}
		}
		unknown = fmt.Errorf("%s has no rule", found)
		return found
	})
	return text, unknown
}

// macro returns the macro that a text in braces names, and what replaces $1, $2 and so on.
func (r Rules) macro(inner string) (text string, arguments *strings.Replacer, known bool) {
	name, list, _ := strings.Cut(inner, "(")
	if text, known = r.Macros[name]; !known {
		return "", nil, false
	}
	var pairs []string
	for i, argument := range strings.Split(strings.TrimSuffix(list, ")"), ", ") {
		pairs = append(pairs, "$"+strconv.Itoa(i+1), argument)
	}
	return text, strings.NewReplacer(pairs...), true
}

var (
	braces      = regexp.MustCompile(`\{[^{}]*[a-z][^{}]*\}`)
	wordPattern = regexp.MustCompile(`[a-z_]+`)
)

// repeat returns text for each column of a list, with the column in the place of the
// list's name.
func repeat(text, name, list string) string {
	var parts []string
	for column := range strings.SplitSeq(list, ",") {
		column, kind, _ := strings.Cut(strings.TrimSpace(column), " ")
		parts = append(parts, wordPattern.ReplaceAllStringFunc(text, func(word string) string {
			switch word {
			case name:
				return column
			case "type":
				return kind
			}
			return word
		}))
	}
	return strings.Join(parts, ", ")
}

// Pick returns a text without the conditional lines whose condition is not given.
func Pick(text string, given ...string) string {
	var lines []string
	for line := range strings.Lines(text) {
		name, found := conditionOf(line)
		if !found || slices.Contains(given, name) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// Conditions returns the conditions of the lines of a text, sorted, each once.
func Conditions(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if name, found := conditionOf(line); found {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// conditionOf returns the condition of a line. It is not a regular expression, nor is
// eachParameter, because each start of a program reads thousands of lines.
func conditionOf(line string) (name string, found bool) {
	const mark = "-- if "
	at := strings.LastIndex(line, mark)
	if at < 0 {
		return "", false
	}
	name = strings.TrimSpace(line[at+len(mark):])
	return name, name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// eachParameter calls do for each parameter of a text without comments: code[start:end] is
// its name with the colon.
func eachParameter(code string, do func(start, end int)) {
	for start := range len(code) {
		if code[start] != ':' || start > 0 && (code[start-1] == ':' || inWord(code[start-1])) {
			continue
		}
		end := start + 1
		for end < len(code) && inWord(code[end]) && (code[end] < 'A' || code[end] > 'Z') {
			end++
		}
		if end > start+1 && code[start+1] >= 'a' {
			do(start, end)
		}
	}
}

// inWord reports whether a character belongs to a word.
func inWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// Parameters returns the names of the parameters of a text, in the order of their
// first use. Comments are not read.
func Parameters(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "--")
		eachParameter(code, func(start, end int) {
			if name := code[start+1 : end]; !slices.Contains(names, name) {
				names = append(names, name)
			}
		})
	}
	return names
}

// Number replaces the parameters of a text by $1, $2, and so on: the places of their
// names in the list. A parameter that is not in the list, or a name that the text does
// not use, is an error. Comments keep the names.
func Number(text string, names []string) (string, error) {
	used := Parameters(text)
	for _, name := range names {
		if !slices.Contains(used, name) {
			return "", fmt.Errorf("parameter %s is not used", name)
		}
	}
	for _, name := range used {
		if !slices.Contains(names, name) {
			return "", fmt.Errorf("parameter %s is not passed", name)
		}
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		code, comment, found := strings.Cut(line, "--")
		written := 0
		eachParameter(code, func(start, end int) {
			out.WriteString(code[written:start] + "$" + strconv.Itoa(slices.Index(names, code[start+1:end])+1))
			written = end
		})
		out.WriteString(code[written:])
		if found {
			out.WriteString("--" + comment)
		}
	}
	return out.String(), nil
}

// Names returns the names of a list of columns or parameters that are separated by
// spaces, with {name} replaced by the names of a list of r.
func (r Rules) Names(text string) []string {
	var names []string
	for word := range strings.FieldsSeq(text) {
		list, known := r.Lists[strings.Trim(word, "{}")]
		if !known || word[0] != '{' {
			names = append(names, word)
			continue
		}
		for column := range strings.SplitSeq(list, ",") {
			names = append(names, strings.Fields(column)[0])
		}
	}
	return names
}

// Piece is a part of a statement: code, and the name of the parameter that follows the code.
type Piece struct {
	Code      string
	Parameter string // empty: the text ends
}

// Pieces splits a text at its parameters, for a driver that writes their values into the text.
// Comments are left out.
func Pieces(text string) []Piece {
	var pieces []Piece
	var code strings.Builder
	for line := range strings.Lines(text) {
		line, _, comment := strings.Cut(line, "--")
		if comment {
			if line = strings.TrimRight(line, " "); line != "" {
				line += "\n"
			}
		}
		written := 0
		eachParameter(line, func(start, end int) {
			code.WriteString(line[written:start])
			pieces = append(pieces, Piece{code.String(), line[start+1 : end]})
			code.Reset()
			written = end
		})
		code.WriteString(line[written:])
	}
	return append(pieces, Piece{Code: code.String()})
}
