// Package notification brings notifications to where the configuration says, by HTTP POST: signed JSON that an incoming webhook of
// a chat tool understands as well.
package notification

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// The headers of a delivery.
const (
	HeaderDelivery  = "X-Sluice-Delivery"      // the same whenever the same notification is delivered again
	HeaderKind      = "X-Sluice-Event"         // the notification's kind
	HeaderSignature = "X-Sluice-Signature-256" // sha256= and the hex HMAC of the body with the destination's secret
)

// Options say where to deliver. Both are read anew for each delivery.
type Options struct {
	URL    func() (string, error)
	Secret func() (string, error) // with which deliveries are signed; nil: they are not
}

// Destination implements promotion.Messenger.
type Destination struct {
	options Options
	client  *http.Client
}

var _ promotion.Messenger = (*Destination)(nil)

// timeout bounds one delivery.
const timeout = 10 * time.Second

// New returns a destination. It is not asked anything yet.
func New(o Options) *Destination {
	return &Destination{o, &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a POST that is led elsewhere has not arrived
	}}}
}

type body struct {
	Text        string    `json:"text"` // in Slack's notation
	Delivery    string    `json:"delivery"`
	Kind        string    `json:"kind"`
	At          time.Time `json:"at"`
	Message     string    `json:"message"`
	Object      string    `json:"object"`
	Application string    `json:"application,omitempty"`
	Environment string    `json:"environment,omitempty"`
	Promotion   int64     `json:"promotion,omitempty"`
	Actor       string    `json:"actor,omitempty"`
	URL         string    `json:"url"`
}

// Send posts a message. The error has neither the address, which may be a secret itself, nor what the receiver answered.
func (d *Destination) Send(ctx context.Context, m promotion.Message) error {
	request, err := d.request(ctx, m)
	if err != nil {
		return err
	}
	response, err := d.client.Do(request)
	if err != nil {
		return withoutAddress(err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing of it is needed
	_, _ = io.CopyN(io.Discard, response.Body, 4096)
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("it answered %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	return nil
}

func (d *Destination) request(ctx context.Context, m promotion.Message) (*http.Request, error) {
	address, err := d.options.URL()
	if err != nil {
		return nil, fmt.Errorf("read its address: %w", err)
	}
	content, err := json.Marshal(body{Text: text(m), Delivery: m.Delivery, Kind: string(m.Kind), At: m.At.UTC(), Message: m.Message, Object: m.Object,
		Application: m.Application, Environment: m.Environment, Promotion: m.PromotionID, Actor: m.Actor, URL: m.URL})
	if err != nil {
		return nil, fmt.Errorf("write the message: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(content))
	if err != nil || request.URL.Host == "" {
		return nil, errors.New("its address cannot be read: give one that begins with https://")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "sluice")
	request.Header.Set(HeaderDelivery, m.Delivery)
	request.Header.Set(HeaderKind, string(m.Kind))
	if d.options.Secret != nil {
		secret, err := d.options.Secret()
		if err != nil {
			return nil, fmt.Errorf("read its secret: %w", err)
		}
		if secret == "" {
			return nil, errors.New("its secret is empty: nothing is delivered unsigned")
		}
		request.Header.Set(HeaderSignature, Signature(secret, content))
	}
	return request, nil
}

// Signature is what HeaderSignature says of a body.
func Signature(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// slack keeps what people wrote from being read as mentions and links.
var slack = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func text(m promotion.Message) string {
	return fmt.Sprintf("[%s] %s\n%s", m.Kind, slack.Replace(m.Message), m.URL)
}

// withoutAddress is why a request failed, without where it went.
func withoutAddress(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		if failed.Timeout() {
			return fmt.Errorf("it did not answer within %s", timeout)
		}
		err = failed.Err
	}
	return fmt.Errorf("it cannot be reached: %w", err)
}
