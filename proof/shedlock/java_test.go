package shedlock

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// script runs Java programs.
var script = filepath.Join("..", "..", "scripts", "java")

// java is the Java program, which executes orders; see java/Rival.java.
type java struct {
	in     io.Writer
	out    *bufio.Scanner
	orders int // how many orders were sent
}

// startJava builds the program if necessary and starts it, with a time zone far
// from UTC. The program ends with the test.
func startJava(t *testing.T) *java {
	t.Helper()
	for _, tool := range []string{"java", "javac", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing(t, tool+" is not installed; this test needs a JDK and Maven")
		}
	}
	if out, err := exec.Command(script, "--build").CombinedOutput(); err != nil {
		t.Fatalf("build the Java program: %v\n%s", err, out)
	}
	cmd := exec.Command(script, "-Duser.timezone=Asia/Kathmandu", "Rival")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		timer := time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() })
		defer timer.Stop()
		cmd.Wait()
	})
	return &java{in: in, out: bufio.NewScanner(out)}
}

// missing skips a test that cannot run, or fails it if HOURBELL_TEST_REQUIRE=1.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("HOURBELL_TEST_REQUIRE") == "1" {
		t.Fatalf("%s, and HOURBELL_TEST_REQUIRE=1 asks for it", what)
	}
	t.Skip(what)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tell sends an order; hear waits for the answer to the last order; order does
// both.
func (j *java) tell(t *testing.T, fields ...any) {
	t.Helper()
	j.orders++
	line := strconv.Itoa(j.orders)
	for _, f := range fields {
		line += "\t" + fmt.Sprint(f)
	}
	_, err := fmt.Fprintln(j.in, line)
	must(t, err)
}

func (j *java) hear(t *testing.T) string {
	t.Helper()
	for j.out.Scan() {
		number, answer, _ := strings.Cut(j.out.Text(), "\t")
		if number != strconv.Itoa(j.orders) {
			continue // a test that failed may not have waited for the answer
		}
		if text, failed := strings.CutPrefix(answer, "error "); failed {
			t.Fatalf("the Java program failed: %s", text)
		}
		return answer
	}
	t.Fatalf("the Java program went away: %v", j.out.Err())
	return ""
}

func (j *java) order(t *testing.T, fields ...any) string {
	t.Helper()
	j.tell(t, fields...)
	return j.hear(t)
}
