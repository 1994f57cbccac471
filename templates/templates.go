// Package templates holds the pages' HTML and the files that they load.
package templates

import "embed"

// Pages are the html/template files: layout.html, fields.html, marks.html and tables.html are shared, every other file is one page.
//
//go:embed *.html
var Pages embed.FS

// Static are the style sheet, the script and the images, below static/.
//
//go:embed static
var Static embed.FS
