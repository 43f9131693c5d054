// Package files reads the files that declare schedules: schedule files (YAML) and
// crontabs, alone or as the files of a directory. It finds the format of a file,
// checks that a node may trust and can run its lines, and names every mistake in
// all files at once. Package watch keeps a store equal to such files.
//
// Nothing here changes a file or a store, except [Apply]. Values are safe for
// concurrent calls unless their comment says otherwise.
package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/schedulefile"
	"github.com/hourbell/hourbell/internal/crontab"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plan"
)

// Form is the format of a file that declares schedules, in words for people.
type Form string

// The formats.
const (
	AnyForm       Form = "" // found from its name and its text
	YAML          Form = "schedule file"
	UserCrontab   Form = "user crontab"
	SystemCrontab Form = "system crontab"
)

// Input is what a user names: a file, or a directory of crontabs.
type Input struct {
	Path string
	Form Form
	Host string // the host to which the crontab, or the directory of crontabs, belongs; empty: the cluster
}

// Local returns the inputs for crontabs of a host. Each may be a user's crontab or a system crontab.
func Local(paths []string, host string) []Input {
	var list []Input
	for _, path := range paths {
		list = append(list, Input{Path: path, Host: host})
	}
	return list
}

// Inputs joins lists of paths: files of one format, users' crontabs and system
// crontabs.
func Inputs(files []string, of Form, crontabs, systemCrontabs []string) []Input {
	var list []Input
	for _, path := range files {
		list = append(list, Input{Path: path, Form: of})
	}
	for _, path := range crontabs {
		list = append(list, Input{Path: path, Form: UserCrontab})
	}
	for _, path := range systemCrontabs {
		list = append(list, Input{Path: path, Form: SystemCrontab})
	}
	return list
}

// Source is a file that declares schedules.
type Source struct {
	Path string
	Form Form
	Dir  string // the input in which it was found; empty if the file itself is the input
	Host string // as in Input
}

// Skipped is a file of a directory that is ignored.
type Skipped struct {
	Path, Reason string
	ByName       bool // it may be a crontab, but its name is not allowed
}

// List returns the files of an input: the file itself, or the crontabs of a
// directory.
func (in Input) List() ([]Source, []Skipped, error) {
	if info := Look(in.Path); info == nil || !info.IsDir() || in.Form == YAML {
		return []Source{{Path: in.Path, Form: in.Form, Host: in.Host}}, nil, nil // reading the file reports the error
	}
	return in.ListDir()
}

// ListDir returns the crontabs of an input that is a directory, and the files in
// it that are ignored. The error is a *check.FieldError.
func (in Input) ListDir() (found []Source, left []Skipped, err error) {
	entries, err := os.ReadDir(in.Path)
	if err != nil {
		return nil, nil, Source{Path: in.Path}.unreadable(err)
	}
	for _, entry := range entries {
		path := filepath.Join(in.Path, entry.Name())
		if reason := whyNot(path); reason != "" {
			left = append(left, Skipped{path, reason, reason == badName})
			continue
		}
		found = append(found, Source{Path: path, Form: in.Form, Dir: in.Path, Host: in.Host})
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
	switch info := Look(path); {
	case strings.HasPrefix(base, "."):
		return "it is hidden"
	case leftover.MatchString(base):
		return "its name is the name of a copy that a program left"
	case info == nil || !info.Mode().IsRegular():
		return "it is not a file"
	case !cronName.MatchString(base) && spoolUser(path) == "":
		return badName
	}
	return ""
}

// Loader reads files. Concurrent calls are allowed except for Stdin.
type Loader struct {
	Stdin  io.Reader // the content of the file "-"; nil: "-" is an ordinary file name
	Strict bool      // the process runs the lines: lines that it cannot or must not run are mistakes
	Refuse bool      // crontabs that a node of this user would refuse, because of their owner or mode, are mistakes too
	Me     Identity  // the user of the process
	Mails  bool      // the process mails the output of crontabs' lines
	// Host is the name of this host: the files are the copies of this host. Empty: plan.DefaultHost.
	Host string
	// CheckUser returns why commands of a user do not start on this machine; nil:
	// kinds.CheckUser.
	CheckUser func(name string) error
}

// Loaded is a file that was read.
type Loaded struct {
	Source
	Set *declared.File
}

// Load reads and checks a file. The error is a *check.FieldError if the file
// cannot be read, otherwise Mistakes.
func (l Loader) Load(s Source) (Loaded, error) {
	switch {
	case s.Path == "":
		return Loaded{}, &check.FieldError{Field: "file", Problem: "is empty", Remedy: "name a file of schedules"}
	case s.Path == "-" && l.Stdin != nil:
		return l.loadFrom(s, l.Stdin, nil)
	}
	file, err := os.Open(s.Path)
	if err != nil {
		return Loaded{}, s.unreadable(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Loaded{}, s.unreadable(err)
	}
	return l.loadFrom(s, file, info)
}

// loadFrom reads an open file; info is nil if r is not a file.
func (l Loader) loadFrom(s Source, r io.Reader, info os.FileInfo) (Loaded, error) {
	text, err := io.ReadAll(io.LimitReader(r, declared.MaxSize+1))
	if err != nil {
		return Loaded{}, s.unreadable(err)
	}
	if s.Form == AnyForm {
		s.Form = formOf(s.Path, text)
		if s.Host != "" && s.Form == YAML {
			s.Form = SystemCrontab // a crontab without a line that runs something
		}
	}
	s = l.onHost(s)
	set, err := l.read(s, text)
	if info != nil {
		err = errors.Join(l.checkTrust(s, info, set), err)
	}
	if set != nil {
		err = errors.Join(err, l.checkUsers(s.Path, set))
	}
	if err != nil {
		return Loaded{}, MistakesError{err}
	}
	return Loaded{s, set}, nil
}

func (l Loader) read(s Source, text []byte) (*declared.File, error) {
	if s.Form == YAML {
		return schedulefile.Read(s.Path, text)
	}
	reader := s.reader()
	reader.Mails = l.Mails
	if !l.Strict {
		reader.CheckSetting = checkSetting
	}
	file, err := reader.Read(s.Path, text)
	if err == nil && len(text) > 0 && text[len(text)-1] != '\n' {
		file.Warn(declared.Error{
			File: s.Path, Line: 1 + bytes.Count(text, []byte("\n")), Field: "line",
			Problem: "has no newline at its end: Debian's crontab refuses such a file, and some crons ignore the line", Remedy: "end the file with a newline",
		})
	}
	return file, err
}

// reader returns the reader of the crontab, for a file that is a crontab.
func (s Source) reader() crontab.Reader {
	r := crontab.Reader{Form: crontab.System, Zone: crontab.LocalZone(), Host: s.Host}
	if s.Form == UserCrontab {
		r.Form, r.User = crontab.User, spoolUser(s.Path)
	}
	return r
}

// User returns the user whose crontab the file is because of its place in a spool; empty if
// it is not in a spool.
func (s Source) User() string {
	if s.Form != UserCrontab {
		return ""
	}
	return spoolUser(s.Path)
}

// DefaultOwner returns the owner of a crontab that does not name an owner.
func (l Loader) DefaultOwner(s Source) string { return l.onHost(s).reader().Owner(s.Path) }

// onHost makes the source of a file in a spool a source of this host alone. Each machine has crontabs
// of the same users in its spool, and these crontabs are independent of each other.
func (l Loader) onHost(s Source) Source {
	if s.Host == "" && s.User() != "" {
		s.Host = cmp.Or(l.Host, plan.DefaultHost())
	}
	return s
}

// Text reads a file, or the loader's Stdin for "-", without checking it. It reads
// at most one byte more than declared.MaxSize. The error is a
// *check.FieldError.
func (l Loader) Text(path string) ([]byte, error) {
	in := l.Stdin
	if path != "-" || in == nil {
		file, err := os.Open(path)
		if err != nil {
			return nil, Source{Path: path}.unreadable(err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, declared.MaxSize+1))
	if err != nil {
		return nil, Source{Path: path}.unreadable(err)
	}
	return text, nil
}

func (s Source) unreadable(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &check.FieldError{Field: "file", Value: check.Shorten(s.Path), Problem: "cannot be read: " + err.Error(), Remedy: "name a readable file"}
}

// Tried is a file after an attempt to read it.
type Tried struct {
	Loaded             // Set is nil if there is an error
	Seen   os.FileInfo // the state of the file before it was read
	Err    error
}

// TryAll reads all files of the inputs. The error is about directories only.
func (l Loader) TryAll(list []Input) (files []Tried, left []Skipped, err error) {
	var errs []error
	for _, in := range list {
		found, Skipped, err := in.List()
		errs = append(errs, err)
		left = append(left, Skipped...)
		for _, s := range found {
			f := Tried{Seen: Look(s.Path)}
			f.Loaded, f.Err = l.Load(s)
			f.Loaded = cmp.Or(f.Loaded, Loaded{Source: s})
			files = append(files, f)
		}
	}
	return files, left, errors.Join(errs...)
}

// LoadAll reads all files of the inputs, which will be used together. The error has
// every mistake in any of them; files are then only the files without mistakes of their own.
func (l Loader) LoadAll(list []Input) (files []Loaded, left []Skipped, err error) {
	all, left, err := l.TryAll(list)
	errs := []error{err}
	for _, f := range all {
		if errs = append(errs, f.Err); f.Err == nil {
			files = append(files, f.Loaded)
		}
	}
	if err := errors.Join(append(errs, CheckTogether(files))...); err != nil {
		return files, left, MistakesError{err}
	}
	return files, left, nil
}

// CheckTogether finds owners and names that two files share, because each file
// would delete the schedules of the other. A set may be nil if its file could
// not be read.
func CheckTogether(files []Loaded) error {
	owners, names := map[string]string{}, map[string]string{}
	var errs []error
	for _, f := range files {
		if f.Set == nil {
			continue
		}
		if other, taken := owners[f.Set.Owner]; taken {
			errs = append(errs, &declared.Error{
				File: f.Path, Field: "owner", Problem: fmt.Sprintf("%q is also the owner of %s", f.Set.Owner, other), Remedy: ownerRemedy(f.Source),
			})
			continue
		}
		owners[f.Set.Owner] = f.Path
		for _, entry := range f.Set.All() {
			if other, taken := names[entry.Name]; taken && other != f.Path {
				errs = append(errs, &declared.Error{
					File: f.Path, Line: entry.Line, Field: "name", Problem: fmt.Sprintf("%q is also in %s", entry.Name, other),
					Remedy: "give each schedule a name of its own",
				})
			}
			names[entry.Name] = f.Path
		}
	}
	return errors.Join(errs...)
}

func ownerRemedy(s Source) string {
	switch {
	case s.Form == YAML:
		return "give each file an owner: of its own, or make one file of them"
	case s.User() != "" || s.Host != "":
		return "make one file of them, because the host and the user determine the owner"
	}
	return "begin one of them with the line #hourbell-file: owner=NAME, which also goes into the names of its lines"
}

// Look returns a file's state without reading the file; nil if the file cannot
// be seen.
func Look(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// Same reports whether two states of a file are equal: place, size, modification
// time, owner and
// permissions. nil equals nil only.
func Same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	ownerA, _ := fileOwner(a)
	ownerB, _ := fileOwner(b)
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode() && ownerA == ownerB
}

// MistakesError is the errors in files: usage errors, one line for each mistake.
type MistakesError struct{ Err error }

func (m MistakesError) Error() string { return m.Err.Error() }

// Unwrap returns the joined mistakes.
func (m MistakesError) Unwrap() error { return m.Err }
