package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/schedulefile"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/draft"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/kubernetes"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/ofelia"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/ruby"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/supercronic"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/imports/systemd"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/recur"
)

// formats are the formats of other schedulers that import reads, besides crontabs. They are tried in this order.
var formats = []struct {
	name  string
	about string
	is    func(path string, text []byte) bool // nil: the format looks like a crontab, and has to be named
	read  func(src draft.Source) (*declared.File, error)
}{
	{"kubernetes", "CronJobs of Kubernetes", kubernetes.Is, kubernetes.Read},
	{"systemd", "a timer of systemd, with its service beside it", systemd.Is, systemd.Read},
	{"ofelia", "the configuration of Ofelia", ofelia.Is, ofelia.Read},
	{"sidekiq-cron", "schedule.yml", ruby.IsSidekiqCron, ruby.SidekiqCron},
	{"solid-queue", "recurring.yml", ruby.IsSolidQueue, ruby.SolidQueue},
	{"supercronic", "a crontab of supercronic, which has to be named", nil, supercronic.Read},
}

func (p *program) importCommand() *cobra.Command {
	var (
		f  fileFlags
		in importer
	)
	var list, names strings.Builder
	for i, one := range formats {
		fmt.Fprintf(&list, "  %-14s%s\n", one.name, one.about)
		if i > 0 {
			names.WriteString(", ")
		}
		names.WriteString(one.name)
	}
	c := &cobra.Command{
		Use:   "import FILE… [--format FORMAT] [--crontab FILE] [--crontab-system FILE] [--into DIR]",
		Short: "Writes files of cron and other schedulers as schedule files (YAML)",
		Long: "Writes a file of another scheduler as a schedule file to standard output. FILE is a crontab, or\n" + list.String() +
			"Its format is found from its name and text, or given by --format. Nothing is guessed: what has no equal here is\n" +
			"named with its line, as a warning if the schedules ring and run as before without it, and otherwise as a mistake,\n" +
			"and then nothing is written.\n\n" +
			"A schedule file made of a crontab has the same owner, revision, names, rules and commands: a node that gets it instead\n" +
			"of the crontab changes nothing. It contains the values of environments, also secret values. With several files, or a\n" +
			"directory of crontabs, each is written to a file of its own in --into DIR; existing files are not changed. No store is opened.",
		Example: "  hourbell import --crontab /var/spool/cron/crontabs/ops > ops.yaml\n" +
			"  hourbell import cronjobs.yaml --tz Europe/Prague > schedules.yaml\n" +
			"  hourbell import /etc/systemd/system/*.timer --into /etc/hourbell\n" +
			"  hourbell import --crontab-system /etc/cron.d --into /etc/hourbell",
		DisableFlagsInUseLine: true,
		Args:                  f.args,
		RunE: func(_ *cobra.Command, args []string) error {
			foreign, crontabs, err := p.foreign(args, in)
			if err != nil {
				return err
			}
			read, left, err := p.loader().LoadAll(f.inputs(crontabs))
			if err != nil {
				return err
			}
			for _, s := range left {
				fmt.Fprintf(p.stderr, "hourbell: %s: left alone: %s\n", plain.Clean(s.Path), s.Reason)
			}
			return p.importFiles(append(foreign, read...), in.into)
		},
	}
	f.addTo(c)
	c.Flags().StringVar(&in.format, "format", "", "the format of FILE: "+names.String())
	c.Flags().StringVar(&in.zone, "tz", "", "the zone of rules that name none, in other files than crontabs; default UTC, with a warning")
	c.Flags().StringVar(&in.section, "section", "", "the environment to read of a file that has several, such as production")
	c.Flags().StringVar(&in.into, "into", "", "write a file NAME.yaml for each file into this directory")
	return c
}

// importer is the choices of import.
type importer struct{ format, zone, section, into string }

// foreign reads the files of other schedulers. The paths that it returns are of crontabs.
func (p *program) foreign(paths []string, in importer) (read []files.Loaded, crontabs []string, err error) {
	if err := in.validate(); err != nil {
		return nil, nil, err
	}
	loader := p.loader()
	var errs []error
	for _, path := range paths {
		if in.format == "" && isFolder(path) {
			crontabs = append(crontabs, path)
			continue
		}
		text, err := loader.Text(path)
		if err != nil {
			return nil, nil, err
		}
		i := formatOf(in.format, path, text)
		if i < 0 {
			if path == "-" {
				p.stdin = bytes.NewReader(text) // to be read again
			}
			crontabs = append(crontabs, path)
			continue
		}
		set, err := formats[i].read(draft.Source{Path: path, Text: text, Zone: in.zone, Section: in.section, Other: loader.Text})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		read = append(read, files.Loaded{Source: files.Source{Path: path, Form: files.Form(formats[i].name)}, Set: set})
	}
	if errs = append(errs, files.CheckTogether(read)); errors.Join(errs...) != nil {
		return nil, nil, files.MistakesError{Err: errors.Join(errs...)}
	}
	return read, crontabs, nil
}

// validate checks the format and the zone.
func (in importer) validate() error {
	if in.format != "" && formatOf(in.format, "", nil) < 0 {
		return &check.FieldError{
			Field: "format", Value: check.Shorten(in.format), Problem: "is unknown",
			Remedy: "use a format that hourbell import --help lists",
		}
	}
	return (recur.Spec{Cron: "@daily", Zone: in.zone}).Validate()
}

// isFolder reports whether a path is a folder.
func isFolder(path string) bool {
	info := files.Look(path)
	return info != nil && info.IsDir()
}

// formatOf returns the number of the format with this name, or, without a name, of the format that a file looks like; -1: none.
func formatOf(name, path string, text []byte) int {
	for i, one := range formats {
		if one.name == name || name == "" && one.is != nil && one.is(path, text) {
			return i
		}
	}
	return -1
}

func (p *program) importFiles(read []files.Loaded, into string) error {
	if into == "" && len(read) != 1 {
		return &check.FieldError{
			Field: "FILE", Value: fmt.Sprint(len(read)), Problem: "is the number of files, but standard output can get only one, because each has an owner of its own",
			Remedy: "name one file, or give --into DIR",
		}
	}
	for _, f := range read {
		if f.Form == files.YAML {
			return files.MistakesError{Err: &declared.Error{
				File: f.Path, Problem: "is a schedule file already",
				Remedy: "name a file of another scheduler; --format, --crontab and --crontab-system say what a file is",
			}}
		}
	}
	for _, f := range read {
		p.printWarnings(f.Set)
		if err := p.importFile(f, into); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) importFile(f files.Loaded, into string) error {
	text, err := schedulefile.Write(f.Set)
	if err != nil {
		return fmt.Errorf("import %s: %w", f.Path, err)
	}
	if into == "" {
		_, err := p.stdout.Write(text)
		return err
	}
	base := filepath.Base(f.Path)
	for _, ending := range []string{".yaml", ".yml"} {
		base = strings.TrimSuffix(base, ending)
	}
	path := filepath.Join(into, base+".yaml")
	if err := writeNew(path, text); err != nil {
		return fmt.Errorf("import %s: %w", f.Path, err)
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %s\n", plain.Clean(path), plain.Plural(len(f.Set.All()), "schedule"))
	return err
}

// writeNew writes a new file, whole or not at all, readable by its owner only, because it may
// contain secrets.
func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("write %s: it exists, and is left as it is; name another file", path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: its folder does not exist; make the folder first", path)
	case err != nil:
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
