package metric

// Jain returns the fairness index of Jain, Chiu and Hawe (DEC-TR-301, 1984) of
// what each of several got: the square of the sum, by their number times the sum
// of the squares. It is 1 if all got the same, and 1/n if one of n got
// everything. ok is false, and there is no index, if nobody got anything.
func Jain(counts []int64) (index float64, ok bool) {
	var sum, squares float64
	for _, n := range counts {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	if squares == 0 {
		return 0, false
	}
	return sum * sum / (float64(len(counts)) * squares), true
}
