package window

import (
	"time"
)

// schedule is a parsed cron schedule: a bit for every value of a field. It is
// evaluated on naive local time.
//
// github.com/robfig/cron is not used: it knows no 7 for Sunday, takes */2 in a
// day field for a restriction, accepts ? and +5 and empty list items, and gives
// up on days that do not come within five years.
type schedule struct {
	minutes, hours, days, months, weekdays uint64
	eitherDay                              bool // both day fields are restricted, so either may match
	times                                  []time.Duration
}

// matches says whether the schedule fires on the day.
func (s schedule) matches(day time.Time) bool {
	if s.months>>uint(day.Month())&1 == 0 {
		return false
	}
	monthday := s.days>>uint(day.Day())&1 == 1
	weekday := s.weekdays>>uint(day.Weekday())&1 == 1
	if s.eitherDay {
		return monthday || weekday
	}
	return monthday && weekday
}

// fires says whether the schedule names a day that ever comes. Within the 400
// years after which the calendar repeats, every date, 29 February included,
// falls on each day of the week; so only a date that no month has never comes.
func (s schedule) fires() bool {
	if s.eitherDay {
		return true
	}
	const leapYear = 2024
	for month := time.January; month <= time.December; month++ {
		last := time.Date(leapYear, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
		if s.months>>uint(month)&1 == 1 && s.days&bitRange(1, last, 1) != 0 {
			return true
		}
	}
	return false
}

// gapless says whether occurrences of the duration follow each other without
// end: the schedule fires every day, and never later than the one before ends.
func (s schedule) gapless(lasts time.Duration) bool {
	everyDay := s.months == bitRange(1, 12, 1) && !s.eitherDay &&
		s.days == bitRange(1, 31, 1) && s.weekdays == bitRange(0, 6, 1)
	if !everyDay || len(s.times) == 0 {
		return false
	}
	before := s.times[len(s.times)-1] - 24*time.Hour
	for _, at := range s.times {
		if at-before > lasts {
			return false
		}
		before = at
	}
	return true
}

// timesOfDay lists the minutes of a day at which the schedule fires, in order.
func (s schedule) timesOfDay() []time.Duration {
	var times []time.Duration
	for hour := range 24 {
		for minute := range 60 {
			if s.hours>>uint(hour)&1 == 1 && s.minutes>>uint(minute)&1 == 1 {
				times = append(times, time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute)
			}
		}
	}
	return times
}

// bitRange sets every step-th bit from low to high, both included.
func bitRange(low, high, step int) uint64 {
	var bits uint64
	for value := low; value <= high; value += step {
		bits |= 1 << uint(value)
	}
	return bits
}
