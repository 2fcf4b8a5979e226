// A service worker that only shows messages: phones have no other way. It handles no requests.

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.matchAll({ type: "window", includeUncontrolled: true }).then(([page]) => page?.focus() ?? self.clients.openWindow("/")));
});
