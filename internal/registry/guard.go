package registry

import (
	"fmt"
	"net"
	"net/http"
)

// guard refuses plain HTTP to hosts that were not named for it. By itself
// go-containerregistry falls back to it for every private address, credentials included.
type guard struct {
	next      http.RoundTripper
	plainHTTP map[string]bool
}

func (g *guard) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "https" && !isLoopback(request.URL.Hostname()) && !g.plainHTTP[request.URL.Host] {
		return nil, fmt.Errorf("%s does not speak TLS, and is not listed as a registry to be asked in clear text", request.URL.Host)
	}
	return g.next.RoundTrip(request)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
