package affinity_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"zmqbench/internal/affinity"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		cpus []int
		want string
	}{
		{nil, ""},
		{[]int{0}, "0"},
		{[]int{7}, "7"},
		{[]int{0, 1}, "0-1"},
		{[]int{0, 2}, "0,2"},
		{[]int{0, 1, 2, 3, 8, 10, 11}, "0-3,8,10-11"},
	} {
		if got := affinity.Text(c.cpus); got != c.want {
			t.Errorf("Text(%v) = %q, want %q", c.cpus, got, c.want)
		}
	}
}

// allowed returns what the calling thread may use, or skips the test where
// nobody can say.
func allowed(t *testing.T) []int {
	t.Helper()
	cpus, err := affinity.Allowed()
	if errors.Is(err, errors.ErrUnsupported) {
		if _, err := affinity.Pin(0); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("Pin: %v, want the same as Allowed", err)
		}
		t.Skip("no affinity on ", runtime.GOOS)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cpus
}

// masks lists the different sets of CPUs that threads of this process have.
func masks(t *testing.T) []string {
	t.Helper()
	threads, err := affinity.Threads()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, thread := range threads {
		list = append(list, thread.CPUs)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestPin pins a thread twice, one inside the other, looks at what the kernel
// says each time, and wants all threads back as they were.
func TestPin(t *testing.T) {
	cpus := allowed(t)
	before := masks(t)
	if want := []string{affinity.Text(cpus)}; !slices.Equal(before, want) {
		t.Skipf("threads have the CPUs %q, not all of them %q", before, want)
	}
	want := func(when string, want ...int) {
		t.Helper()
		if got, err := affinity.Allowed(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: Allowed() = %v, %v, want %v", when, got, err, want)
		}
	}
	first, last := cpus[0], cpus[len(cpus)-1]
	outer, err := affinity.Pin(first)
	if err != nil {
		t.Fatal(err)
	}
	want("pinned", first)
	if all := masks(t); first != last && (len(all) != 2 || !slices.Contains(all, affinity.Text([]int{first}))) {
		t.Errorf("threads have the CPUs %q, want that of the one and those of the others", all)
	}
	inner, err := affinity.Pin(last)
	if err != nil {
		t.Fatal(err)
	}
	want("pinned again", last)
	if err := inner(); err != nil {
		t.Error(err)
	}
	want("restored once", first)
	if err := outer(); err != nil {
		t.Error(err)
	}
	want("restored", cpus...)
	if after := masks(t); !slices.Equal(after, before) {
		t.Errorf("threads have the CPUs %q afterwards, want %q as before", after, before)
	}
}

// TestPinStartsNoPinnedThreads has the Go runtime start threads while its only
// running goroutine is pinned: they must not inherit it.
func TestPinStartsNoPinnedThreads(t *testing.T) {
	cpus := allowed(t)
	if len(cpus) < 2 {
		t.Skip("with one CPU a thread that inherits looks like one that does not")
	}
	restore, err := affinity.Pin(cpus[0])
	if err != nil {
		t.Fatal(err)
	}
	blocked, done := make(chan struct{}), make(chan struct{})
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	const readers = 8
	for range readers {
		go func() { // each takes a thread with it into the kernel
			blocked <- struct{}{}
			syscall.Read(pipe[0], make([]byte, 1))
			done <- struct{}{}
		}()
	}
	for range readers {
		<-blocked
	}
	threads, err := affinity.Threads()
	pinned := 0
	for _, thread := range threads {
		if thread.CPUs == affinity.Text(cpus[:1]) {
			pinned++
		}
	}
	if err != nil || pinned != 1 {
		t.Errorf("%d threads are pinned, %v, want one", pinned, err)
	}
	syscall.Write(pipe[1], make([]byte, readers))
	for range readers {
		<-done
	}
	syscall.Close(pipe[0])
	syscall.Close(pipe[1])
	if err := restore(); err != nil {
		t.Error(err)
	}
}

// TestPinRefused: a CPU that is not there is an error that names it, and the
// goroutine is as free as before.
func TestPinRefused(t *testing.T) {
	cpus := allowed(t)
	for _, cpu := range []int{affinity.Limit - 1, affinity.Limit, -1} {
		if slices.Contains(cpus, cpu) {
			continue
		}
		_, err := affinity.Pin(cpu)
		if err == nil || !strings.Contains(err.Error(), "cannot pin to CPU ") {
			t.Errorf("Pin(%d): %v, want an error", cpu, err)
		}
		if now, err := affinity.Allowed(); err != nil || !slices.Equal(now, cpus) {
			t.Errorf("after Pin(%d): allowed %v, %v, want %v", cpu, now, err, cpus)
		}
	}
}
