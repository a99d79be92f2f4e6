package linkage_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"zmqbench/internal/linkage"
)

// bind returns a TCP socket bound to the loopback address of a family and to
// port, 0 being a free one, and its port.
func bind(t *testing.T, family, port int) (fd, bound int) {
	t.Helper()
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Skip("socket: ", err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	var address syscall.Sockaddr = &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	if family == syscall.AF_INET6 {
		address = &syscall.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}}
	}
	if err := syscall.Bind(fd, address); err != nil {
		t.Skip("bind: ", err)
	}
	address, err = syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	switch a := address.(type) {
	case *syscall.SockaddrInet4:
		return fd, a.Port
	case *syscall.SockaddrInet6:
		return fd, a.Port
	}
	t.Fatalf("unexpected address %v", address)
	return 0, 0
}

// listen is listen(2) on a bound socket.
func listen(t *testing.T, fd, backlog int) {
	t.Helper()
	if err := syscall.Listen(fd, backlog); err != nil {
		t.Fatal(err)
	}
}

func TestBacklog(t *testing.T) {
	for _, family := range []int{syscall.AF_INET, syscall.AF_INET6} {
		for _, want := range []int{1, 7, 100} {
			t.Run(fmt.Sprintf("family=%d/backlog=%d", family, want), func(t *testing.T) {
				fd, port := bind(t, family, 0)
				listen(t, fd, want)
				if got, err := linkage.Backlog(port); got != want || err != nil {
					t.Errorf("Backlog(%d) = %d, %v, want %d", port, got, err, want)
				}
			})
		}
	}
}

// The limit does not sink with the connections that wait, as the queue of
// /proc/net/tcp rises with them.
func TestBacklogWithWaiting(t *testing.T) {
	fd, port := bind(t, syscall.AF_INET, 0)
	listen(t, fd, 7)
	client, _ := bind(t, syscall.AF_INET, 0)
	if err := syscall.Connect(client, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if got, err := linkage.Backlog(port); got != 7 || err != nil {
		t.Errorf("Backlog(%d) = %d, %v, want 7", port, got, err)
	}
}

// The kernel lowers what is asked for to net.core.somaxconn.
func TestBacklogCapped(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/core/somaxconn")
	if err != nil {
		t.Skip(err)
	}
	want, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	fd, port := bind(t, syscall.AF_INET, 0)
	listen(t, fd, want+1)
	if got, err := linkage.Backlog(port); got != want || err != nil {
		t.Errorf("Backlog(%d) = %d, %v, want %d", port, got, err, want)
	}
}

// ss -ltn shows the same (A16).
func TestBacklogAsSS(t *testing.T) {
	ss, err := exec.LookPath("ss")
	if err != nil {
		t.Skip(err)
	}
	fd, port := bind(t, syscall.AF_INET, 0)
	listen(t, fd, 100)
	out, err := exec.Command(ss, "-ltn").Output()
	if err != nil {
		t.Skip("ss -ltn: ", err)
	}
	got, err := linkage.Backlog(port)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != address {
			continue
		}
		if fields[2] != strconv.Itoa(got) {
			t.Errorf("Backlog(%d) = %d, want %s as ss has it:\n%s", port, got, fields[2], line)
		}
		return
	}
	t.Errorf("ss -ltn does not show %s:\n%s", address, out)
}

func TestBacklogErrors(t *testing.T) {
	fd, port := bind(t, syscall.AF_INET, 0)
	check := func(port int, want, reason string) {
		t.Helper()
		want = fmt.Sprintf("backlog of tcp port %d: %s", port, want)
		if got, err := linkage.Backlog(port); got != 0 || errorText(err) != want {
			t.Errorf("Backlog(%d) = %d, %v, want %s (%s)", port, got, err, want, reason)
		}
	}
	check(0, "want a port from 1 to 65535", "the wildcard is no port")
	check(65536, "want a port from 1 to 65535", "does not fit")
	check(port, "no socket listens", "bound, but not listening")

	second, _ := bind(t, syscall.AF_INET6, port)
	listen(t, fd, 7)
	listen(t, second, 8)
	check(port, "2 sockets listen, with backlogs [7 8]", "which one is meant?")
}
