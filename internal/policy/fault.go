package policy

// The codes of the faults that policy files can have, besides those of package window.
const (
	NotAFile         = "not-a-file"        // a symbolic link, a folder, or sluice.yml
	TooLarge         = "too-large"         // over MaxSize
	NotYAML          = "not-yaml"          // cannot be read at all
	SeveralDocuments = "several-documents" // only one would be read
	NotPlain         = "not-plain"         // an anchor's alias or an explicit tag
	UnknownVersion   = "unknown-version"   // version is not 1
	UnknownKey       = "unknown-key"       // no such setting here
	DuplicateKey     = "duplicate-key"     // the same key twice
	WrongType        = "wrong-type"        // a number where a text belongs, or the like
	BadValue         = "bad-value"         // of the right type, but none of the values it can have
	BadDuration      = "bad-duration"      // cannot be read, or is negative
	LooserThanRoot   = "looser-than-root"  // an application's file loosens what the root does not let it
	SameApplication  = "same-application"  // two roots have an application of this name
	UnexpectedFile   = "unexpected-file"   // stands where no policy file is read
)

// MaxSize is the greatest size of a policy file in bytes.
const MaxSize = 1 << 20
