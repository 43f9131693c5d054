package sqltext

import "strings"

// Expand replaces macros: {name} and {name(argument)}, where the argument is any text
// and may have macros itself, which are replaced first. Other braces are left as they
// are, for Fill.
func Expand(text string, macros map[string]func(argument string) string) string {
	const open, shut = "\x01", "\x02" // stand for braces that are left
	for {
		end := strings.IndexByte(text, '}')
		start := strings.LastIndexByte(text[:max(end, 0)], '{')
		if start < 0 {
			return strings.NewReplacer(open, "{", shut, "}").Replace(text)
		}
		inside := text[start+1 : end]
		name, argument, _ := strings.Cut(inside, "(")
		body := open + inside + shut
		if macro, known := macros[name]; known {
			body = macro(strings.TrimSuffix(argument, ")"))
		}
		text = text[:start] + body + text[end+1:]
	}
}
