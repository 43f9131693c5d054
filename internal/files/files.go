package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/schedulefile"
	"github.com/hourbell/hourbell/internal/crontab"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
)

// form is the format of a file that declares schedules.
type form string

const (
	anyForm    form = "" // found from its name and its text
	yamlForm   form = "schedule file"
	userForm   form = "user crontab"
	systemForm form = "system crontab"
)

// input is an argument of a command: a file, or a directory of crontabs.
type input struct {
	path string
	form form
}

// inputs joins the inputs of all flags.
func inputs(files []string, of form, crontabs, systemCrontabs []string) []input {
	var list []input
	for _, path := range files {
		list = append(list, input{path, of})
	}
	for _, path := range crontabs {
		list = append(list, input{path, userForm})
	}
	for _, path := range systemCrontabs {
		list = append(list, input{path, systemForm})
	}
	return list
}

// source is a file that declares schedules.
type source struct {
	path string
	form form
	dir  string // the input in which it was found; empty if the file itself is the input
}

// skipped is a file of a directory that is ignored.
type skipped struct {
	path, reason string
	byName       bool // it may be a crontab, but its name is not allowed
}

// list returns the files of an input: the file itself, or the crontabs of a
// directory.
func (in input) list() ([]source, []skipped, error) {
	if info := look(in.path); info == nil || !info.IsDir() || in.form == yamlForm {
		return []source{{path: in.path, form: in.form}}, nil, nil // reading the file reports the error
	}
	return in.listDir()
}

func (in input) listDir() (found []source, left []skipped, err error) {
	entries, err := os.ReadDir(in.path)
	if err != nil {
		return nil, nil, source{path: in.path}.unreadable(err)
	}
	for _, entry := range entries {
		path := filepath.Join(in.path, entry.Name())
		if reason := whyNot(path); reason != "" {
			left = append(left, skipped{path, reason, reason == badName})
			continue
		}
		found = append(found, source{path: path, form: in.form, dir: in.path})
	}
	return found, left, nil
}

// badName is the reason why a file is ignored that must be renamed to be read.
const badName = "its name has more than letters, digits, _ and -"

// leftover matches the names of copies that editors and package managers leave.
var leftover = regexp.MustCompile(`~$|^#.*#$|^tmp\.|\.(dpkg|ucf)-|\.rpm(save|new|orig)$|\.pac(new|save)$`)

// cronName matches the names of files that cron reads in a directory.
var cronName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// whyNot returns the reason why a file of a directory is not a crontab, by the
// rules of cron.d. In cron's own spool, where files have the names of users,
// names may contain dots.
func whyNot(path string) string {
	base := filepath.Base(path)
	switch info := look(path); {
	case strings.HasPrefix(base, "."):
		return "it is hidden"
	case leftover.MatchString(base):
		return "its name is that of a copy that a program left"
	case info == nil || !info.Mode().IsRegular():
		return "it is not a file"
	case !cronName.MatchString(base) && spoolUser(path) == "":
		return badName
	}
	return ""
}

// loader reads files.
type loader struct {
	stdin  io.Reader // the content of the file "-"; nil: "-" is an ordinary file name
	strict bool      // the process runs the lines: lines that it cannot or must not run are mistakes
	me     identity
}

// loaded is a file that was read.
type loaded struct {
	source
	set *declared.File
}

// load reads and checks a file. The error is a usage error with every mistake.
func (l loader) load(s source) (loaded, error) {
	switch {
	case s.path == "":
		return loaded{}, &hourbell.FieldError{Field: "file", Problem: "is empty", Remedy: "name a file of schedules"}
	case s.path == "-" && l.stdin != nil:
		return l.loadFrom(s, l.stdin, nil)
	}
	file, err := os.Open(s.path)
	if err != nil {
		return loaded{}, s.unreadable(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return loaded{}, s.unreadable(err)
	}
	return l.loadFrom(s, file, info)
}

// loadFrom reads an open file; info is nil if r is not a file.
func (l loader) loadFrom(s source, r io.Reader, info os.FileInfo) (loaded, error) {
	text, err := io.ReadAll(io.LimitReader(r, declared.MaxSize+1))
	if err != nil {
		return loaded{}, s.unreadable(err)
	}
	if s.form == anyForm {
		s.form = formOf(s.path, text)
	}
	set, err := l.read(s, text)
	if info != nil {
		err = errors.Join(l.checkTrust(s, info, set), err)
	}
	if set != nil {
		err = errors.Join(err, l.checkUsers(s.path, set))
	}
	if err != nil {
		return loaded{}, mistakes{err}
	}
	if s.form != yamlForm && set.Revision == 0 {
		set.Dated = true
		if info != nil {
			set.Revision = info.ModTime().UnixMicro()
		}
	}
	return loaded{s, set}, nil
}

func (l loader) read(s source, text []byte) (*declared.File, error) {
	if s.form == yamlForm {
		return schedulefile.Read(s.path, text)
	}
	reader := s.reader()
	if !l.strict {
		reader.CheckSetting = checkSetting
	}
	return reader.Read(s.path, text)
}

// reader returns the reader of the crontab, for a file that is a crontab.
func (s source) reader() crontab.Reader {
	r := crontab.Reader{Form: crontab.System, Zone: crontab.LocalZone()}
	if s.form == userForm {
		r.Form, r.User = crontab.User, spoolUser(s.path)
	}
	return r
}

func (s source) unreadable(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &hourbell.FieldError{Field: "file", Value: plain.Shorten(s.path), Problem: "cannot be read: " + err.Error(), Remedy: "name a readable file"}
}

// tried is a file after an attempt to read it.
type tried struct {
	loaded             // set is nil if there is an error
	seen   os.FileInfo // the state of the file before it was read
	err    error
}

// tryAll reads all files of the inputs. The error is about directories only.
func (l loader) tryAll(list []input) (files []tried, left []skipped, err error) {
	var errs []error
	for _, in := range list {
		found, skipped, err := in.list()
		errs = append(errs, err)
		left = append(left, skipped...)
		for _, s := range found {
			f := tried{seen: look(s.path)}
			f.loaded, f.err = l.load(s)
			f.loaded = cmp.Or(f.loaded, loaded{source: s})
			files = append(files, f)
		}
	}
	return files, left, errors.Join(errs...)
}

// loadAll reads all files of the inputs, which will be used together, and
// returns every mistake in any of them.
func (l loader) loadAll(list []input) (files []loaded, left []skipped, err error) {
	all, left, err := l.tryAll(list)
	errs := []error{err}
	for _, f := range all {
		files, errs = append(files, f.loaded), append(errs, f.err)
	}
	if err := errors.Join(append(errs, checkTogether(files))...); err != nil {
		return nil, nil, mistakes{err}
	}
	return files, left, nil
}

// checkTogether finds owners and names that two files share, because each file
// would delete the schedules of the other. A set may be nil if its file could
// not be read.
func checkTogether(files []loaded) error {
	owners, names := map[string]string{}, map[string]string{}
	var errs []error
	for _, f := range files {
		if f.set == nil {
			continue
		}
		if other, taken := owners[f.set.Owner]; taken {
			errs = append(errs, &declared.Error{
				File: f.path, Field: "owner", Problem: fmt.Sprintf("%q is also the owner of %s", f.set.Owner, other), Remedy: ownerRemedy(f.form),
			})
			continue
		}
		owners[f.set.Owner] = f.path
		for _, entry := range f.set.All() {
			if other, taken := names[entry.Name]; taken && other != f.path {
				errs = append(errs, &declared.Error{
					File: f.path, Line: entry.Line, Field: "name", Problem: fmt.Sprintf("%q is also in %s", entry.Name, other),
					Remedy: "give each schedule a name of its own",
				})
			}
			names[entry.Name] = f.path
		}
	}
	return errors.Join(errs...)
}

func ownerRemedy(f form) string {
	if f == yamlForm {
		return "give each file an owner: of its own, or make one file of them"
	}
	return "begin one of them with the line #hourbell-file: owner=NAME, which also goes into the names of its lines"
}

// look returns a file's state without reading the file; nil if the file cannot
// be seen.
func look(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// same reports whether a file has the same place, size, modification time, and
// permissions.
func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	ownerA, _ := fileOwner(a)
	ownerB, _ := fileOwner(b)
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode() && ownerA == ownerB
}

// mistakes are the errors in files: usage errors that are printed one per line.
type mistakes struct{ err error }

func (m mistakes) Error() string { return m.err.Error() }

func (m mistakes) Unwrap() error { return m.err }
