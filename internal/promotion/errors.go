package promotion

import (
	"errors"
	"fmt"
)

// Kind says what sort of failure an Error is; the doors map it to a status.
type Kind string

// The kinds of errors.
const (
	Invalid         Kind = "invalid"
	Unauthenticated Kind = "unauthenticated"
	Forbidden       Kind = "forbidden"
	Absent          Kind = "not-found"
	Conflict        Kind = "conflict"
	Refused         Kind = "refused" // a gate says no; Gates has the results
)

// Error is a failure that the person or program who asked can act on.
type Error struct {
	Kind    Kind
	Code    string // stable, kebab-case
	Message string // what is wrong, where, and how to mend it
	Field   string // of the request, when one is to blame
	Gates   []GateResult
}

func (e *Error) Error() string { return e.Message }

func invalid(code, field, format string, args ...any) error {
	return &Error{Kind: Invalid, Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

func absent(code, format string, args ...any) error {
	return &Error{Kind: Absent, Code: code, Message: fmt.Sprintf(format, args...)}
}

// unknown turns the absence of what somebody named into a refusal.
func unknown(err error, code, format string, args ...any) error {
	if errors.Is(err, ErrNotFound) {
		return absent(code, format, args...)
	}
	return err
}

func conflict(code, format string, args ...any) error {
	return &Error{Kind: Conflict, Code: code, Message: fmt.Sprintf(format, args...)}
}

// inField says of a refusal which field of the request is to blame.
func inField(err error, field string) error {
	var refusal *Error
	if !errors.As(err, &refusal) {
		return err
	}
	at := *refusal
	at.Field = field
	return &at
}

// isRefusal tells a failure that somebody can act on from one of the machinery.
func isRefusal(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal)
}
