package linkage

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Machine returns what there is to say of the machine, as lines of the form
// "kernel: 6.1.0-18-amd64" for the comments in the header of a run: Go
// version, kernel release, CPUs, GOMAXPROCS, frequency governor, and load
// average over 1, 5 and 15 minutes, which is at the time of the call. What
// cannot be found out is "unknown"; the lines are always the same ones.
func Machine() []string {
	return []string{
		fmt.Sprintf("go: %s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH),
		"kernel: " + oneLine("/proc/sys/kernel/osrelease"),
		fmt.Sprintf("cpus: %d × %s", runtime.NumCPU(), model(read("/proc/cpuinfo"))),
		fmt.Sprintf("gomaxprocs: %d", runtime.GOMAXPROCS(0)),
		"governor: " + governor("/sys/devices/system/cpu"),
		"load: " + load(read("/proc/loadavg")),
	}
}

// unknown stands where there is nothing to say.
const unknown = "unknown"

// read returns the content of a file, or nothing if it cannot be read. The
// files here are the kernel's; elsewhere than on Linux there are none.
func read(name string) string {
	content, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(content)
}

// oneLine returns the content of a file of one line.
func oneLine(name string) string {
	if line := strings.TrimSpace(read(name)); line != "" {
		return line
	}
	return unknown
}

// model returns the name of the first CPU in the text of /proc/cpuinfo. Not
// all architectures name it.
func model(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}

// governor returns the frequency governor of the CPUs under dir, such as
// "performance", or all of them if they differ. Virtual machines have none.
func governor(dir string) string {
	files, err := filepath.Glob(filepath.Join(dir, "cpu[0-9]*", "cpufreq", "scaling_governor"))
	if err != nil || len(files) == 0 {
		return unknown
	}
	var governors []string
	for _, file := range files {
		governors = append(governors, oneLine(file))
	}
	slices.Sort(governors)
	return strings.Join(slices.Compact(governors), ", ")
}

// load returns the three averages in the text of /proc/loadavg.
func load(loadavg string) string {
	if fields := strings.Fields(loadavg); len(fields) >= 3 {
		return strings.Join(fields[:3], " ")
	}
	return unknown
}
