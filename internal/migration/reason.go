package migration

// rule is what a reason code means. lifted: a Down of the same file gives the text
// that is missing, and makes it reversible.
type rule struct {
	verdict    Verdict
	reversible Reversible
	lifted     bool
}

// rules by reason code. A code has one verdict only.
var rules = map[string]rule{
	"create-table":                     {Compatible, ReversibleYes, false},
	"create-temp-table":                {Compatible, ReversibleYes, false},
	"create-partition":                 {Compatible, ReversibleYes, false},
	"attach-new-partition":             {Compatible, ReversibleYes, false},
	"add-nullable-column":              {Compatible, ReversibleYes, false},
	"add-not-null-column-with-default": {Compatible, ReversibleYes, false},
	"add-generated-column":             {Compatible, ReversibleYes, false},
	"add-identity-column":              {Compatible, ReversibleYes, false},
	"add-identity-by-default":          {Compatible, ReversibleYes, false},
	"set-default":                      {Compatible, ReversibleUnknown, true},
	"type-widening":                    {Compatible, ReversibleUnknown, false},
	"create-index":                     {Compatible, ReversibleYes, false},
	"drop-index":                       {Compatible, ReversibleYes, false},
	"validate-constraint":              {Compatible, ReversibleYes, false},
	"create-view":                      {Compatible, ReversibleYes, false},
	"refresh-view":                     {Compatible, ReversibleYes, false},
	"create-type":                      {Compatible, ReversibleYes, false},
	"create-function":                  {Compatible, ReversibleYes, false},
	"create-sequence":                  {Compatible, ReversibleYes, false},
	"create-schema":                    {Compatible, ReversibleYes, false},
	"create-extension":                 {Compatible, ReversibleYes, false},
	"create-role":                      {Compatible, ReversibleYes, false},
	"grant":                            {Compatible, ReversibleYes, false},
	"default-privileges":               {Compatible, ReversibleYes, false},
	"comment":                          {Compatible, ReversibleYes, false},
	"session-setting":                  {Compatible, ReversibleYes, false},
	"transaction":                      {Compatible, ReversibleYes, false},
	"maintenance":                      {Compatible, ReversibleYes, false},
	"storage-option":                   {Compatible, ReversibleYes, false},
	"no-effect":                        {Compatible, ReversibleYes, false},
	"backfill-new-column":              {Compatible, ReversibleYes, false},
	"own-object":                       {Compatible, ReversibleYes, false},
	"references-existing-table":        {Unknown, ReversibleYes, false},
	"set-not-null":                     {Unknown, ReversibleYes, false},
	"drop-not-null":                    {Unknown, ReversibleUnknown, false},
	"type-widening-number":             {Unknown, ReversibleUnknown, false},
	"type-narrowing":                   {Unknown, ReversibleYes, false},
	"type-change-unknown-origin":       {Unknown, ReversibleUnknown, false},
	"add-generated-column-not-null":    {Unknown, ReversibleYes, false},
	"add-check-constraint":             {Unknown, ReversibleYes, false},
	"add-foreign-key":                  {Unknown, ReversibleYes, false},
	"add-unique-constraint":            {Unknown, ReversibleYes, false},
	"add-exclusion-constraint":         {Unknown, ReversibleYes, false},
	"drop-constraint":                  {Unknown, ReversibleUnknown, false},
	"rename-constraint":                {Unknown, ReversibleYes, false},
	"create-unique-index":              {Unknown, ReversibleYes, false},
	"drop-unique-index":                {Unknown, ReversibleUnknown, false},
	"drop-index-unknown-kind":          {Unknown, ReversibleUnknown, false},
	"drop-default":                     {Unknown, ReversibleUnknown, true},
	"set-identity-always":              {Unknown, ReversibleYes, false},
	"replace-view":                     {Unknown, ReversibleUnknown, true},
	"replace-function":                 {Unknown, ReversibleUnknown, true},
	"recreated-later":                  {Unknown, ReversibleUnknown, true},
	"rename-with-compat-view":          {Unknown, ReversibleYes, false},
	"enum-add-value":                   {Unknown, ReversibleUnknown, false},
	"create-trigger":                   {Unknown, ReversibleYes, false},
	"drop-trigger":                     {Unknown, ReversibleUnknown, true},
	"toggle-trigger":                   {Unknown, ReversibleYes, false},
	"create-rule":                      {Unknown, ReversibleYes, false},
	"enable-rls":                       {Unknown, ReversibleYes, false},
	"force-rls":                        {Unknown, ReversibleYes, false},
	"disable-rls":                      {Unknown, ReversibleYes, false},
	"create-policy":                    {Unknown, ReversibleYes, false},
	"drop-policy":                      {Unknown, ReversibleUnknown, true},
	"revoke":                           {Unknown, ReversibleYes, false},
	"change-owner":                     {Unknown, ReversibleUnknown, true},
	"alter-sequence":                   {Unknown, ReversibleUnknown, true},
	"attach-partition":                 {Unknown, ReversibleYes, false},
	"insert-data":                      {Unknown, ReversibleUnknown, true},
	"upsert-data":                      {Unknown, ReversibleNo, false},
	"update-data":                      {Unknown, ReversibleNo, false},
	"delete-data":                      {Unknown, ReversibleNo, false},
	"do-block":                         {Unknown, ReversibleUnknown, false},
	"opaque-call":                      {Unknown, ReversibleUnknown, false},
	"alter-extension":                  {Unknown, ReversibleUnknown, false},
	"server-setting":                   {Unknown, ReversibleUnknown, true},
	"unclassified":                     {Unknown, ReversibleUnknown, false},
	"unparsable":                       {Unknown, ReversibleUnknown, false},
	"add-not-null-column-no-default":   {Breaking, ReversibleYes, false},
	"add-unique-column-same-value":     {Breaking, ReversibleYes, false},
	"drop-column":                      {Breaking, ReversibleNo, false},
	"drop-table":                       {Breaking, ReversibleNo, false},
	"drop-schema":                      {Breaking, ReversibleNo, false},
	"drop-view":                        {Breaking, ReversibleUnknown, true},
	"drop-function":                    {Breaking, ReversibleUnknown, true},
	"drop-type":                        {Breaking, ReversibleUnknown, true},
	"drop-sequence":                    {Breaking, ReversibleNo, false},
	"drop-extension":                   {Breaking, ReversibleUnknown, true},
	"drop-cascade":                     {Breaking, ReversibleNo, false},
	"rename-column":                    {Breaking, ReversibleYes, false},
	"rename-table":                     {Breaking, ReversibleYes, false},
	"rename-object":                    {Breaking, ReversibleYes, false},
	"enum-rename-value":                {Breaking, ReversibleYes, false},
	"set-schema":                       {Breaking, ReversibleYes, false},
	"type-change":                      {Breaking, ReversibleUnknown, false},
	"drop-default-not-null":            {Breaking, ReversibleUnknown, true},
	"add-identity-always":              {Breaking, ReversibleYes, false},
	"drop-identity":                    {Breaking, ReversibleUnknown, false},
	"drop-generated-expression":        {Breaking, ReversibleUnknown, false},
	"detach-partition":                 {Breaking, ReversibleYes, false},
	"force-rls-no-policy":              {Breaking, ReversibleYes, false},
	"truncate":                         {Breaking, ReversibleNo, false},
	"delete-all-rows":                  {Breaking, ReversibleNo, false},
}

// ruling is what one action gets.
type ruling struct {
	reason    string
	tentative bool // IF NOT EXISTS, or a replacement: whether it made anything is not in the file

	// column, if set, is a column that the same set added to a table that existed.
	// refuses says whether this action left it so that inserts of the old version
	// fail, which is weighed at the end.
	column  *column
	refuses bool
}

func because(reason string) ruling { return ruling{reason: reason} }

func only(reason string) []ruling { return []ruling{because(reason)} }

// worst picks the ruling that weighs most: by verdict, then by reversible; the
// first of equals.
func worst(rulings ...ruling) ruling {
	picked := rulings[0]
	for _, r := range rulings[1:] {
		a, b := rules[picked.reason], rules[r.reason]
		if worseVerdict(a.verdict, b.verdict) != a.verdict ||
			a.verdict == b.verdict && worseReversible(a.reversible, b.reversible) != a.reversible {
			picked = r
		}
	}
	return picked
}
