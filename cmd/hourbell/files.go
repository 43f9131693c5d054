package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/crontab"
	"github.com/hourbell/hourbell/cmd/hourbell/declared"
	"github.com/hourbell/hourbell/cmd/hourbell/schedulefile"
)

// source is a file that declares schedules.
type source struct {
	path string
	read func(name string, text []byte) (*declared.File, error)
}

// sources puts schedule files and crontabs into one list.
func sources(files, crontabs []string) []source {
	var list []source
	for _, path := range files {
		list = append(list, source{path, schedulefile.Read})
	}
	for _, path := range crontabs {
		list = append(list, source{path, crontab.InZone(crontab.LocalZone())})
	}
	return list
}

// load reads and checks the file. The error is a usage error that names every
// mistake.
func (s source) load() (*declared.File, error) {
	if s.path == "" {
		return nil, &hourbell.FieldError{Field: "file", Problem: "is empty", Remedy: "name a file of schedules"}
	}
	file, err := os.Open(s.path)
	if err != nil {
		return nil, s.unreadable(err)
	}
	defer file.Close()
	return s.loadFrom(file)
}

func (s source) loadFrom(r io.Reader) (*declared.File, error) {
	text, err := io.ReadAll(io.LimitReader(r, declared.MaxSize+1))
	if err != nil {
		return nil, s.unreadable(err)
	}
	set, err := s.read(s.path, text)
	if err != nil {
		return nil, mistakes{err}
	}
	return set, nil
}

func (s source) unreadable(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &hourbell.FieldError{Field: "file", Value: shorten(s.path), Problem: "cannot be read: " + err.Error(), Remedy: "name a file that can"}
}

// loadAll reads files that are to be used together: no two may have the same
// owner, for each would delete the schedules of the other, and no name may be
// given twice.
func loadAll(list []source) ([]*declared.File, error) {
	sets := make([]*declared.File, len(list))
	var errs []error
	for i, s := range list {
		set, err := s.load()
		if err != nil {
			errs = append(errs, err)
		}
		sets[i] = set
	}
	if err := errors.Join(errs...); err != nil {
		return nil, mistakes{err}
	}
	if err := checkTogether(list, sets); err != nil {
		return nil, mistakes{err}
	}
	return sets, nil
}

// checkTogether finds owners and names that two files share. A set may be nil:
// its file could not be read.
func checkTogether(list []source, sets []*declared.File) error {
	owners, names := map[string]string{}, map[string]string{}
	var errs []error
	for i, set := range sets {
		if set == nil {
			continue
		}
		if other, taken := owners[set.Owner]; taken {
			errs = append(errs, &declared.Error{
				File: list[i].path, Field: "owner", Problem: fmt.Sprintf("%q is also that of %s", set.Owner, other),
				Remedy: "give each file an owner: of its own, or make one file of them",
			})
			continue
		}
		owners[set.Owner] = list[i].path
		for _, entry := range set.Entries {
			if other, taken := names[entry.Name]; taken && other != list[i].path {
				errs = append(errs, &declared.Error{
					File: list[i].path, Line: entry.Line, Field: "name", Problem: fmt.Sprintf("%q is also in %s", entry.Name, other),
					Remedy: "give each schedule a name of its own",
				})
			}
			names[entry.Name] = list[i].path
		}
	}
	return errors.Join(errs...)
}
