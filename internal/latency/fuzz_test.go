package latency_test

import (
	"encoding/binary"
	"testing"
)

// FuzzQuantile takes each eight bytes for a duration, of a magnitude that
// the low six bits choose.
func FuzzQuantile(f *testing.F) {
	var seed []byte
	for _, d := range ends {
		seed = binary.LittleEndian.AppendUint64(seed, uint64(d))
		f.Add(seed, uint16(500))
	}
	f.Add([]byte(nil), uint16(1000))
	f.Fuzz(func(t *testing.T, data []byte, mille uint16) {
		var durations []int64
		for ; len(data) >= 8; data = data[8:] {
			d := int64(binary.LittleEndian.Uint64(data))
			durations = append(durations, d, d>>(d&63))
		}
		check(t, durations, 0, int(mille)%1001, 1000)
	})
}
