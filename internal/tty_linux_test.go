package internal_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"zmqbench/internal/metric"
)

// TestProgressTerminal has lines written to the terminal that the run has, and
// results to a file, as in: go test -bench=. -progress /dev/tty > new.txt.
func TestProgressTerminal(t *testing.T) {
	t.Parallel()
	master, slave := terminal(t)
	var out bytes.Buffer
	cmd := inRoot(t.Context(), suite(t), append([]string{"-test.run=^$", "-progress=/dev/tty"}, streamOnly("zmq4")...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	text, _ := io.ReadAll(master) // until the last to have the terminal open ends, which is EIO
	err := cmd.Wait()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Fatal(err)
	}
	got := readOutput(out.String(), 2, []metric.Setting{{Name: "size", Value: "100"}})
	if err != nil || len(got.faults) > 0 || len(got.results) != 1 {
		t.Errorf("%v, %d results, faults %q; output:\n%s", err, len(got.results), got.faults, &out)
	}
	for _, fault := range checkProgress(string(text), "BenchmarkThroughput/transport=ipc/mech=null/size=100/layer=zmq4") {
		t.Errorf("%s; the terminal:\n%s", fault, text)
	}
}

// terminal returns the two ends of a pseudo terminal, see pty(7).
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	return master, slave
}
