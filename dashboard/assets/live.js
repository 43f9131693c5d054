// live.js: shows times in the viewer's zone, and keeps the page up to date.
"use strict";

const two = (n) => String(n).padStart(2, "0");
const date = (t) => `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())}`;
const time = (t) => `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}`;

// localise puts the times below an element into the viewer's zone. Their titles keep UTC.
function localise(root) {
  for (const e of root.querySelectorAll("time[datetime]")) {
    const t = new Date(e.dateTime);
    if (!isNaN(t)) e.textContent = `${date(t)} ${time(t)}`;
  }
  for (const e of root.querySelectorAll("text[data-time]")) {
    const t = new Date(e.dataset.time);
    if (isNaN(t)) continue;
    e.textContent = e.dataset.form === "date" ? t.toLocaleDateString("en", { month: "short", day: "numeric" }) : time(t).slice(0, e.textContent.length);
  }
}

// replace shows new versions of the parts of the page that have changed. A part in which
// the viewer types, or has chosen something, stays.
function replace(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  localise(fresh);
  for (const part of document.querySelectorAll("main [data-live][id]")) {
    const next = fresh.getElementById(part.id);
    if (!next || next.innerHTML === part.innerHTML) continue;
    const active = part.contains(document.activeElement) ? document.activeElement : null;
    if (active && active.matches("input, select, textarea") || part.querySelector("input:checked")) continue;
    const open = [...part.querySelectorAll("details")].map((d) => d.open);
    const followed = [...part.querySelectorAll("pre.printing")].map((p) => p.scrollTop + p.clientHeight >= p.scrollHeight - 4 ? Infinity : p.scrollTop);
    const scrolled = [...part.querySelectorAll(".scroll")].map((s) => s.scrollLeft);
    const place = active ? [...part.querySelectorAll("a, button, summary, [tabindex]")].indexOf(active) : -1;
    part.innerHTML = next.innerHTML;
    part.querySelectorAll("details").forEach((d, i) => { d.open = open[i] ?? d.open; });
    part.querySelectorAll("pre.printing").forEach((p, i) => { p.scrollTop = Math.min(followed[i] ?? Infinity, p.scrollHeight); });
    part.querySelectorAll(".scroll").forEach((s, i) => { s.scrollLeft = scrolled[i] ?? 0; });
    if (place >= 0) part.querySelectorAll("a, button, summary, [tabindex]")[place]?.focus({ preventScroll: true });
  }
}

let stream = null;

function say(text, state) {
  const live = document.getElementById("live");
  if (live.textContent !== text) live.textContent = text;
  live.className = state;
}

function open() {
  if (stream || document.hidden) return;
  stream = new EventSource(location.href.replace(/#.*/, ""));
  stream.addEventListener("main", (e) => { replace(e.data); say("live", "good"); });
  stream.addEventListener("problem", (e) => say(e.data, "bad"));
  stream.onopen = () => say("live", "good");
  stream.onerror = () => {
    if (stream.readyState !== EventSource.CLOSED) return; // the browser connects again
    close();
    say("not live", "bad");
    setTimeout(open, 10000);
  };
}

// close ends the stream. Hidden pages have none, because browsers allow only a few
// connections to a server.
function close() {
  stream?.close();
  stream = null;
}

localise(document);
for (const p of document.querySelectorAll("pre.printing")) p.scrollTop = p.scrollHeight;
document.getElementById("zone").textContent = `your zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
if (document.body.hasAttribute("data-live")) {
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
  open();
}
