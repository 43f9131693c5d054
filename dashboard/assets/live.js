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

// How old what the page shows may be: asOf is the instant at which the store last answered, and away why it does not answer;
// empty: it does.
let asOf = Date.now();
let away = "";
const oldAfter = 5000; // milliseconds after which a page that is not answered says so

function fresh() {
  asOf = Date.now();
  away = "";
  say("live", "good");
  showAge();
}

function ago(seconds) {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

// showAge says in large how old the page is, if the store does not answer, and greys its numbers. The line is announced
// once, and not each second.
function showAge() {
  const line = document.getElementById("away");
  const old = Date.now() - asOf;
  if (old > 30000) away ||= "the server does not answer"; // it also says when nothing has changed
  const shown = away !== "" && old > oldAfter;
  document.body.classList.toggle("away", shown);
  if (!shown) {
    if (!line.hidden) line.replaceChildren();
    line.hidden = true;
    return;
  }
  if (line.hidden) {
    const age = document.createElement("span");
    age.setAttribute("aria-hidden", "true");
    const why = document.createElement("span");
    why.className = "why";
    line.replaceChildren(`As of ${time(new Date(asOf))}`, age, why);
    line.hidden = false;
  }
  line.children[0].textContent = `, ${ago(Math.round(old / 1000))} ago`;
  if (line.children[1].textContent !== away) line.children[1].textContent = away;
}

function open() {
  if (stream || document.hidden) return;
  stream = new EventSource(location.href.replace(/#.*/, ""));
  stream.addEventListener("main", (e) => { replace(e.data); fresh(); });
  stream.addEventListener("fresh", fresh);
  stream.addEventListener("problem", (e) => { away = e.data; say("not live", "bad"); });
  stream.onerror = () => {
    away ||= "the server does not answer";
    if (stream.readyState !== EventSource.CLOSED) return; // the browser connects again
    close(); // also after an answer such as 500
    say("not live", "bad");
    setTimeout(open, 2000);
  };
}

// retry asks again for a page that could not be read, until it can be read.
async function retry() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.status < 500) return location.reload();
  } catch { /* the server does not answer either */ }
  setTimeout(retry, 2000);
}

// One menu is open at a time, until the viewer goes elsewhere.
for (const type of ["click", "focusin", "keydown"]) {
  document.addEventListener(type, (e) => {
    for (const menu of document.querySelectorAll("nav details[open]")) {
      if (type === "keydown" ? e.key !== "Escape" : menu.contains(e.target)) continue;
      if (type === "keydown") menu.querySelector("summary").focus();
      menu.open = false;
    }
  });
}

// The preview of a form follows what the viewer writes.
const edited = document.querySelector("form[data-preview]");
let previewing = 0;
edited?.addEventListener("input", () => {
  const mine = ++previewing;
  setTimeout(async () => {
    if (mine !== previewing) return;
    const body = new URLSearchParams(new FormData(edited));
    body.set("do", "preview");
    const answer = await fetch(edited.getAttribute("action"), { method: "POST", body }).catch(() => null);
    if (!answer || answer.status >= 500 || mine !== previewing) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    localise(fresh);
    for (const id of ["problem", "preview"]) document.getElementById(id).innerHTML = fresh.getElementById(id)?.innerHTML ?? "";
  }, 400);
});

// The key / leads to the search, unless the viewer types.
document.addEventListener("keydown", (e) => {
  if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, select, textarea")) return;
  e.preventDefault();
  const field = document.querySelector(".find input");
  field.focus();
  field.select();
});

// close ends the stream. Hidden pages have none, because browsers allow only a few
// connections to a server.
function close() {
  stream?.close();
  stream = null;
}

localise(document);
for (const p of document.querySelectorAll("pre.printing")) p.scrollTop = p.scrollHeight;
for (const field of document.querySelectorAll("[data-zone]")) field.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
document.getElementById("zone").textContent = `your zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
if (document.body.hasAttribute("data-live")) {
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
  open();
  setInterval(showAge, 1000);
}
if (document.body.hasAttribute("data-retry")) setTimeout(retry, 2000);
