package kinds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// findProgram returns the file to execute. Like execvp it looks a bare name up
// in the PATH the command will have, which is not always the node's.
func findProgram(name string, env map[string]string) (string, error) {
	path, own := env["PATH"]
	if filepath.Base(name) != name || !own || runtime.GOOS == "windows" {
		return nodeProgram(name)
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if filepath.IsAbs(dir) && executable(file) {
			return file, nil
		}
	}
	return "", notFound(name, "in the PATH of its env")
}

func nodeProgram(name string) (string, error) {
	if filepath.Base(name) != name {
		return name, nil // the system looks, from the command's own directory
	}
	file, err := exec.LookPath(name)
	if err != nil {
		return "", notFound(name, "in the node's PATH")
	}
	return file, nil
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

func notFound(name, where string) error {
	return fmt.Errorf("command %q: not found %s: %w; install it on this node or give its full path", name, where, exec.ErrNotFound)
}

// startError tells the reasons apart that the system reports as one: "no such
// file or directory" may mean the directory, the program, or the interpreter
// in the program's first line.
func startError(cmd *exec.Cmd, command Command, err error) error {
	if command.Dir != "" {
		if info, statErr := os.Stat(command.Dir); statErr != nil {
			return fmt.Errorf("dir %q: %w; create it on this node or correct dir", command.Dir, cause(statErr))
		} else if !info.IsDir() {
			return fmt.Errorf("dir %q: is not a directory; correct dir", command.Dir)
		}
	}
	name := cmd.Args[0]
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("command %q: %w", name, cause(err))
	}
	if _, statErr := os.Stat(fromDir(cmd.Path, command.Dir)); statErr == nil {
		return fmt.Errorf("command %q: its interpreter is missing: %w; correct its first line or install the interpreter", name, cause(err))
	}
	return fmt.Errorf("command %q: %w; install it on this node or correct the path", name, cause(err))
}

func fromDir(file, dir string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// cause strips the path and system call that the message names already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
