package flags

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

const (
	minWait = 10 * time.Millisecond
	maxWait = time.Hour
)

// parseWait takes the text of a time.Duration that holds it exactly:
// time.ParseDuration itself cuts what is finer than a nanosecond.
func parseWait(f *Flags, text string) error {
	if text != "" && strings.Trim(text, "0123456789.") == "" {
		return fmt.Errorf("%q has no unit [write seconds as 10s, milliseconds as 100ms]", text)
	}
	wait, err := time.ParseDuration(text)
	if err != nil || strings.ContainsAny(text, "+-") {
		return fmt.Errorf("%q is not a duration from %v to %v [write a number and a unit, as in 500ms, 10s or 1m30s]", text, minWait, maxWait)
	}
	if nanoseconds(text).Cmp(new(big.Rat).SetInt64(int64(wait))) != 0 {
		return fmt.Errorf("%q would be rounded to %v [write no fraction of a nanosecond]", text, wait)
	}
	if wait < minWait || wait > maxWait {
		return fmt.Errorf("%q is not within %v and %v [use a duration from %v to %v]", text, minWait, maxWait, minWait, maxWait)
	}
	f.Wait = wait
	return nil
}

// nanoseconds returns exactly what text says. The text must be without a sign
// and have passed time.ParseDuration, so that it is numbers, each followed by
// its unit.
func nanoseconds(text string) *big.Rat {
	total := new(big.Rat)
	for text != "" {
		unit := strings.TrimLeft(text, "0123456789.")
		digits := text[:len(text)-len(unit)]
		text = strings.TrimLeft(unit, "nuµμsmh")
		unit = unit[:len(unit)-len(text)]

		one, _ := time.ParseDuration("1" + unit)
		n, _ := new(big.Rat).SetString(digits)
		total.Add(total, n.Mul(n, new(big.Rat).SetInt64(int64(one))))
	}
	return total
}
