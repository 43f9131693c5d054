package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Most tests change the working directory, which a process has only one of, so that they cannot run in parallel in one process,
// although they wait for most of their time. Therefore a run of the whole package starts processes, each for some tests: at a time
// half as many as -parallel allows, and at least two, because many tests start processes themselves.

// ofAShard are the flags of a run that is divided, by the names that go test gives them. Others, such as -run and -coverprofile,
// concern one process.
var ofAShard = []string{"test.v", "test.timeout", "test.parallel", "test.short", "test.count", "test.paniconexit0", "test.testlogfile", "test.failfast"}

// testsOfAShard is how many tests a process runs: many, because a process that starts costs time; few, so that all end at about the
// same time.
const testsOfAShard = 6

// shards runs all tests in other processes, and returns the exit code. It reports whether the flags allow that.
func shards() (code int, divided bool) {
	flag.Parse()
	divided = flag.NArg() == 0
	var flags []string
	log := ""
	flag.Visit(func(f *flag.Flag) {
		switch {
		case !slices.Contains(ofAShard, f.Name):
			divided = false
		case f.Name == "test.testlogfile":
			log = f.Value.String()
		default:
			flags = append(flags, fmt.Sprintf("-%s=%s", f.Name, f.Value))
		}
	})
	program, err := os.Executable()
	if err != nil || !divided {
		return 0, false
	}
	listed, err := exec.Command(program, "-test.list=^(Test|Example|Fuzz)").Output()
	if err != nil {
		return 0, false
	}
	dir, err := os.MkdirTemp("", "hourbell-shards-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var mu sync.Mutex
	var running sync.WaitGroup
	parallel := flag.Lookup("test.parallel").Value.(flag.Getter).Get().(int)
	free := make(chan struct{}, max(2, parallel/2))
	for names := range slices.Chunk(strings.Fields(string(listed)), testsOfAShard) {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			its := filepath.Join(dir, names[0])
			args := append([]string{"-test.run=^(" + strings.Join(names, "|") + ")$", "-test.testlogfile=" + its}, flags...)
			out, err := exec.Command(program, args...).CombinedOutput()
			mu.Lock()
			defer mu.Unlock()
			out = bytes.TrimSuffix(out, []byte("PASS\n"))
			if err != nil {
				out, code = fmt.Appendf(bytes.TrimSuffix(out, []byte("FAIL\n")), "%s: %v\n", names, err), 1
			}
			_, _ = os.Stdout.Write(out)
		})
	}
	running.Wait()
	if err := joinLogs(log, dir); err != nil {
		fmt.Println(err)
		code = 1
	}
	fmt.Println([]string{"PASS", "FAIL"}[code])
	return code, true
}

// joinLogs writes to a file what go test wants to know in order to cache the result: which files and variables the tests have read.
func joinLogs(log, dir string) error {
	if log == "" {
		return nil
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	text := []byte("# test log\n")
	for _, f := range files {
		its, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		text = append(fmt.Appendf(text, "chdir %s\n", here), bytes.TrimPrefix(its, []byte("# test log\n"))...)
	}
	return os.WriteFile(log, text, 0o600)
}
