// Every page works without this. It brings in what has changed, and keeps relative times true.
"use strict";

const second = 1000;

function relative(then) {
  const ms = Date.now() - then;
  const d = Math.floor(Math.abs(ms) / second);
  const text = d < 60 ? d + " s" : d < 3600 ? Math.floor(d / 60) + " min"
    : d < 172800 ? Math.floor(d / 3600) + " h" : Math.floor(d / 86400) + " days";
  if (d < 1) return "now";
  return ms < 0 ? "in " + text : text + " ago";
}

function tellTime() {
  for (const t of document.querySelectorAll("time[datetime]")) {
    const text = relative(Date.parse(t.dateTime));
    if (t.textContent !== text) t.textContent = text;
  }
}

// bring changes the content to what it is now and leaves alone what is the same, so that
// focus, selection, scrolling, what is typed and a click under way survive.
function bring(live, html) {
  const now = document.createElement("template");
  now.innerHTML = html;
  const focused = live.contains(document.activeElement) ? document.activeElement : null;
  matchChildren(live, now.content);
  if (focused?.id && !focused.isConnected) document.getElementById(focused.id)?.focus({ preventScroll: true });
}

const sort = (node) => node.nodeName + (node.id || "");

// matchChildren pairs children from both ends by sort; what is left in between goes, or is new.
function matchChildren(from, to) {
  const a = [...from.childNodes], b = [...to.childNodes];
  const least = Math.min(a.length, b.length);
  let first = 0, last = 0;
  while (first < least && sort(a[first]) === sort(b[first])) first++;
  while (last < least - first && sort(a[a.length - 1 - last]) === sort(b[b.length - 1 - last])) last++;
  const rest = a[a.length - last] ?? null;
  for (const gone of a.slice(first, a.length - last)) gone.remove();
  for (const fresh of b.slice(first, b.length - last)) from.insertBefore(fresh, rest);
  for (let i = 0; i < first; i++) match(a[i], b[i]);
  for (let i = 1; i <= last; i++) match(a[a.length - i], b[b.length - i]);
}

function match(from, to) {
  if (from.isEqualNode(to) || (from.nodeName === "TIME" && from.dateTime === to.dateTime)) return;
  if (from.nodeType !== Node.ELEMENT_NODE) {
    from.nodeValue = to.nodeValue;
    return;
  }
  for (const { name } of [...from.attributes]) if (!to.hasAttribute(name) && name !== "open") from.removeAttribute(name); // what is unfolded stays so
  for (const { name, value } of to.attributes) if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  matchChildren(from, to);
}

function follow(live) {
  const stale = document.getElementById("stale");
  let asked = 0;
  const source = new EventSource(live.dataset.events);
  source.addEventListener("open", () => { stale.hidden = true; });
  source.addEventListener("error", () => { setTimeout(() => { stale.hidden = source.readyState === EventSource.OPEN; }, 5 * second); });
  source.addEventListener("changed", async () => {
    const mine = ++asked;
    try {
      const answer = await fetch(live.dataset.fragment, { redirect: "error" });
      if (!answer.ok) throw new Error(answer.statusText);
      const html = await answer.text();
      if (mine !== asked) return;
      bring(live, html);
      tellTime();
    } catch {
      stale.hidden = false;
    }
  });
}

// offerCopies shows the copy buttons, where the browser lets a page copy.
function offerCopies() {
  if (!navigator.clipboard) return;
  const said = document.createElement("p");
  said.className = "said";
  said.setAttribute("role", "status");
  document.body.append(said);
  document.documentElement.classList.add("can-copy");
  document.addEventListener("click", async (event) => {
    const text = event.target.closest("[data-copy]")?.dataset.copy;
    if (!text) return;
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "Copied " + text;
    } catch {
      said.textContent = "The browser did not let this be copied.";
    }
    setTimeout(() => { said.textContent = ""; }, 3 * second);
  });
}

offerCopies();
const live = document.getElementById("live");
if (live) follow(live);
setInterval(tellTime, second);

for (const field of document.querySelectorAll("select[data-choose]")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}

// The browser knows the zone of who looks.
for (const list of document.querySelectorAll("select[data-zones]")) {
  const mine = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (mine && ![...list.options].some((o) => o.value === mine)) list.add(new Option(mine, mine));
}
