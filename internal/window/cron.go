package window

import (
	"fmt"
	"strings"
)

// field describes one of the five fields of a schedule.
type field struct {
	name     string
	low      int
	high     int      // greatest number that may be written
	greatest int      // where N/S ends: 6 in day of week, where 7 is only another name of 0
	names    []string // names[0] stands for the number low, or 0 in day of week
}

var (
	minuteField  = field{name: "minute", low: 0, high: 59, greatest: 59}
	hourField    = field{name: "hour", low: 0, high: 23, greatest: 23}
	dayField     = field{name: "day of month", low: 1, high: 31, greatest: 31}
	monthField   = field{name: "month", low: 1, high: 12, greatest: 12, names: strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")}
	weekdayField = field{name: "day of week", low: 0, high: 7, greatest: 6, names: strings.Fields("SUN MON TUE WED THU FRI SAT")}
)

// parseSchedule reads five cron fields. Forms that other programs know, such as
// @daily, CRON_TZ=, ?, L, W and #, are errors.
func parseSchedule(text string) (schedule, error) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(fields) != 5 {
		return schedule{}, fmt.Errorf("has %d fields, needs five: minute, hour, day of month, month, day of week", len(fields))
	}
	var s schedule
	for i, target := range []struct {
		field
		bits *uint64
	}{
		{minuteField, &s.minutes}, {hourField, &s.hours}, {dayField, &s.days}, {monthField, &s.months}, {weekdayField, &s.weekdays},
	} {
		bits, err := target.parse(fields[i])
		if err != nil {
			return schedule{}, fmt.Errorf("%s: %w", target.name, err)
		}
		*target.bits = bits
	}
	const sunday, alsoSunday = 1 << 0, 1 << 7
	if s.weekdays&alsoSunday != 0 {
		s.weekdays = s.weekdays&^alsoSunday | sunday
	}
	s.eitherDay = restricted(fields[2]) && restricted(fields[4])
	s.times = s.timesOfDay()
	return s, nil
}

func restricted(dayField string) bool { return !strings.HasPrefix(dayField, "*") }

func (f field) parse(text string) (uint64, error) {
	var bits uint64
	for item := range strings.SplitSeq(text, ",") {
		b, err := f.parseItem(item)
		if err != nil {
			return 0, err
		}
		bits |= b
	}
	return bits, nil
}

// parseItem reads one of *, N, N-M, */S, N-M/S and N/S.
func (f field) parseItem(item string) (uint64, error) {
	if item == "" {
		return 0, fmt.Errorf("an item of the list is empty")
	}
	values, stepText, stepped := strings.Cut(item, "/")
	step := 1
	if stepped {
		var ok bool
		if step, ok = parseNumber(stepText); !ok || step == 0 {
			return 0, fmt.Errorf("the step of %q must be a number over zero", item)
		}
	}
	low, high, err := f.parseRange(values, stepped)
	if err != nil {
		return 0, err
	}
	if low > high {
		return 0, fmt.Errorf("%q runs backwards", item)
	}
	return bitRange(low, high, step), nil
}

// parseRange reads the part of an item before its step.
func (f field) parseRange(text string, stepped bool) (low, high int, err error) {
	if text == "*" {
		return f.low, f.greatest, nil
	}
	first, last, isRange := strings.Cut(text, "-")
	if low, err = f.parseValue(first); err != nil {
		return 0, 0, err
	}
	switch {
	case isRange:
		if high, err = f.parseValue(last); err != nil {
			return 0, 0, err
		}
		// Only day of week lets a name stand for two numbers: FRI-SUN is 5-7.
		if strings.EqualFold(last, "SUN") && low > 0 {
			high = f.high
		}
		return low, high, nil
	case stepped:
		return low, f.greatest, nil
	}
	return low, low, nil
}

func (f field) parseValue(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.low + i, nil
		}
	}
	n, ok := parseNumber(text)
	if !ok {
		return 0, fmt.Errorf("%q is no value of this field", text)
	}
	if n < f.low || n > f.high {
		return 0, fmt.Errorf("%q is not within %d-%d", text, f.low, f.high)
	}
	return n, nil
}

// parseNumber reads decimal digits only: no sign, no blanks. Every number too
// great for any field comes back as the same great one.
func parseNumber(text string) (int, bool) {
	const tooGreat = 1000
	if text == "" {
		return 0, false
	}
	n := 0
	for _, r := range text {
		if r < '0' || r > '9' {
			return 0, false
		}
		n = min(n*10+int(r-'0'), tooGreat)
	}
	return n, true
}
