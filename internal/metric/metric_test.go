package metric_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"zmqbench/internal/metric"
)

// A recorder keeps what was reported; it stands in for *testing.B.
type recorder map[string]float64

func (r recorder) ReportMetric(n float64, unit string) { r[unit] = n }

func TestReport(t *testing.T) {
	got := recorder{}
	metric.Report(got, 2.5e6, metric.MsgPerSec)
	metric.Report(got, 0, metric.BytesPerKey)
	// What no comparison can use is left out (Z76).
	metric.Report(got, math.NaN(), metric.OneWayNs)
	metric.Report(got, math.Inf(1), metric.NsPerOp)
	metric.Report(got, math.Inf(-1), metric.MBPerSec)

	want := recorder{"msg/s": 2.5e6, "B/key": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reported metrics mismatch (-want +got):\n%s", diff)
	}
}

func TestReportUndeclared(t *testing.T) {
	for _, value := range []float64{1, math.NaN()} {
		got := recorder{}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Report(%v, Unit{}) did not panic", value)
				}
			}()
			metric.Report(got, value, metric.Unit{})
		}()
		if len(got) != 0 {
			t.Errorf("Report(%v, Unit{}) reported %v", value, got)
		}
	}
}
