//go:build cgo

package cloop_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"zmqbench/internal/cloop"
	"zmqbench/internal/latency"
)

// edges are the durations at which something changes: both ends of every
// bucket and of the range, and what lies outside of it.
func edges() []int64 {
	list := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, math.MaxInt64}
	for e := range 63 {
		for m := range int64(2 << latency.SubBits) {
			if v := m << e; v>>e == m {
				list = append(list, v-1, v, v+1)
			}
		}
	}
	return append(list, latency.Limit-1, latency.Limit, latency.Limit+1)
}

func TestHistogramTwin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	durations := edges()
	for range 1_000_000 {
		durations = append(durations, int64(r.Uint64())>>r.IntN(64))
	}
	var inGo, inC latency.Histogram
	for _, ns := range durations {
		inGo.Record(ns)
	}
	cloop.Record(&inC, durations)
	if inGo.Under == 0 || inGo.Over == 0 || inGo.Max != math.MaxInt64 {
		t.Errorf("Under, Over, Max = %d, %d, %d: the durations do not reach everything", inGo.Under, inGo.Over, inGo.Max)
	}
	if inGo == inC {
		return
	}
	for _, ns := range durations {
		var inGo, inC latency.Histogram
		inGo.Record(ns)
		if cloop.Record(&inC, []int64{ns}); inGo != inC {
			t.Fatalf("Go and C count %d ns differently", ns)
		}
	}
	t.Fatalf("Go and C count %d durations differently, though each of them alike", len(durations))
}

// The C compiler's struct and the Go compiler's are one layout.
func TestHistogramLayout(t *testing.T) {
	inGo, inC := reflect.TypeFor[latency.Histogram](), reflect.TypeOf(cloop.Twin())
	if inC.Size() != unsafe.Sizeof(latency.Histogram{}) || inC.Align() != inGo.Align() || inC.NumField() != inGo.NumField() {
		t.Fatalf("size, alignment, fields in C = %d, %d, %d, in Go %d, %d, %d",
			inC.Size(), inC.Align(), inC.NumField(), inGo.Size(), inGo.Align(), inGo.NumField())
	}
	for i := range inGo.NumField() {
		g, c := inGo.Field(i), inC.Field(i)
		if !strings.EqualFold(g.Name, c.Name) || g.Offset != c.Offset || element(g.Type) != element(c.Type) {
			t.Errorf("field %d: C has %s %v at %d, Go has %s %v at %d", i, c.Name, c.Type, c.Offset, g.Name, g.Type, g.Offset)
		}
	}
}

// element is how many values of which kind a type is.
func element(t reflect.Type) (e struct {
	kind reflect.Kind
	n    int
}) {
	e.kind, e.n = t.Kind(), 1
	if t.Kind() == reflect.Array {
		e.kind, e.n = t.Elem().Kind(), t.Len()
	}
	return e
}
