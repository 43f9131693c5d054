package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// text is a file with a licence or a notice.
type text struct {
	name    string // relative to the folder of the module, with slashes
	content string
}

var (
	// noticeFiles matches the names of files whose texts go with a program. licenceFiles matches the names of files that have the licence
	// of their folder and of the folders in it; a file such as LICENSE-3RD-PARTY is about parts of a folder.
	noticeFiles  = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense|notice|patents)([-_.].*)?$`)
	licenceFiles = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)(\.(txt|md))?$`)
	source       = regexp.MustCompile(`(?i)\.(go|s|c|h)$`)
)

// leastCovered is how much of a text, in percent, has to be the text of licences that are known; the rest is the names of the authors.
const leastCovered = 75

// readLicences reads the licences of modules from the source of the packages of a program, which was built from the package in folder.
func readLicences(ctx context.Context, modules []*module, folder string, info *buildinfo.BuildInfo) error {
	sources, err := listSources(ctx, folder, info)
	if err != nil {
		return err
	}
	var missing []error
	for _, one := range modules {
		at, found := sources[one.path]
		if isOwn(one.path) { // one licence, in the folder of the repository
			at, found = sources[own], true
		}
		if !found {
			missing = append(missing, fmt.Errorf("module %s: its source is not among the packages of %s", one.path, folder))
			continue
		}
		if err := one.read(at); err != nil {
			missing = append(missing, err)
		}
	}
	return errors.Join(missing...)
}

// sourceOf is where the source of a module is.
type sourceOf struct {
	root     string
	packages []string // the folders of its packages that are part of the program
}

// listSources returns where the source of each module of a program is.
func listSources(ctx context.Context, folder string, info *buildinfo.BuildInfo) (map[string]sourceOf, error) {
	const format = `{{with .Module}}{{.Path}}{{"\t"}}{{.Dir}}{{"\t"}}{{$.Dir}}{{end}}`
	args := []string{"list", "-deps", "-f", format}
	for _, setting := range info.Settings {
		if setting.Key == "-tags" {
			args = append(args, "-tags="+setting.Value)
		}
	}
	list := exec.CommandContext(ctx, "go", append(args, ".")...)
	list.Dir, list.Env, list.Stderr = folder, os.Environ(), os.Stderr
	for _, setting := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED"}, setting.Key) {
			list.Env = append(list.Env, setting.Key+"="+setting.Value)
		}
	}
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of %s: %w", folder, err)
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find the standard library: %w", err)
	}
	sources := map[string]sourceOf{standard: {root: strings.TrimSpace(string(goroot))}}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			continue // of the standard library
		}
		at := sources[fields[0]]
		at.root, at.packages = fields[1], append(at.packages, fields[2])
		sources[fields[0]] = at
	}
	return sources, nil
}

// folders returns the root of a module and the folders between it and its packages, in byte order.
func (s sourceOf) folders() []string {
	all := map[string]bool{s.root: true}
	for _, folder := range s.packages {
		for ; len(folder) > len(s.root); folder = filepath.Dir(folder) {
			all[folder] = true
		}
	}
	var sorted []string
	for folder := range all {
		sorted = append(sorted, folder)
	}
	slices.Sort(sorted)
	return sorted
}

// read reads the licences and notices of a module.
func (m *module) read(at sourceOf) error {
	var ids []string
	for _, folder := range at.folders() {
		files, err := os.ReadDir(folder)
		if err != nil {
			return fmt.Errorf("module %s: %w", m.path, err)
		}
		for _, file := range files {
			if file.IsDir() || !noticeFiles.MatchString(file.Name()) || source.MatchString(file.Name()) {
				continue
			}
			path := filepath.Join(folder, file.Name())
			content, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("module %s: %w", m.path, err)
			}
			name, err := filepath.Rel(at.root, path)
			if err != nil {
				return fmt.Errorf("module %s: %w", m.path, err)
			}
			m.texts = append(m.texts, text{filepath.ToSlash(name), string(content)})
			if !licenceFiles.MatchString(file.Name()) {
				continue
			}
			known := licensecheck.Scan(content)
			if known.Percent < leastCovered {
				return fmt.Errorf("module %s: %s is no licence that is known (%.0f %% of it): read it, and decide whether the program may use the module",
					m.path, path, known.Percent)
			}
			for _, match := range known.Match {
				ids = append(ids, match.ID)
			}
		}
	}
	if len(ids) == 0 {
		return fmt.Errorf("module %s has no licence in %s: without a licence, the program may not be given away", m.path, at.root)
	}
	slices.Sort(ids)
	m.licence = strings.Join(slices.Compact(ids), " AND ")
	return nil
}
