package manifest

import (
	"bytes"
	"slices"
)

// hunk says that lines [from, to) of an old file became other lines.
type hunk struct {
	from, to int
	lines    [][]byte
}

func (h hunk) same(other hunk) bool {
	return h.from == other.from && h.to == other.to && slices.EqualFunc(h.lines, other.lines, bytes.Equal)
}

// linesOf splits a file after each line feed, so that joining the lines gives the file again.
func linesOf(data []byte) [][]byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if n := len(lines); len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	return lines
}

// mostEdits bounds what comparing two files may cost. Files that differ in more lines are one hunk.
const mostEdits = 2000

// hunksBetween are the places in which two files differ, in order, none touching another.
func hunksBetween(old, new [][]byte) []hunk {
	start := 0
	for start < min(len(old), len(new)) && bytes.Equal(old[start], new[start]) {
		start++
	}
	endOld, endNew := len(old), len(new)
	for endOld > start && endNew > start && bytes.Equal(old[endOld-1], new[endNew-1]) {
		endOld, endNew = endOld-1, endNew-1
	}
	a, b := old[start:endOld], new[start:endNew]
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	same := commonLines(a, b)
	var hunks []hunk
	i, j := 0, 0
	for _, pair := range append(same, [2]int{len(a), len(b)}) {
		if pair[0] > i || pair[1] > j {
			hunks = append(hunks, hunk{from: start + i, to: start + pair[0], lines: b[j:pair[1]]})
		}
		i, j = pair[0]+1, pair[1]+1
	}
	return hunks
}

// commonLines are the pairs of lines that a shortest edit keeps, by Myers' algorithm; none when it would be longer than mostEdits.
func commonLines(a, b [][]byte) [][2]int {
	most := min(len(a)+len(b), mostEdits)
	reached := map[int]int{1: 0} // by diagonal, how far into a
	var trace []map[int]int
	for d := 0; d <= most; d++ {
		for k := -d; k <= d; k += 2 {
			x := reached[k-1] + 1
			if k == -d || k != d && reached[k-1] < reached[k+1] {
				x = reached[k+1]
			}
			for x < len(a) && x-k < len(b) && bytes.Equal(a[x], b[x-k]) {
				x++
			}
			reached[k] = x
			if x >= len(a) && x-k >= len(b) {
				return backtrack(trace, len(a), len(b))
			}
		}
		at := make(map[int]int, 2*d+1)
		for k := -d; k <= d; k += 2 {
			at[k] = reached[k]
		}
		trace = append(trace, at)
	}
	return nil
}

// backtrack walks from the end of both files to their start, and collects the lines that are in both.
func backtrack(trace []map[int]int, x, y int) [][2]int {
	var same [][2]int
	for d := len(trace); d > 0; d-- {
		before := trace[d-1]
		k := x - y
		left, hasLeft := before[k-1]
		right, hasRight := before[k+1]
		from, fromK := left, k-1
		begin := left + 1 // where the diagonal is entered
		if !hasLeft || hasRight && left < right {
			from, fromK, begin = right, k+1, right
		}
		for x > begin {
			x, y = x-1, y-1
			same = append(same, [2]int{x, y})
		}
		x, y = from, from-fromK
	}
	for x > 0 {
		x, y = x-1, y-1
		same = append(same, [2]int{x, y})
	}
	slices.Reverse(same)
	return same
}
