package internal_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// promised is how long an interrupted run takes to end.
	promised = 2 * time.Second

	// slack is how much longer it may take here, where other tests want the
	// CPUs. A role that is not released has an hour, so nothing is missed.
	slack = 8 * time.Second
)

// TestSignals interrupts runs that are measuring. Whatever the roles are
// blocked in, and though libzmq's calls are taken up again after a signal, the
// run ends with a failure that has every role, its endpoint and its counts,
// and leaves no socket file behind (Z15, Z64). A role in zmq_proxy is one that
// would stay in its call for ever.
func TestSignals(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only /proc tells that a run is measuring")
	}
	const (
		some = `[1-9]\d*`

		// The paths in a process are numbered, and a session takes one number or
		// two. A benchmark whose function began again for every N would be at its
		// fourth session when it is interrupted (Z78).
		first = `[12]`
	)
	for _, c := range []struct {
		bench string
		roles []string // what the failure says of each, as regular expressions
	}{
		{"BenchmarkLatency/transport=tcp/mech=null/size=100", []string{
			`requester: REQ tcp://127\.0\.0\.1:\d+, ` + some + ` sent, ` + some + ` received; requester: (send|recv) `,
			`replier: REP tcp://127\.0\.0\.1:\d+, ` + some + ` sent, ` + some + ` received; replier: (send|recv) `,
		}},
		{"BenchmarkLatency/transport=ipc/mech=null/size=100", []string{
			`requester: REQ ipc://TMP/zb\d+/` + first + `, ` + some + ` sent, ` + some + ` received; requester: (send|recv) `,
			`replier: REP ipc://TMP/zb\d+/` + first + `, ` + some + ` sent, ` + some + ` received; replier: (send|recv) `,
		}},
		{"BenchmarkThroughput/transport=ipc/mech=null/size=1000", []string{
			`receiver: PULL ipc://TMP/zb\d+/` + first + `, 0 sent, ` + some + ` received; receiver: recv `,
			`sender: PUSH ipc://TMP/zb\d+/` + first + `, ` + some + ` sent, 0 received; sender: send `,
		}},
		{"BenchmarkProxy/pattern=pubsub/size=100", []string{
			`proxy: XSUB inproc://\S+ inproc://\S+, 0 sent, 0 received; XPUB inproc://\S+, 0 sent, 0 received; proxy: proxy `,
			`publisher 0: XPUB inproc://\S+, ` + some + ` sent, 1 received; publisher 0: send `,
			`publisher 1: XPUB inproc://\S+, ` + some + ` sent, 1 received; publisher 1: send `,
			`subscriber: SUB inproc://\S+, 0 sent, ` + some + ` received; subscriber: recv `,
		}},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(c.bench+"/"+sig.String(), func(t *testing.T) {
				t.Parallel()
				tmp := socketDir(t)
				r := interrupted(t, tmp, sig, nil, "-test.bench=^"+c.bench+"/", "-test.benchtime=2m", "-wait=2m")
				for _, fault := range checkInterrupted(r, strings.ReplaceAll(strings.Join(c.roles, "\n"), "TMP", regexp.QuoteMeta(tmp))) {
					t.Errorf("%s; output:\n%s", fault, r.output)
				}
				if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
					t.Errorf("left in TMPDIR: %v, %v", left, err)
				}
			})
		}
	}
}

// socketDir returns a new directory whose path is short enough for sockets.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "zs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// interrupted starts the suite with TMPDIR=tmp, sends it sig when it measures and
// look, unless it is nil, has looked at the process, and waits for its end.
func interrupted(t *testing.T, tmp string, sig os.Signal, look func(pid int), args ...string) run {
	t.Helper()
	out := &begun{header: make(chan struct{})}
	cmd := inRoot(t.Context(), suite(t), append([]string{"-test.run=^$"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait() // its error is in cmd.ProcessState
	}()
	stop := func(why string) {
		t.Helper()
		cmd.Process.Kill()
		<-ended
		t.Fatalf("%s; output:\n%s", why, &out.text)
	}
	limit := time.After(longest)
	select {
	case <-out.header:
	case <-ended:
		stop("it ended before its header")
	case <-limit:
		stop(fmt.Sprintf("no header after %v", longest))
	}
	// Nothing tells that a process measures but a look at it. No time is right
	// or wrong here: the looks go on until it does.
	looks := time.NewTicker(5 * time.Millisecond)
	defer looks.Stop()
	for p := (process{pid: cmd.Process.Pid}); !p.measures(); {
		select {
		case <-looks.C:
		case <-ended:
			stop("it ended before it measured")
		case <-limit:
			stop(fmt.Sprintf("it does not measure after %v", longest))
		}
	}
	if look != nil {
		look(cmd.Process.Pid)
	}
	if err := cmd.Process.Signal(sig); err != nil {
		stop(err.Error())
	}
	start := time.Now()
	select {
	case <-ended:
	case <-time.After(promised + slack):
		stop(fmt.Sprintf("%v after the signal it has not ended, want %v", promised+slack, promised))
	}
	t.Logf("ended %v after the signal", time.Since(start).Round(time.Millisecond))
	return run{out.text.String(), cmd.ProcessState.ExitCode(), cmd.ProcessState}
}

// A begun collects what a process prints, and tells when it prints the first.
// The text may be read when the process has ended.
type begun struct {
	once   sync.Once
	header chan struct{} // closed at the first write
	text   bytes.Buffer
}

func (b *begun) Write(p []byte) (int, error) {
	defer b.once.Do(func() { close(b.header) })
	return b.text.Write(p)
}

// A process is a run of the suite that is looked at.
type process struct {
	pid  int
	base int // what it had used of the CPU when it first had a session, plus 1
}

// measures reports whether the process, whose header is out, is measuring: it
// has threads of libzmq, and has used the CPU for 200 ms since it first had.
// Opening a session takes a few.
func (p *process) measures() bool {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", p.pid))
	for _, name := range names {
		if comm, _ := os.ReadFile(name); !strings.HasPrefix(string(comm), "ZMQbg") {
			continue
		}
		used := ticks(p.pid)
		if p.base == 0 {
			p.base = used + 1
		}
		return used-(p.base-1) >= 20
	}
	return false
}

// ticks returns how long a process has used the CPU, in hundredths of a second,
// from the fields utime and stime of proc_pid_stat(5).
func ticks(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ") // the command in parentheses is field 2
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0 // it has ended
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return user + system
}

// checkInterrupted checks that a run ended by itself, with a failure, no
// result and no success, and a line about each of the roles, which are regular
// expressions in lines.
func checkInterrupted(r run, roles string) []string {
	var faults []string
	if r.status <= 0 {
		faults = append(faults, fmt.Sprintf("status %d, want a failure's", r.status))
	}
	if regexp.MustCompile(`(?m)^(Benchmark|PASS)`).MatchString(r.output) {
		faults = append(faults, "there is a result, or a success")
	}
	for want := range strings.SplitSeq(`--- FAIL: Benchmark\S+$`+"\n"+`\S+_test\.go:\d+: interrupted by a signal$`+"\n"+roles, "\n") {
		if !regexp.MustCompile(`(?m)^ *` + want).MatchString(r.output) {
			faults = append(faults, "there is no line like "+want)
		}
	}
	return faults
}

func TestCheckInterrupted(t *testing.T) {
	const text = `libzmq: 4.3.5
--- FAIL: BenchmarkLatency/transport=tcp/mech=null/size=100/layer=zmq4
    lat_test.go:67: interrupted by a signal
        replier: REP tcp://127.0.0.1:9, 7 sent, 7 received; replier: recv tcp://127.0.0.1:9: ended with the session (7 sent, 7 received)
--- FAIL: BenchmarkLatency
FAIL
`
	for _, c := range []struct {
		name, old, new string
		status, faults int
	}{
		{"good", "", "", 130, 0},
		{"killed", "", "", -1, 1},
		{"success", "", "", 0, 1},
		{"said to pass", "FAIL\n", "PASS\n", 1, 1},
		{"a result of the part", "FAIL\n", "BenchmarkLatency-2 \t 7\t 5 ns/op\n", 1, 1},
		{"no reason", "interrupted by a signal", "no message for 10s", 1, 1},
		{"no counts", "7 sent, 7 received; ", "", 1, 1},
		{"no endpoint", "REP tcp://127.0.0.1:9", "REP", 1, 1},
		{"nothing was measured", "7 sent, 7 received; ", "0 sent, 0 received; ", 1, 1},
	} {
		r := run{output: strings.Replace(text, c.old, c.new, 1), status: c.status}
		if faults := checkInterrupted(r, `replier: REP tcp://127\.0\.0\.1:\d+, [1-9]\d* sent, [1-9]\d* received; replier: recv `); len(faults) != c.faults {
			t.Errorf("%s: faults %q, want %d", c.name, faults, c.faults)
		}
	}
}
