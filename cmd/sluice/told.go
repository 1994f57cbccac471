package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func newNotificationsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "notifications", Short: "What people were told, and whether it has arrived"}
	cmd.AddCommand(newNotificationsListCommand(), newNotificationsRetryCommand())
	return cmd
}

func newNotificationsListCommand() *cobra.Command {
	var undelivered bool
	var limit int
	cmd := &cobra.Command{Use: "list", Short: "List what people were told, newest first, a line for each destination", Args: arguments(cobra.NoArgs)}
	cmd.Flags().BoolVar(&undelivered, "undelivered", false, "only what has not arrived somewhere")
	cmd.Flags().IntVar(&limit, "limit", 50, "most of them, up to 200")
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) (api.NotificationList, error) {
		if limit < 1 || limit > 200 {
			return api.NotificationList{}, wrongUse("--limit %d: give a number from 1 to 200", limit)
		}
		return c.Notifications(cmd.Context(), undelivered, limit)
	}, showNotifications)
}

func showNotifications(out io.Writer, list api.NotificationList) {
	row(out, "AT", "KIND", "WHAT", "DELIVERY", "TO", "ARRIVED", "PROBLEM")
	for _, n := range list.Items {
		if len(n.Deliveries) == 0 {
			row(out, stamp(n.At), string(n.Kind), n.Message, "", "nobody", "", "")
		}
		for _, d := range n.Deliveries {
			row(out, stamp(n.At), string(n.Kind), n.Message, d.ID, d.Destination, stamp(d.DeliveredAt), d.Problem)
		}
	}
}

// delivered is shown for a delivery that has arrived.
type delivered struct {
	Delivery string `json:"delivery"`
}

func newNotificationsRetryCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "retry DELIVERY", Short: "Try again to deliver a notification that has not arrived", Args: arguments(cobra.ExactArgs(1))}
	return newClientCommand(cmd, func(cmd *cobra.Command, c *client.Client, args []string) (delivered, error) {
		return delivered{args[0]}, c.RetryDelivery(cmd.Context(), args[0])
	}, func(out io.Writer, d delivered) { row(out, "delivery "+d.Delivery+" has arrived") })
}
