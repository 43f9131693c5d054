package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/files"
	"github.com/hourbell/hourbell/internal/files/schedulefile"
	"github.com/hourbell/hourbell/internal/plain"
)

func (p *program) importCommand() *cobra.Command {
	var (
		f    fileFlags
		into string
	)
	c := &cobra.Command{
		Use: "import FILE… [--crontab FILE] [--crontab-system FILE] [--into DIR]", Short: "Writes crontabs as schedule files (YAML)",
		Long: "Writes a crontab as a schedule file to standard output, with the same owner, revision, names, rules and\n" +
			"commands: a node that gets it instead of the crontab changes nothing. It contains the values of environments,\n" +
			"also secret values. With several crontabs, or a directory, each is written to a file of its own in --into DIR;\n" +
			"existing files are not changed. No store is opened.",
		Example: "  hourbell import --crontab /var/spool/cron/crontabs/ops > ops.yaml\n" +
			"  hourbell import --crontab-system /etc/cron.d --into /etc/hourbell",
		DisableFlagsInUseLine: true,
		Args:                  f.args,
		RunE: func(_ *cobra.Command, args []string) error {
			read, left, err := p.loader().LoadAll(f.inputs(args))
			if err != nil {
				return err
			}
			for _, s := range left {
				fmt.Fprintf(p.stderr, "hourbell: %s: left alone: %s\n", plain.Clean(s.Path), s.Reason)
			}
			return p.importFiles(read, into)
		},
	}
	f.addTo(c)
	c.Flags().StringVar(&into, "into", "", "write a file NAME.yaml for each crontab into this directory")
	return c
}

func (p *program) importFiles(read []files.Loaded, into string) error {
	if into == "" && len(read) != 1 {
		return &check.FieldError{
			Field: "FILE", Value: fmt.Sprint(len(read)), Problem: "is the number of crontabs, but standard output can get only one, because each has an owner of its own",
			Remedy: "name one file, or give --into DIR",
		}
	}
	for _, f := range read {
		if f.Form == files.YAML {
			return files.MistakesError{Err: &declared.Error{File: f.Path, Problem: "is a schedule file already", Remedy: "name a crontab; --crontab and --crontab-system mark a file as a crontab"}}
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
	path := filepath.Join(into, filepath.Base(f.Path)+".yaml")
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
