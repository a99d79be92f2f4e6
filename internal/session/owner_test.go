//go:build cgo && !race

package session

// slowdown is how many times fewer repeats a test makes under the race
// detector.
const slowdown = 1
