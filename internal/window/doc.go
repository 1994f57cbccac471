// Package window says when changes may go out to a target: sync windows drawn
// on the wall clock of a time zone.
//
// A window starts at every minute its cron schedule names and lasts a fixed
// time. Both ends are reckoned on naive local time, as if the clock never
// changed, and only then become instants; so a window of 24h from midnight ends
// at the next midnight, also on a day of 23 or 25 hours. An instant is open if
// no deny window covers it and either there are no allow windows or one of them
// covers it.
//
// Everything here is a pure function of the windows and the instants given: no
// function reads the clock.
package window
