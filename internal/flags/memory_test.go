package flags_test

import (
	"math"
	"strings"
	"testing"

	"zmqbench/internal/flags"
)

func TestCheckMemory(t *testing.T) {
	const big = math.MaxInt32
	for _, c := range []struct {
		hwm, size, count int
		want, reason     string
	}{
		{1000, 1, 0, "", "the defaults"},
		{1000, 0, 0, "", "empty messages"},
		{1000, 2147483, 0, "", "2000 messages just below 4 GiB"},
		{1000, 2147484, 0, "take 4.0 GiB, more than the limit of 4 GiB", "2000 messages just above"},
		{1000, 2147484, 1999, "", "fewer messages than the queues hold"},
		{1000, 2147484, 5000, "up to 2000 messages", "the queues hold fewer than are sent"},
		{1, big, 0, "", "Z25: two of the largest are 2 bytes below 4 GiB"},
		{2, big, 0, `-size: "2147483647" with -hwm 2: up to 4 messages in flight take 8.0 GiB, more than the limit of 4 GiB [use a smaller -size, or -hwm 1]`, "the whole text"},
		{2, big, 2, "", "two messages are all that are sent"},
		{big, 1, 0, "up to 4294967294 messages in flight take 256.0 GiB", "a small message takes 64 bytes"},
		{big, big, 0, "up to 4294967294 messages in flight take 8589934584.0 GiB", "no overflow"},
		{big, big, 1, "", "a single message"},
		{big, 64, 67108864, "", "4 GiB to the byte"},
		{big, 64, 67108865, "take 4.0 GiB", "one message more"},
		{big, 65, 66076419, "", "4 GiB less a rest"},
		{0, 1, 0, `-hwm: "0" sets no limit to the messages in flight, whose number is not known [give it, as in -benchtime=100000x]`, "no limit at all"},
		{0, 1, 100000, "", "the remedy of the line above holds"},
		{0, 1048576, 4096, "", "4 GiB to the byte"},
		{0, 1048576, 4097, "[use a smaller -size, or -hwm 2048]", "one message more"},
		{0, 0, big, "take 128.0 GiB", "empty messages take memory too"},
		{0, big, math.MaxInt, "more than the limit of 4 GiB", "no overflow"},
	} {
		err := flags.CheckMemory(c.size, c.count, c.hwm, 1, 0)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("-hwm %d: CheckMemory(%d, %d) = %v, want %q: %s", c.hwm, c.size, c.count, err, c.want, c.reason)
		}
	}
}

// Behind a proxy a message goes over two connections, and each has its queues.
func TestCheckMemoryPipes(t *testing.T) {
	if err := flags.CheckMemory(1<<20, 0, 1024, 2, 0); err != nil {
		t.Errorf("4096 messages of 1 MiB: %v, want no error", err)
	}
	err := flags.CheckMemory(1<<20, 0, 1025, 2, 0)
	if want := "up to 4100 messages in flight take 4.0 GiB, more than the limit of 4 GiB [use a smaller -size, or -hwm 1024]"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("4100 messages of 1 MiB: %v, want %q", err, want)
	}
	err = flags.CheckMemory(math.MaxInt32, 0, 1, 2, 0)
	if want := "more than the limit of 4 GiB [use a smaller -size]"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("no high-water mark is low enough: %v, want %q", err, want)
	}
	err = flags.CheckMemory(1<<20, 0, 1024, 2, 10)
	if want := "up to 4106 messages in flight take 4.0 GiB, more than the limit of 4 GiB [use a smaller -size, or -hwm 1021]"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("10 messages besides: %v, want %q", err, want)
	}
}
