package schedulefile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/internal/declared"
)

// hookScopes are the hooks that are defined outside the schedules. The nearest
// hook wins: a schedule's own, its group's, the file's.
type hookScopes struct {
	file   declared.HookSet
	groups map[string]group
}

// group is the section of a file for one group of its schedules.
type group struct {
	hooks declared.HookSet
	line  int
}

// hookScopes reads the file's hooks and its groups' hooks.
func (e *entry) hookScopes() hookScopes {
	scopes := hookScopes{file: e.hookSet(), groups: map[string]group{}}
	f := e.find("groups")
	switch {
	case f == nil:
		return scopes
	case f.Value.Sort != yamltree.Mapping:
		e.add("groups", "is "+f.Value.Sort.String(), "write the name of each group and its hooks, as in nightly: {on_failure: line}")
		return scopes
	}
	for _, g := range f.Value.Fields {
		one := &entry{reader: e.reader, node: g.Value, label: fmt.Sprintf("groups %q", declared.Label(g.Key, 60))}
		if !one.isMapping("", "write its hooks as keys") {
			continue
		}
		one.checkNames(declared.HookKeys())
		scopes.groups[g.Key] = group{one.hookSet(), g.Line}
	}
	return scopes
}

// warnUnused warns about groups that contain no schedule: their hooks never
// run.
func (h hookScopes) warnUnused(path string, file *declared.File) {
	for name, g := range h.groups {
		used := slices.ContainsFunc(file.All(), func(e declared.Entry) bool { return e.Group == name })
		if !used {
			file.Warn(declared.Error{
				File: path, Line: g.line, Entry: fmt.Sprintf("groups %q", declared.Label(name, 60)),
				Problem: "no schedule of this file is in the group", Remedy: "give schedules group: with this name, or remove it",
			})
		}
	}
}

// scheduleHooks returns the hooks that apply to a schedule of the group.
func (e *entry) scheduleHooks(group string) hourbell.Hooks {
	return e.hookSet().Within(e.hooks.groups[group].hooks).Within(e.hooks.file).Hooks()
}

// hookSet reads the hooks of one section.
func (e *entry) hookSet() declared.HookSet {
	set := declared.HookSet{}
	for _, key := range declared.HookKeys() {
		f := e.find(key)
		switch {
		case f == nil:
		case f.Value.Sort != yamltree.List:
			set.Add(key, e.hook(f.Key, f.Value))
		default:
			set.Add(key, nil)
			for i, item := range f.Value.Items {
				set.Add(key, e.hook(fmt.Sprintf("%s[%d]", key, i+1), item))
			}
		}
	}
	return set
}

// hook reads one hook; it returns nil for "none", or after recording what is
// wrong.
func (e *entry) hook(key string, value *yamltree.Node) hourbell.Args {
	var (
		hook hourbell.Args
		err  error
	)
	switch value.Sort {
	case yamltree.Null:
	case yamltree.Scalar:
		hook, err = declared.ParseHook(value.Text, "")
	case yamltree.Mapping:
		one := &entry{reader: e.reader, node: value, label: strings.TrimPrefix(e.label+": "+key, ": ")}
		return one.hookMapping()
	default:
		e.add(key, "is "+value.Sort.String(), "write a line for the shell, a URL, a mapping with command, shell or url, or a list of these; none switches it off")
	}
	for _, problem := range declared.Fields(err) {
		e.add(key, problem.Problem, problem.Remedy)
	}
	return hook
}

// hookMapping reads a hook written as a mapping.
func (e *entry) hookMapping() hourbell.Args {
	e.checkKeys(hookKeys)
	if !e.exactlyOne("hook", "what it does", "command", "shell", "url") {
		return nil
	}
	if !e.has("url") {
		e.refuse("without url", "remove it", httpKeys[1:].names()...)
		return e.checkedHook(declared.NewHook(e.command()))
	}
	e.refuse("with url: it belongs to command and shell", "remove it", "env", "dir", "user", "base", "detached", "shell_options")
	return e.checkedHook(declared.NewHook(e.http()))
}

// checkedHook records what is wrong with a hook.
func (e *entry) checkedHook(hook hourbell.Args, err error) hourbell.Args {
	for _, f := range declared.Fields(err) {
		if f.Name = strings.Replace(f.Name, "argv", "command", 1); f.Name == "command" {
			f.Problem, f.Remedy = "is empty", "list the program and its arguments, or write a line as shell:"
		}
		e.addField(f)
	}
	return hook
}
